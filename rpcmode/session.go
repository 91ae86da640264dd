package rpcmode

import (
	"context"
	"errors"
	"time"

	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

var sessionRows = []row{
	{name: "new_session", origin: both, handler: waits(newSession),
		doc: "Begins an empty session with the model and level of this one. Extensions may cancel."},
	{name: "switch_session", origin: both, handler: waits(switchSession),
		doc: "Opens a session file. What cannot be opened is an error, and this session stays. Extensions may cancel."},
	{name: "fork", aliases: []string{"branch"}, origin: both, handler: waits(fork),
		doc: "Makes a session of what came before a user message, and goes there. Extensions may cancel."},
	{name: "clone", origin: piOnly, handler: waits(clone),
		doc: "Makes a session of the path to the current leaf, and goes there. Extensions may cancel."},
	{name: "get_fork_messages", aliases: []string{"get_branch_messages"}, origin: both, handler: answers(getForkMessages),
		doc: "Lists the user messages that fork can begin before."},
	{name: "set_session_name", origin: both, handler: answers(setSessionName),
		doc: "Names the session."},
	{name: "export_html", origin: both, handler: waits(exportHTML),
		doc: "Writes the session to one self-contained HTML file."},
	{name: "list_sessions", origin: added, handler: waits(listSessions),
		doc: "Lists session files, last changed first."},
}

func newSession(ctx context.Context, s *server, p wire.NewSession) func() (wire.Cancelled, error) {
	return cancelled(s.session.NewSession(ctx, p.ParentSession))
}

func switchSession(ctx context.Context, s *server, p wire.SwitchSession) func() (wire.Cancelled, error) {
	return cancelled(s.session.SwitchSession(ctx, p.SessionPath))
}

func clone(ctx context.Context, s *server, _ wire.Empty) func() (wire.Cancelled, error) {
	return cancelled(s.session.Clone(ctx))
}

func cancelled(wait func() (session.Changed, error)) func() (wire.Cancelled, error) {
	return func() (wire.Cancelled, error) {
		changed, err := wait()
		return wire.Cancelled{Cancelled: changed.Cancelled}, err
	}
}

func fork(ctx context.Context, s *server, p wire.Fork) func() (wire.Forked, error) {
	wait := s.session.Fork(ctx, p.EntryID, "before")
	return func() (wire.Forked, error) {
		changed, err := wait()
		return wire.Forked{Text: changed.Text, Cancelled: changed.Cancelled}, err
	}
}

func getForkMessages(_ context.Context, s *server, _ wire.Empty) (wire.ForkMessages, error) {
	data := wire.ForkMessages{Messages: []wire.ForkMessage{}}
	for _, m := range s.session.ForkMessages() {
		data.Messages = append(data.Messages, wire.ForkMessage(m))
	}
	return data, nil
}

func setSessionName(ctx context.Context, s *server, p wire.SetSessionName) (wire.None, error) {
	return none, s.session.SetName(ctx, p.Name)
}

func exportHTML(ctx context.Context, s *server, p wire.ExportHTML) func() (wire.Path, error) {
	return func() (wire.Path, error) {
		if s.options.ExportHTML == nil {
			return wire.Path{}, errors.New("this program cannot export sessions")
		}
		path, err := s.options.ExportHTML(ctx, p.OutputPath)
		return wire.Path{Path: path}, err
	}
}

func listSessions(ctx context.Context, s *server, p wire.ListSessions) func() (wire.Sessions, error) {
	return func() (wire.Sessions, error) {
		if s.options.ListSessions == nil {
			return wire.Sessions{}, errors.New("no folder of sessions is known here")
		}
		list, err := s.options.ListSessions(ctx, p.Scope == "all")
		data := wire.Sessions{Sessions: []wire.SessionInfo{}}
		for _, each := range list {
			data.Sessions = append(data.Sessions, sessionInfo(each))
		}
		return data, err
	}
}

func sessionInfo(summary store.Summary) wire.SessionInfo {
	info := wire.SessionInfo{
		Path: summary.Path, ID: summary.ID, Name: summary.Name, Cwd: summary.Cwd,
		Modified:     summary.Modified.UTC().Format(time.RFC3339Nano),
		MessageCount: summary.Messages, FirstMessage: summary.FirstMessage, ParentSession: summary.ParentSession,
	}
	if !summary.Created.IsZero() {
		info.Created = summary.Created.UTC().Format(time.RFC3339Nano)
	}
	return info
}
