package message

import (
	"fmt"
	"strings"
)

// missingResult stands in for the result of a tool call that none was recorded
// for: the process ended while the tool ran.
const missingResult = "No result was recorded: the agent stopped before this tool call was finished. It may have taken effect."

// ForModel turns a conversation as it is listed into one that a model service
// accepts, of roles user, assistant and toolResult only:
//
//   - what others than the user said (bash commands, extensions, summaries)
//     becomes user messages, except what is marked to stay out;
//   - answers that failed, were aborted or say nothing are left out, with the
//     results of their tool calls;
//   - every tool call is followed directly by its result, which is made up as
//     an error where there is none; results without a call are left out;
//   - messages of unknown roles are left out.
//
// The list is not changed; the result shares its messages.
func ForModel(list []Message) []Message {
	results := pairResults(list)
	out := make([]Message, 0, len(list))
	for i, m := range list {
		switch m := m.(type) {
		case *Assistant:
			if !usable(m) {
				continue
			}
			out = append(out, m)
			for n, call := range m.ToolCalls() {
				out = append(out, results.of(i, n, call, m.Timestamp))
			}
		case *ToolResult, *Opaque:
			// Results were put behind their calls.
		default:
			if said := asUser(m); said != nil {
				out = append(out, said)
			}
		}
	}
	return out
}

// usable says whether an answer is worth telling the model of: it ended well
// and has text or tool calls.
func usable(m *Assistant) bool {
	if m.StopReason == StopError || m.StopReason == StopAborted {
		return false
	}
	for _, b := range m.Content {
		switch b.Type {
		case BlockThinking:
		case BlockText:
			if strings.TrimSpace(b.Text) != "" {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// toolResults finds the result of the nth call of the message at an index.
type toolResults map[callKey]*ToolResult

type callKey struct{ message, call int }

// pairResults gives each tool call its result. Some services number their
// calls anew in every answer, so a result belongs to the last call of its id
// that came before it and has no result yet.
func pairResults(list []Message) toolResults {
	results := toolResults{}
	open := map[string][]callKey{}
	for i, m := range list {
		switch m := m.(type) {
		case *Assistant:
			fresh := map[string][]callKey{}
			for n, call := range m.ToolCalls() {
				fresh[call.ID] = append(fresh[call.ID], callKey{i, n})
			}
			for id, calls := range fresh {
				open[id] = calls
			}
		case *ToolResult:
			if calls := open[m.ToolCallID]; len(calls) > 0 {
				results[calls[0]] = m
				open[m.ToolCallID] = calls[1:]
			}
		}
	}
	return results
}

func (r toolResults) of(message, n int, call Block, at int64) *ToolResult {
	if result, ok := r[callKey{message, n}]; ok {
		return result
	}
	return &ToolResult{
		ToolCallID: call.ID,
		ToolName:   call.Name,
		Content:    []Block{TextBlock(missingResult)},
		IsError:    true,
		Timestamp:  at,
	}
}

// asUser gives what the model is told in the user's place; nil: nothing.
func asUser(m Message) *User {
	switch m := m.(type) {
	case *User:
		return m
	case *BashExecution:
		if m.ExcludeFromContext {
			return nil
		}
		return NewUser(bashText(m), nil, m.Timestamp)
	case *Custom:
		return &User{Content: BlockContent(m.Content.Blocks()), Timestamp: m.Timestamp}
	case *BranchSummary:
		return summaryAsUser("Before coming back to this point, the conversation went another way. This is what happened there:", m.Summary, m.Timestamp)
	case *CompactionSummary:
		return summaryAsUser("The earlier part of this conversation was replaced by this summary:", m.Summary, m.Timestamp)
	}
	return nil
}

func summaryAsUser(lead, summary string, at int64) *User {
	return NewUser(lead+"\n\n<summary>\n"+summary+"\n</summary>", nil, at)
}

// bashText tells of a command that the user ran. Its first lines have the shape
// that clients and prompts of the reference agents know.
func bashText(m *BashExecution) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Ran `%s`\n", m.Command)
	if m.Output == "" {
		b.WriteString("(no output)")
	} else {
		fmt.Fprintf(&b, "```\n%s\n```", m.Output)
	}
	switch {
	case m.Cancelled:
		b.WriteString("\n\n(cancelled before it ended)")
	case m.ExitCode != nil && *m.ExitCode != 0:
		fmt.Fprintf(&b, "\n\nExit code %d", *m.ExitCode)
	}
	if m.Truncated && m.FullOutputPath != "" {
		fmt.Fprintf(&b, "\n\n[Only the end of the output is shown. All of it is in %s]", m.FullOutputPath)
	}
	return b.String()
}
