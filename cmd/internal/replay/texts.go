package replay

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Sentences that an agent words for itself are replaced by <text>, on both
// sides of a comparison: errors, the notices of tools, summaries, and what is
// sent to the model around the conversation. Three things stay: sentences that
// are fixed because clients or documents name them, texts that the scenario
// itself provides (say, the reason that an extension gives), and within a
// worded text what the scenario or the model marked.

const masked = "<text>"

// fixedTexts are the sentences that an agent may not word for itself, each
// with what stays of it; $0 is all.
var fixedTexts = []struct {
	sentence *regexp.Regexp
	stays    string
}{
	{regexp.MustCompile(`^Unknown command: .*$`), "$0"},
	{regexp.MustCompile(`^Model not found: .*$`), "$0"},
	{regexp.MustCompile(`^Session name cannot be empty$`), "$0"},
	{regexp.MustCompile(`^Entry not found: .*$`), "$0"},
	{regexp.MustCompile(`(?s)^(Failed to parse command: ).*$`), "${1}" + masked},
	{regexp.MustCompile(`(?s)^.*streamingBehavior.*$`), masked + " streamingBehavior"},
}

// marked is what a worded text must still contain.
var marked = regexp.MustCompile(`MARK[^\n<]*|SUMMARY: mock summary\.`)

// wordedMembers hold a sentence of the agent's, wherever they are.
var wordedMembers = set("error", "errorMessage", "finalError", "summary")

// masker knows what the scenario provides and how each tool call ended.
type masker struct {
	given  string // the scenario as it is written
	spoken string // all that the lines of the conversation hold, once masked
	tools  map[string]string
	failed map[string]bool
}

// maskTexts expects a transcript in normal form.
func maskTexts(t *Transcript, sc *Scenario) *Transcript {
	m := &masker{given: scenarioTexts(sc), tools: map[string]string{}, failed: map[string]bool{}}
	for _, l := range t.Lines {
		walk(l.Value, "", m.learn)
	}
	out := &Transcript{Exit: t.Exit, Work: t.Work, Sessions: m.value(t.Sessions).([]any)}
	var spoken strings.Builder
	for _, l := range t.Lines {
		if l.Kind == Out {
			l.Value = m.value(l.Value)
		}
		out.Lines = append(out.Lines, l)
		walk(l.Value, "", func(_ string, v any) {
			if s, ok := v.(string); ok {
				spoken.WriteString(s + "\x00")
			}
		})
	}
	m.spoken = spoken.String()
	for _, r := range t.Requests {
		out.Requests = append(out.Requests, m.request(r))
	}
	if t.Stderr != "" {
		out.Stderr = masked
	}
	return out
}

// scenarioTexts joins every string of the scenario, and its whole source.
func scenarioTexts(sc *Scenario) string {
	var b strings.Builder
	walk(mustDecode(sc.source), "", func(_ string, v any) {
		if s, ok := v.(string); ok {
			b.WriteString(s + "\x00")
		}
	})
	return b.String()
}

// learn notes what is known of tool calls.
func (m *masker) learn(_ string, v any) {
	id := text(v, "toolCallId")
	if id == "" || text(v, "toolName") == "" {
		return
	}
	m.tools[id] = text(v, "toolName")
	if failed, ok := member(v, "isError").(bool); ok {
		m.failed[id] = failed
	}
}

func (m *masker) value(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = m.value(item)
		}
		return out
	case object:
		out := make(object, len(v))
		id := text(v, "toolCallId")
		for k, item := range v {
			switch s, isText := item.(string); {
			case isText && wordedMembers[k]:
				out[k] = m.sentence(s)
			case id != "" && (k == "result" || k == "partialResult"):
				out[k] = m.result(id, item)
			case id != "" && k == "content":
				out[k] = m.blocks(id, item)
			default:
				out[k] = m.value(item)
			}
		}
		return out
	case string:
		return m.spokenByModel(v)
	}
	return v
}

// sentence masks a sentence of the agent's.
func (m *masker) sentence(s string) string {
	for _, fixed := range fixedTexts {
		if fixed.sentence.MatchString(s) {
			return fixed.sentence.ReplaceAllString(s, fixed.stays)
		}
	}
	if m.provided(s) {
		return s
	}
	out := masked
	for _, mark := range marked.FindAllString(s, -1) {
		out += " " + mark
	}
	return out
}

func (m *masker) provided(s string) bool {
	s = strings.TrimSpace(s)
	return s == "" || strings.HasPrefix(s, masked) || strings.Contains(m.given, s)
}

