package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Propose returns edits that make a recording what an agent did, for a person
// to judge: those that are meant go into an overlay, with the difference that
// is the reason; the others are faults of the agent.
func Propose(recorded, got *Transcript) []Edit {
	p := &proposal{there: map[string]string{}, back: map[string]string{}}
	recorded, got = withoutProgress(recorded), withoutProgress(got)
	a, b := recorded.values(), got.values()
	mine, theirs := said(a), said(b)
	same := func(i, j int) bool { return lineKind(a[mine[i]]) == lineKind(b[theirs[j]]) }
	runs := align(len(mine), len(theirs), same)
	for _, r := range runs {
		for i := r.a1; r.equal && i < r.a2; i++ {
			p.pair(a[mine[i]], b[theirs[r.b1+i-r.a1]])
		}
	}
	var out []Edit
	for _, r := range runs {
		if !r.equal {
			out = append(out, p.replace(a, mine, r, pick(b, theirs[r.b1:r.b2]))...)
			continue
		}
		for i := r.a1; i < r.a2; i++ {
			if patch := p.patch("", a[mine[i]], b[theirs[r.b1+i-r.a1]]); len(patch) > 0 {
				out = append(out, p.edit(a, mine[i], func(e *Edit) { e.Patch = encode(patch) }))
			}
		}
	}
	return out
}

// said are the places of the lines that are not the client's own.
func said(lines []object) []int {
	var out []int
	for i, l := range lines {
		if _, isInput := l[string(In)]; !isInput {
			out = append(out, i)
		}
	}
	return out
}

func pick(lines []object, places []int) []object {
	var out []object
	for _, i := range places {
		out = append(out, lines[i])
	}
	return out
}

// proposal knows which ids of both sides stand for the same.
type proposal struct {
	there, back map[string]string
	added       int
}

// pair learns ids from what is alike on both sides.
func (p *proposal) pair(a, b any) {
	switch x := a.(type) {
	case object:
		if y, ok := b.(object); ok {
			for _, k := range memberOrder(x) {
				p.pair(x[k], y[k])
			}
		}
	case []any:
		y, ok := b.([]any)
		if !ok {
			return
		}
		for _, r := range alignItems(x, y) {
			for i := r.a1; r.equal && i < r.a2; i++ {
				p.pair(x[i], y[r.b1+i-r.a1])
			}
		}
	case string:
		if y, ok := b.(string); ok {
			p.pairText(x, y)
		}
	}
}

func (p *proposal) pairText(a, b string) {
	x, y := idName.FindAllString(a, -1), idName.FindAllString(b, -1)
	if len(x) != len(y) {
		return
	}
	for i := range x {
		_, known := p.there[x[i]]
		_, knownBack := p.back[y[i]]
		if !known && !knownBack && x[i][1] == y[i][1] {
			p.there[x[i]], p.back[y[i]] = y[i], x[i]
		}
	}
}

func alignItems(a, b []any) []run {
	return align(len(a), len(b), func(i, j int) bool { return alike(a[i], b[j]) })
}

// lineKind is what two lines must have in common to be versions of one line.
func lineKind(v object) string {
	if value, ok := v[string(Out)]; ok {
		return tag(Line{Out, value})
	}
	if value, ok := v[string(Timeout)]; ok {
		return string(encode(value))
	}
	return memberOrder(v)[0]
}

// replace takes out the lines of a run and puts others in.
func (p *proposal) replace(a []object, places []int, r run, lines []object) []Edit {
	var added []json.RawMessage
	for _, v := range lines {
		added = append(added, encode(p.renamed(v)))
	}
	if r.a1 == r.a2 {
		// After the last line before; there is one, or before the first.
		if r.a1 == 0 {
			return []Edit{p.edit(a, places[0], func(e *Edit) { e.Before = added })}
		}
		return []Edit{p.edit(a, places[r.a1-1], func(e *Edit) { e.After = added })}
	}
	var out []Edit
	next := -1 // the line behind the last one deleted
	for _, place := range places[r.a1:r.a2] {
		if place == next {
			out[len(out)-1].Count++
		} else {
			out = append(out, p.edit(a, place, func(e *Edit) { e.Delete = true }))
		}
		next = place + 1
	}
	out[len(out)-1].After = added
	return out
}

