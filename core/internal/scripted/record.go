package scripted

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
)

// Recorder writes down events. The zero value is ready; its methods may be
// called from any goroutine.
type Recorder struct {
	mu      sync.Mutex
	events  []event.Event
	lines   []string
	changed chan struct{} // closed with the next event; nil: nobody waits
}

// Record takes an event.
func (r *Recorder) Record(e event.Event) {
	line := Line(e)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	r.lines = append(r.lines, line)
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// Note takes a line that is no event, to see where among them it belongs.
func (r *Recorder) Note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, nil)
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// Lines gives the lines so far, without those that begin with one of the
// words.
func (r *Recorder) Lines(without ...string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.lines), func(line string) bool {
		return slices.ContainsFunc(without, func(word string) bool { return strings.HasPrefix(line, word) })
	})
}

// Events gives the events so far.
func (r *Recorder) Events() []event.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.events), func(e event.Event) bool { return e == nil })
}

// Count says how many lines begin with a prefix.
func (r *Recorder) Count(prefix string) int {
	n := 0
	for _, line := range r.Lines() {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

// Await returns when n lines begin with a prefix, or never.
func (r *Recorder) Await(prefix string, n int) {
	for {
		r.mu.Lock()
		if r.changed == nil {
			r.changed = make(chan struct{})
		}
		changed := r.changed
		r.mu.Unlock()
		if r.Count(prefix) >= n {
			return
		}
		<-changed
	}
}

// Reset forgets everything.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events, r.lines = nil, nil
}

// Line writes an event in one line: its kind, and what tells it from others.
func Line(e event.Event) string {
	if rest := detail(e); rest != "" {
		return string(e.Kind()) + " " + rest
	}
	return string(e.Kind())
}

func detail(e event.Event) string {
	switch e := e.(type) {
	case *event.AgentEnd:
		return fmt.Sprintf("%d%s", len(e.Messages), when(e.WillRetry, " retry"))
	case *event.AgentSettled:
		return when(e.Aborted, "aborted")
	case *event.TurnStart:
		return ""
	case *event.ResourcesDiscover:
		return e.Reason
	case *event.TurnEnd:
		return fmt.Sprintf("%d", len(e.ToolResults))
	case *event.MessageStart:
		return Message(e.Message)
	case *event.MessageEnd:
		return Message(e.Message)
	case *event.MessageUpdate:
		return string(e.Update.Type) + text(e.Update.Delta) + text(e.Update.Content)
	case *event.ToolExecutionStart:
		return e.ToolCallID + " " + e.ToolName + " " + string(e.Args)
	case *event.ToolExecutionUpdate:
		return e.ToolCallID + " " + string(e.PartialResult)
	case *event.ToolExecutionEnd:
		return e.ToolCallID + when(e.IsError, " error")
	case *event.QueueUpdate:
		return fmt.Sprint(e.Steering, e.FollowUp)
	case *event.CompactionStart:
		return string(e.Reason)
	case *event.CompactionEnd:
		return string(e.Reason) + when(e.Result != nil, " done") + when(e.Aborted, " aborted") + when(e.WillRetry, " retry") + when(e.ErrorMessage != "", ": "+e.ErrorMessage)
	case *event.AutoRetryStart:
		return fmt.Sprintf("%d/%d %dms", e.Attempt, e.MaxAttempts, e.DelayMS)
	case *event.AutoRetryEnd:
		return fmt.Sprintf("%d %v%s", e.Attempt, e.Success, when(e.FinalError != "", ": "+e.FinalError))
	default:
		return other(e)
	}
}

// other is for events that have no form of their own in a line: that of rules
// by their names, all others as JSON.
func other(e event.Event) string {
	if triggered, ok := e.(*event.RulesTriggered); ok {
		names := make([]string, len(triggered.Rules))
		for i, r := range triggered.Rules {
			names[i] = r.Name
		}
		return strings.Join(names, " ")
	}
	data, err := message.Marshal(e)
	if err != nil {
		return err.Error()
	}
	if string(data) == "{}" {
		return ""
	}
	return string(data)
}

// Message writes a message in one line: its role, how it ended, its text.
func Message(m message.Message) string {
	line := string(m.Role())
	switch m := m.(type) {
	case *message.Assistant:
		line += " " + string(m.StopReason)
		for _, call := range m.ToolCalls() {
			line += " " + call.ID
		}
		line += when(m.ErrorMessage != "", " ("+m.ErrorMessage+")")
	case *message.ToolResult:
		line += " " + m.ToolCallID + when(m.IsError, " error")
	}
	if said := message.TextOf(m); said != "" {
		line += ": " + said
	}
	return line
}

// Messages writes a conversation, a line a message.
func Messages(list []message.Message) []string {
	lines := make([]string, len(list))
	for i, m := range list {
		lines[i] = Message(m)
	}
	return lines
}

func when(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return " " + *s
}
