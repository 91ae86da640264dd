package replay

import "fmt"

// mergeLines joins what a busy machine may cut differently: the deltas of one
// content block, the output of one bash command (at the place of its first
// piece, also over other lines), and the updates of one tool call, of which
// the last stays, just before the call's end.
func mergeLines(lines []Line) []Line {
	m := merger{updates: map[string]*Line{}, ended: map[string]bool{}, bash: map[string]int{}, deltas: map[string]int{}}
	for i, l := range lines {
		if l.Kind != Out {
			continue
		}
		switch id := text(l.Value, "toolCallId"); text(l.Value, "type") {
		case "tool_execution_update":
			m.updates[id] = &lines[i]
		case "tool_execution_end":
			m.ended[id] = true
		}
	}
	for i := range lines {
		m.line(&lines[i])
	}
	return m.out
}

type merger struct {
	out     []Line
	updates map[string]*Line // the last update of each call
	ended   map[string]bool  // calls that have an end
	bash    map[string]int   // where each running bash command's output is in out
	deltas  map[string]int   // where each open block's delta is in out
}

func (m *merger) line(l *Line) {
	v, ok := l.Value.(object)
	if l.Kind != Out || !ok {
		m.out = append(m.out, *l)
		return
	}
	id := text(v, "toolCallId")
	switch text(v, "type") {
	case "tool_execution_update":
		if m.ended[id] || m.updates[id] != l {
			return
		}
	case "tool_execution_end":
		if last := m.updates[id]; last != nil {
			m.out = append(m.out, *last)
			m.updates[id] = nil
		}
	case "bash_execution_update":
		if m.join(m.bash, string(encode(v["id"])), v, "delta") {
			return
		}
	case "response":
		if text(v, "command") == "bash" {
			delete(m.bash, string(encode(v["id"])))
		}
	case "message_start", "message_end":
		clear(m.deltas)
	case "message_update":
		kind := text(v, "assistantMessageEvent", "type")
		if _, isDelta := member(v, "assistantMessageEvent", "delta").(string); isDelta {
			block := fmt.Sprint(kind, member(v, "assistantMessageEvent", "contentIndex"))
			if m.join(m.deltas, block, v, "assistantMessageEvent", "delta") {
				return
			}
		}
	}
	m.out = append(m.out, *l)
}

// join appends the text that path leads to in v to the line that places has
// for the key, if there is one; otherwise v will be that line.
func (m *merger) join(places map[string]int, key string, v object, path ...string) bool {
	at, ok := places[key]
	if !ok {
		places[key] = len(m.out)
		return false
	}
	before := m.out[at].Value.(object)
	joined := text(before, path...) + text(v, path...)
	if len(path) == 1 {
		m.out[at].Value = with(before, path[0], joined)
		return true
	}
	inner := with(before[path[0]].(object), path[1], joined)
	m.out[at].Value = with(before, path[0], inner)
	return true
}
