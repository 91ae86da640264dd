package message_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
)

// short writes a conversation in one line per message, for comparing.
func short(list []message.Message) string {
	var lines []string
	for _, m := range list {
		line := string(m.Role())
		switch m := m.(type) {
		case *message.Assistant:
			line += " " + message.TextOf(m)
			for _, call := range m.ToolCalls() {
				line += " call:" + call.ID
			}
		case *message.ToolResult:
			line += fmt.Sprintf(" %s %v %s", m.ToolCallID, m.IsError, message.TextOf(m))
		default:
			line += " " + message.TextOf(m)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func user(text string) message.Message { return message.NewUser(text, nil, 1) }

func answer(stop message.StopReason, content ...message.Block) message.Message {
	return &message.Assistant{Content: content, StopReason: stop, Timestamp: 2}
}

func text(s string) message.Block { return message.TextBlock(s) }

func call(id string) message.Block {
	return message.Block{Type: message.BlockToolCall, ID: id, Name: "bash"}
}

func thought(s string) message.Block {
	return message.Block{Type: message.BlockThinking, Thinking: s}
}

func result(id, text string) message.Message {
	return &message.ToolResult{ToolCallID: id, ToolName: "bash", Content: []message.Block{message.TextBlock(text)}}
}

func TestForModelConversations(t *testing.T) {
	const lost = " true No result was recorded: the agent stopped before this tool call was finished. It may have taken effect."
	cases := []struct {
		name string
		in   []message.Message
		want string
	}{
		{"empty", nil, ""},
		{"plain turn", []message.Message{user("q"), answer("stop", text("a"))}, "user q\nassistant a"},
		{"failed and aborted answers", []message.Message{
			user("q"), answer("error", text("half")), answer("aborted", text("part")), answer("stop", text("a")),
		}, "user q\nassistant a"},
		{"a cut answer is still an answer", []message.Message{user("q"), answer("length", text("a"))}, "user q\nassistant a"},
		{"answers that say nothing", []message.Message{
			user("q"), answer("stop"), answer("stop", text(" \n")), answer("length", thought("hm")),
		}, "user q"},
		{"thinking beside text stays", []message.Message{answer("stop", thought("hm"), text("a"))}, "assistant a"},
		{"tool turn", []message.Message{
			user("q"), answer("toolUse", call("1"), call("2")), result("1", "one"), result("2", "two"), answer("stop", text("a")),
		}, "user q\nassistant  call:1 call:2\ntoolResult 1 false one\ntoolResult 2 false two\nassistant a"},
		{"results in another order, with a message between", []message.Message{
			answer("toolUse", call("1"), call("2")), result("2", "two"), user("steer"), result("1", "one"),
		}, "assistant  call:1 call:2\ntoolResult 1 false one\ntoolResult 2 false two\nuser steer"},
		{"a result that was never recorded", []message.Message{
			answer("toolUse", call("1"), call("2")), result("2", "two"), user("go on"),
		}, "assistant  call:1 call:2\ntoolResult 1" + lost + "\ntoolResult 2 false two\nuser go on"},
		{"results of a call that is left out", []message.Message{
			answer("error", call("1")), result("1", "one"), user("q"),
		}, "user q"},
		{"a result without any call", []message.Message{result("9", "nine"), user("q")}, "user q"},
		{"ids used again in the next answer", []message.Message{
			answer("toolUse", call("1")), result("1", "first"), answer("toolUse", call("1")), result("1", "second"),
		}, "assistant  call:1\ntoolResult 1 false first\nassistant  call:1\ntoolResult 1 false second"},
		{"a result of the same id after a call that failed", []message.Message{
			answer("toolUse", call("1")), answer("aborted", call("1")), result("1", "late"),
		}, "assistant  call:1\ntoolResult 1" + lost},
		{"one id twice in one answer", []message.Message{
			answer("toolUse", call("1"), call("1")), result("1", "first"), result("1", "second"),
		}, "assistant  call:1 call:1\ntoolResult 1 false first\ntoolResult 1 false second"},
		{"a second result of one call", []message.Message{
			answer("toolUse", call("1")), result("1", "first"), result("1", "again"),
		}, "assistant  call:1\ntoolResult 1 false first"},
		{"unknown roles", []message.Message{&message.Opaque{Name: "system", Raw: []byte(`{"role":"system"}`)}, user("q")}, "user q"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := short(message.ForModel(c.in)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestForModelUserMessages(t *testing.T) {
	code := func(n int) *int { return &n }
	cases := []struct {
		name string
		in   message.Message
		want string
	}{
		{"bash", &message.BashExecution{Command: "ls", Output: "a\nb\n", ExitCode: code(0)}, "Ran `ls`\n```\na\nb\n\n```"},
		{"bash without output", &message.BashExecution{Command: "true", ExitCode: code(0)}, "Ran `true`\n(no output)"},
		{"bash that failed", &message.BashExecution{Command: "false", ExitCode: code(2)}, "Ran `false`\n(no output)\n\nExit code 2"},
		{"bash that was cancelled", &message.BashExecution{Command: "sleep 9", Output: "x", Cancelled: true}, "Ran `sleep 9`\n```\nx\n```\n\n(cancelled before it ended)"},
		{"bash with much output", &message.BashExecution{Command: "seq 9", Output: "9", ExitCode: code(0), Truncated: true, FullOutputPath: "/t/o.log"},
			"Ran `seq 9`\n```\n9\n```\n\n[Only the end of the output is shown. All of it is in /t/o.log]"},
		{"custom", &message.Custom{CustomType: "note", Content: message.PlainContent("a note")}, "a note"},
		{"branch summary", &message.BranchSummary{Summary: "S"}, "Before coming back to this point, the conversation went another way. This is what happened there:\n\n<summary>\nS\n</summary>"},
		{"compaction summary", &message.CompactionSummary{Summary: "S"}, "The earlier part of this conversation was replaced by this summary:\n\n<summary>\nS\n</summary>"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out := message.ForModel([]message.Message{c.in})
			if len(out) != 1 || out[0].Role() != message.RoleUser {
				t.Fatalf("got %v, want one user message", out)
			}
			if got := message.TextOf(out[0]); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
	hidden := &message.BashExecution{Command: "env", Output: "x", ExcludeFromContext: true}
	if out := message.ForModel([]message.Message{hidden}); len(out) != 0 {
		t.Errorf("a command that is kept out of the context was sent: %v", out)
	}
}

func TestForModelKeepsImagesOfCustomMessages(t *testing.T) {
	image := message.ImageBlock("aGk=", "image/png")
	out := message.ForModel([]message.Message{&message.Custom{Content: message.BlockContent([]message.Block{text("see"), image})}})
	blocks := out[0].(*message.User).Content.Blocks()
	if len(blocks) != 2 || blocks[1].Data != "aGk=" {
		t.Errorf("got %+v, want text and image", blocks)
	}
}
