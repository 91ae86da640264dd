package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Compare returns the differences between a recording and what an agent did,
// one sentence each. Members that only the agent has are none, nor is how far an
// aborted answer had come, which of several tool calls ended first, nor where a response falls between events, but for
// those that inOrder names.
func Compare(recorded, got *Transcript) []string {
	recorded, got = withoutChance(recorded), withoutChance(got)
	c := &comparison{there: map[string]string{}, back: map[string]string{}}
	c.responses(split(recorded.Lines, isResponse), split(got.Lines, isResponse))
	c.events(split(recorded.Lines, inOrder(recorded.Lines)), split(got.Lines, inOrder(got.Lines)))
	c.same("waits not met", list(split(recorded.Lines, isTimeout)), list(split(got.Lines, isTimeout)))
	c.same("exit", recorded.Exit, got.Exit)
	if recorded.Exit != integer(0) && recorded.Stderr != "" && got.Stderr == "" {
		c.add("stderr: empty, though the agent failed")
	}
	c.same("work", recorded.Work, got.Work)
	for _, name := range slices.Sorted(maps.Keys(got.Work)) {
		if _, ok := recorded.Work[name]; !ok {
			c.add("work: an extra file %s", name)
		}
	}
	c.same("sessions", recorded.Sessions, got.Sessions)
	c.same("requests", recorded.Requests, got.Requests)
	return c.differences
}

func isResponse(l Line) bool { return l.Kind == Out && text(l.Value, "type") == "response" }

// inOrder picks the lines whose order matters: events, and of the responses
// that to a prompt, which comes before the first event of its run, and that to
// an abort, which comes after the last. A prompt that begins with a slash may
// be a command, which has no run of its own.
func inOrder(lines []Line) func(Line) bool {
	commands := map[any]bool{}
	for _, l := range lines {
		if l.Kind == In && text(l.Value, "type") == "prompt" && strings.HasPrefix(text(l.Value, "message"), "/") {
			commands[text(l.Value, "id")] = true
		}
	}
	return func(l Line) bool {
		if !isResponse(l) {
			return l.Kind == Out || l.Kind == Exited
		}
		switch text(l.Value, "command") {
		case "prompt":
			return !commands[text(l.Value, "id")]
		case "abort":
			return true
		}
		return false
	}
}

func isTimeout(l Line) bool { return l.Kind == Timeout }

func split(lines []Line, keep func(Line) bool) []Line {
	var out []Line
	for _, l := range lines {
		if keep(l) {
			out = append(out, l)
		}
	}
	return out
}

func list(lines []Line) []any {
	var out []any
	for _, l := range lines {
		out = append(out, l.Value)
	}
	return out
}

// comparison pairs the ids of both sides as it meets them.
type comparison struct {
	there, back map[string]string
	differences []string
}

func (c *comparison) add(format string, args ...any) {
	c.differences = append(c.differences, fmt.Sprintf(format, args...))
}

// responses compares answers by the id of their command; those without id by
// the command's name. Several with one id are taken in order.
func (c *comparison) responses(a, b []Line) {
	byKey := map[string][]any{}
	for _, l := range b {
		byKey[responseKey(l.Value)] = append(byKey[responseKey(l.Value)], l.Value)
	}
	for _, l := range a {
		key := responseKey(l.Value)
		if len(byKey[key]) == 0 {
			c.add("response %s: missing, was %s", key, brief(l.Value))
			continue
		}
		c.same("response "+key, l.Value, byKey[key][0])
		byKey[key] = byKey[key][1:]
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		for _, v := range byKey[key] {
			c.add("response %s: extra %s", key, brief(v))
		}
	}
}

func responseKey(v any) string {
	if id, ok := v.(object)["id"]; ok {
		return string(encode(id))
	}
	return "without id to " + text(v, "command")
}

