package rpcmode

import (
	"context"

	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

var stateRows = []row{
	{name: "get_state", origin: both, patience: soon, handler: answers(getState),
		doc: "Tells how the session is. It never waits for anything that runs."},
	{name: "get_messages", origin: both, handler: answers(getMessages),
		doc: "Lists the messages of the conversation, as they are after compaction."},
	{name: "get_last_assistant_text", origin: both, handler: answers(getLastAssistantText),
		doc: "Gives the text of the last answer."},
	{name: "get_session_stats", origin: both, handler: answers(getSessionStats),
		doc: "Sums up messages, tokens and cost of the whole session, all branches included."},
}

func getState(_ context.Context, s *server, _ wire.Empty) (wire.State, error) {
	// In this order: a prompt goes from the one to the other.
	deciding := s.deciding.Load() > 0
	state := wireState(s.session.State())
	state.IsStreaming = state.IsStreaming || deciding
	state.TodoPhases = s.session.Todos().Phases()
	return state, nil
}

func wireState(state session.State) wire.State {
	return wire.State{
		Model: state.Model, ThinkingLevel: state.ThinkingLevel,
		IsStreaming: state.IsStreaming, IsCompacting: state.IsCompacting,
		SteeringMode: string(state.SteeringMode), FollowUpMode: string(state.FollowUpMode), InterruptMode: string(state.InterruptMode),
		SessionFile: state.SessionFile, SessionID: state.SessionID, SessionName: state.SessionName,
		AutoCompactionEnabled: state.AutoCompactionEnabled, MessageCount: state.MessageCount,
		PendingMessageCount: state.PendingMessageCount, QueuedMessageCount: state.PendingMessageCount,
		Diagnostics: state.Diagnostics,
	}
}

func getMessages(_ context.Context, s *server, _ wire.Empty) (*wire.Messages, error) {
	return &wire.Messages{Messages: s.session.Messages()}, nil
}

func getLastAssistantText(_ context.Context, s *server, _ wire.Empty) (wire.LastText, error) {
	return wire.LastText{Text: s.session.LastAssistantText()}, nil
}

func getSessionStats(_ context.Context, s *server, _ wire.Empty) (wire.Stats, error) {
	return wireStats(s.session.Stats()), nil
}

func wireStats(stats session.Stats) wire.Stats {
	return wire.Stats{
		SessionFile: stats.SessionFile, SessionID: stats.SessionID,
		UserMessages: stats.UserMessages, AssistantMessages: stats.AssistantMessages,
		ToolCalls: stats.ToolCalls, ToolResults: stats.ToolResults, TotalMessages: stats.TotalMessages,
		Tokens: wire.Tokens(stats.Tokens), Cost: stats.Cost, ContextUsage: contextUsage(stats.ContextUsage),
	}
}

func contextUsage(u *session.ContextUsage) *wire.ContextUsage {
	if u == nil {
		return nil
	}
	usage := wire.ContextUsage(*u)
	return &usage
}