// edit makes an edit of the line at that index.
func (p *proposal) edit(lines []object, at int, fill func(*Edit)) Edit {
	find := pattern(lines[at])
	nth := 0
	for _, l := range lines[:at] {
		if Matches(find, l) {
			nth++
		}
	}
	e := Edit{Find: encode(find), Nth: nth}
	fill(&e)
	return e
}

// pattern describes a line by what tells it from others.
func pattern(v object) object {
	if line, ok := v[string(Out)].(object); ok {
		short := object{}
		for _, name := range []string{"type", "id", "command", "method"} {
			if s, ok := line[name].(string); ok && !strings.HasPrefix(s, "<") {
				short[name] = s
			}
		}
		if kind := text(line, "assistantMessageEvent", "type"); kind != "" {
			short["assistantMessageEvent"] = object{"type": kind}
		}
		if role := text(line, "message", "role"); role != "" && text(line, "type") != "turn_end" {
			short["message"] = object{"role": role}
		}
		return object{string(Out): short}
	}
	for _, name := range []string{"requests", "sessions"} {
		if _, ok := v[name]; ok {
			return object{name: []any{}}
		}
	}
	if _, ok := v["work"]; ok {
		return object{"work": object{}}
	}
	return v
}

// patch lists the operations of a JSON Patch that make a what b is.
func (p *proposal) patch(path string, a, b any) []any {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			p.pairText(x, y)
			if p.renamed(y) == x {
				return nil
			}
		}
	case object:
		if y, ok := b.(object); ok {
			return p.patchMembers(path, x, y)
		}
	case []any:
		if y, ok := b.([]any); ok {
			return p.patchItems(path, x, y)
		}
	default:
		if alike(a, b) {
			return nil
		}
	}
	return []any{object{"op": "replace", "path": path, "value": p.renamed(b)}}
}

func (p *proposal) patchMembers(path string, a, b object) []any {
	var out []any
	for _, k := range memberOrder(a) {
		at := path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(k)
		if v, ok := b[k]; ok {
			out = append(out, p.patch(at, a[k], v)...)
			continue
		}
		out = append(out, object{"op": "remove", "path": at})
	}
	// What a refusal has and an acceptance has not.
	if reason, ok := b["error"]; ok && a["error"] == nil {
		out = append(out, object{"op": "add", "path": path + "/error", "value": reason})
	}
	return out
}

func (p *proposal) patchItems(path string, a, b []any) []any {
	var out []any
	// From the end, so that indices before stay right.
	for _, r := range slices.Backward(alignItems(a, b)) {
		both := min(r.a2-r.a1, r.b2-r.b1)
		for i := r.a2 - 1; i >= r.a1+both; i-- {
			out = append(out, object{"op": "remove", "path": fmt.Sprintf("%s/%d", path, i)})
		}
		for j := r.b1 + both; j < r.b2; j++ {
			out = append(out, object{"op": "add", "path": fmt.Sprintf("%s/%d", path, r.a1+j-r.b1), "value": p.renamed(b[j])})
		}
		for i := both - 1; i >= 0; i-- {
			out = append(out, p.patch(fmt.Sprintf("%s/%d", path, r.a1+i), a[r.a1+i], b[r.b1+i])...)
		}
	}
	return out
}

// alike reports whether two values are the same, with any ids for ids.
func alike(a, b any) bool {
	c := comparison{there: map[string]string{}, back: map[string]string{}}
	anyID := func(s string) string { return idName.ReplaceAllString(s, "<id>") }
	c.same("", rewrite(a, anyID), rewrite(b, anyID))
	return len(c.differences) == 0
}

// renamed gives ids the names that the recording has for them.
func (p *proposal) renamed(v any) any {
	return rewrite(v, func(s string) string {
		return idName.ReplaceAllStringFunc(s, func(id string) string {
			name, ok := p.back[id]
			if !ok {
				p.added++
				name = fmt.Sprintf("%s%d>", id[:2], 900+p.added)
				p.back[id], p.there[name] = name, id
			}
			return name
		})
	})
}