// spokenByModel masks what the scripted model repeats of a tool's text or of
// the request.
func (m *masker) spokenByModel(s string) string {
	if said, ok := strings.CutPrefix(s, "tool said: "); ok && !m.provided(said) {
		return "tool said: " + masked
	}
	if isConversation(s) {
		return "[{" + masked + "}]"
	}
	return s
}

// isConversation reports whether a text is the JSON of a request's messages.
func isConversation(s string) bool {
	var messages []struct{ Role string }
	return strings.HasPrefix(s, "[") && json.Unmarshal([]byte(s), &messages) == nil && len(messages) > 0 && messages[0].Role != ""
}

func (m *masker) result(id string, v any) any {
	r, ok := v.(object)
	if !ok {
		return m.value(v)
	}
	out := make(object, len(r))
	for k, item := range r {
		if k == "content" {
			out[k] = m.blocks(id, item)
			continue
		}
		out[k] = m.value(item)
	}
	return out
}

// blocks masks the texts of a tool's result.
func (m *masker) blocks(id string, v any) any {
	list, ok := v.([]any)
	if !ok {
		return m.value(v)
	}
	hasImage := slices.ContainsFunc(list, func(b any) bool { return text(b, "type") == "image" })
	out := make([]any, len(list))
	for i, b := range list {
		s, isText := member(b, "text").(string)
		switch {
		case !isText:
			out[i] = m.value(b)
		case hasImage && m.tools[id] == "read":
			out[i] = with(b.(object), "text", masked)
		default:
			out[i] = with(b.(object), "text", m.toolText(id, s))
		}
	}
	return out
}

var (
	// A notice is in brackets at the end.
	notice = regexp.MustCompile(`(\n\n)?\[[^\]\n]*\]\s*$`)
	// A line that was too long ends in a notice of its own.
	lineNotice = regexp.MustCompile(`(?m)[ .…]*\[[^\]\n]*\]$`)
	grepLine   = regexp.MustCompile(`^[^:\n]+[:-]\d+[:-] `)
)

// toolText masks what a tool adds to the output that it gives.
func (m *masker) toolText(id, s string) string {
	if m.failed[id] {
		return m.sentence(s)
	}
	if m.provided(s) {
		return s
	}
	if m.tools[id] == "grep" {
		s = lineNotice.ReplaceAllString(s, "")
	}
	s = strings.TrimSuffix(notice.ReplaceAllString(s, ""), "\n\n")
	switch m.tools[id] {
	case "write", "edit":
		return masked
	case "bash":
		if strings.HasPrefix(s, "(") && !strings.Contains(s, "\n") {
			return masked // no output
		}
	case "grep":
		if !grepLine.MatchString(s) {
			return masked // nothing found
		}
	case "find", "ls":
		if strings.Contains(s, " ") && !strings.Contains(s, "\n") {
			return masked // nothing found, nothing there
		}
	}
	return s
}

// request masks what the agent put around the conversation: every text that
// is neither in the scenario nor on any line.
func (m *masker) request(r any) any {
	o, ok := r.(object)
	if !ok {
		return r
	}
	return with(o, "messages", m.sent("", o["messages"]))
}

// sent masks the texts of messages as a service has them. call is the id of
// the tool call that v belongs to, or "".
func (m *masker) sent(call string, v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = m.sent(call, item)
		}
		return out
	case object:
		for _, k := range []string{"tool_use_id", "tool_call_id"} {
			if id := text(v, k); id != "" {
				call = id
			}
		}
		out := make(object, len(v))
		for k, item := range v {
			out[k] = item
			switch k {
			case "content", "text", "output":
				out[k] = m.sent(call, item)
			}
		}
		return out
	case string:
		if call != "" {
			v = m.toolText(call, v)
		}
		return m.conversational(m.spokenByModel(v))
	}
	return v
}

// conversational masks a text that did not come from the conversation.
func (m *masker) conversational(s string) string {
	if m.provided(s) || strings.Contains(m.spoken, s) {
		return s
	}
	if ran := fencedOutput.FindString(s); ran != "" {
		if ran == s {
			return s
		}
		return ran + masked
	}
	return m.sentence(s)
}

// fencedOutput is what the model is told of the bash command: the command and
// its output have a fixed shape, what is said of how it ended has not.
var fencedOutput = regexp.MustCompile("(?s)^(Ran `.*?`\n(?:```\n.*\n```)?)")