// events compares the order of events, and those that are in order.
func (c *comparison) events(a, b []Line) {
	for _, r := range align(len(a), len(b), func(i, j int) bool { return tag(a[i]) == tag(b[j]) }) {
		if !r.equal {
			c.add("events from %d on: expected %s, got %s", r.a1, few(tags(a[r.a1:r.a2])), few(tags(b[r.b1:r.b2])))
			continue
		}
		for i := range r.a2 - r.a1 {
			if isResponse(a[r.a1+i]) {
				continue // responses has compared it
			}
			x, y := a[r.a1+i].Value, b[r.b1+i].Value
			c.same(fmt.Sprintf("event %d (%s)", r.a1+i, tag(a[r.a1+i])), x, y)
		}
	}
}

func few(tags []string) string {
	if len(tags) == 0 {
		return "none"
	}
	if len(tags) > 6 {
		tags = append(slices.Clone(tags[:6]), "…")
	}
	return strings.Join(tags, " ")
}

func tags(lines []Line) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = tag(l)
	}
	return out
}

// tag says what kind of event a line is.
func tag(l Line) string {
	v, ok := l.Value.(object)
	if l.Kind == Exited {
		return "(exited)"
	}
	if !ok {
		return "(no object)"
	}
	t := text(v, "type")
	switch t {
	case "message_update":
		return t + ":" + text(v, "assistantMessageEvent", "type")
	case "message_start", "message_end":
		return t + ":" + text(v, "message", "role")
	case "extension_ui_request":
		return t + ":" + text(v, "method")
	case "response":
		if text(v, "command") == "abort" {
			return "response to abort" // of several, any may be the first
		}
		return t + ":" + responseKey(v)
	}
	return t
}

// matchMember makes an object of an overlay stand for every string that its
// value matches as a regular expression, where more than one is right.
const matchMember = "$match"

// same compares two values; members that only b has are no difference.
func (c *comparison) same(where string, a, b any) {
	switch a := a.(type) {
	case object:
		if expression, ok := a[matchMember].(string); ok {
			if b, ok := b.(string); ok && regexp.MustCompile(expression).MatchString(b) {
				return
			}
			break
		}
		if b, ok := b.(object); ok {
			c.sameMembers(where, a, b)
			return
		}
	case []any:
		if b, ok := b.([]any); ok {
			c.sameItems(where, a, b)
			return
		}
	case json.Number:
		if b, ok := b.(json.Number); ok && sameNumber(a, b) {
			return
		}
	case string:
		if b, ok := b.(string); ok && c.sameText(a, b) {
			return
		}
	default:
		if a == b {
			return
		}
	}
	c.add("%s: expected %s, got %s", where, brief(a), brief(b))
}

func (c *comparison) sameMembers(where string, a, b object) {
	for _, k := range memberOrder(a) {
		v, ok := b[k]
		if !ok {
			c.add("%s.%s: missing, was %s", where, k, brief(a[k]))
			continue
		}
		x := a[k]
		if k == "arguments" {
			x, v = decodedText(x), decodedText(v)
		}
		c.same(where+"."+k, x, v)
	}
}

// decodedText is the value that a text holds as JSON, or else v itself: some
// services have a call's arguments as a text, whose blanks mean nothing.
func decodedText(v any) any {
	if s, ok := v.(string); ok {
		if inner, err := decode([]byte(s)); err == nil {
			return inner
		}
	}
	return v
}

func (c *comparison) sameItems(where string, a, b []any) {
	if len(a) != len(b) {
		c.add("%s: expected %d items, got %d", where, len(a), len(b))
	}
	for i := range min(len(a), len(b)) {
		c.same(fmt.Sprintf("%s[%d]", where, i), a[i], b[i])
	}
}

var idName = regexp.MustCompile(`<[eutq]\d+>`)

// sameText compares two texts, in which ids may have other names, as long as
// each has one partner.
func (c *comparison) sameText(a, b string) bool {
	if idName.ReplaceAllString(a, "<>") != idName.ReplaceAllString(b, "<>") {
		return false
	}
	x, y := idName.FindAllString(a, -1), idName.FindAllString(b, -1)
	for i := range x {
		if x[i][1] != y[i][1] {
			return false
		}
		there, known := c.there[x[i]]
		back, knownBack := c.back[y[i]]
		if known && there != y[i] || knownBack && back != x[i] {
			return false
		}
		c.there[x[i]], c.back[y[i]] = y[i], x[i]
	}
	return true
}
