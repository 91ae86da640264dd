package replay

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

var (
	uuidPattern     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	ownUUID         = regexp.MustCompile(`^019a0000-0000-7000-8000-0000000000\d\d$`)
	isoPattern      = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d[.-]\d{3}Z`)
	entryID         = regexp.MustCompile(`^[0-9a-f]{8}$`)
	ownEntryID      = regexp.MustCompile(`^(aaaa000[0-9a-f]|ffffffff)$`)
	entryIDInText   = regexp.MustCompile(`"(?:entryId|leafId|targetId|parentId)\\*":\\*"([0-9a-f]{8})\\*"`)
	toolCallID      = regexp.MustCompile(`\b(?:toolu|call)_\d+_\d+\b`)
	responseID      = regexp.MustCompile(`\b(?:msg_|chatcmpl-)\d+\b`)
	loopback        = regexp.MustCompile(`127\.0\.0\.1:\d{4,5}\b`)
	temporaryName   = regexp.MustCompile(`(pi-bash-|pi-[a-z]+-)[0-9a-zA-Z]{6,}\b`)
	timestampInText = regexp.MustCompile(`("timestamp"\s*:\s*)1[5-9]\d{11}`)
	countInText     = regexp.MustCompile(`("(?:tokens|percent)"\s*:\s*)[0-9.]+`)
	packagePath     = regexp.MustCompile(`(?:file://)?/[^\s"'():]*?/node_modules/@earendil-works/pi-coding-agent\b`)
)

// ownTime begins the timestamps that scenarios write themselves.
const ownTime = "2025-11-01T10"

// idMembers hold session entry ids.
var idMembers = set("id", "parentId", "entryId", "leafId", "firstKeptEntryId", "targetId", "fromId", "since")

// countMembers hold token counts and costs, which depend on how an agent words
// its system prompt.
var countMembers = set("tokensBefore", "estimatedTokensAfter", "percent", "cost", "usage", "tokens")

func set(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

// normalize puts a transcript in normal form (see the package documentation).
func normalize(t *Transcript, sc *Scenario, root string) *Transcript {
	n := newNormalizer(t, root)
	for _, file := range sc.Extensions() {
		n.extensions = append(n.extensions, "<root>/"+file)
	}
	out := &Transcript{
		Exit:     t.Exit,
		Stderr:   n.text(t.Stderr),
		Work:     n.value("", t.Work).(object),
		Requests: n.value("", t.Requests).([]any),
		Sessions: n.value("", t.Sessions).([]any),
	}
	for _, l := range mergeLines(t.Lines) {
		v := l.Value
		if l.Kind == Out {
			v = withoutPending(v)
		}
		out.Lines = append(out.Lines, Line{l.Kind, n.value("", v)})
	}
	return shorten(maskTexts(out, sc))
}

// normalizer holds the names given to ids, in the order of appearance.
type normalizer struct {
	root       string
	extensions []string // files that a program stands for elsewhere
	entries    map[string]string
	uuids      map[string]string
	calls      map[string]string
	dialogs    map[string]string
	entryRE    *regexp.Regexp // any of entries as a whole word, or nil
}

func newNormalizer(t *Transcript, root string) *normalizer {
	n := &normalizer{
		root: root, entries: map[string]string{}, uuids: map[string]string{},
		calls: map[string]string{}, dialogs: map[string]string{},
	}
	walk(t.Sessions, "", n.collect)
	for _, l := range t.Lines {
		if l.Kind == Out && text(l.Value, "type") == "extension_ui_request" {
			name(n.dialogs, "q", text(l.Value, "id"))
		}
		walk(l.Value, "", n.collect)
	}
	if len(n.entries) > 0 {
		var ids []string
		for id := range n.entries {
			ids = append(ids, id)
		}
		n.entryRE = regexp.MustCompile(`\b(?:` + strings.Join(ids, "|") + `)\b`)
	}
	return n
}

// collect looks for entry ids, also in JSON inside a text.
func (n *normalizer) collect(member string, v any) {
	s, ok := v.(string)
	if !ok {
		return
	}
	if idMembers[member] && entryID.MatchString(s) && !ownEntryID.MatchString(s) {
		name(n.entries, "e", s)
		return
	}
	for _, found := range entryIDInText.FindAllStringSubmatch(s, -1) {
		if !ownEntryID.MatchString(found[1]) {
			name(n.entries, "e", found[1])
		}
	}
}

// name returns the name of an id, giving it the next one where it has none.
func name(names map[string]string, kind, id string) string {
	given, ok := names[id]
	if !ok {
		given = fmt.Sprintf("<%s%d>", kind, len(names)+1)
		names[id] = given
	}
	return given
}

func (n *normalizer) value(member string, v any) any {
	switch v := v.(type) {
	case nil, bool:
		return v
	case json.Number:
		if member == "timestamp" || isTime(v) {
			return integer(0)
		}
		return v
	case string:
		if given, ok := n.dialogs[v]; ok && member == "id" {
			return given
		}
		return n.text(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = n.value(member, item)
		}
		return out
	case object:
		out := make(object, len(v))
		for k, item := range v {
			if countMembers[k] {
				out[n.text(k)] = zero(item)
				continue
			}
			out[n.text(k)] = n.value(k, item)
		}
		return out
	}
	panic(fmt.Sprintf("replay: %T is no decoded JSON", v))
}

// isTime reports whether a number is a time in milliseconds of these years.
func isTime(v json.Number) bool {
	f, err := v.Float64()
	return err == nil && 1.5e12 < f && f < 2.5e12
}

// zero replaces the numbers in a count or in an object of counts.
func zero(v any) any {
	switch v := v.(type) {
	case json.Number:
		return integer(0)
	case object:
		out := make(object, len(v))
		for k, item := range v {
			out[k] = zero(item)
		}
		return out
	}
	return v
}

func (n *normalizer) text(s string) string {
	if s == "" {
		return s
	}
	s = strings.ReplaceAll(s, n.root, "<root>")
	dashed := "-" + strings.ReplaceAll(strings.Trim(n.root, "/"), "/", "-")
	s = strings.ReplaceAll(s, dashed, "-<root>")
	for _, file := range n.extensions {
		s = strings.ReplaceAll(s, file, strings.TrimSuffix(file, ".ts"))
	}
	s = packagePath.ReplaceAllString(s, "<pkg>")
	s = uuidPattern.ReplaceAllStringFunc(s, func(id string) string {
		if ownUUID.MatchString(id) {
			return id
		}
		return name(n.uuids, "u", id)
	})
	s = isoPattern.ReplaceAllStringFunc(s, func(t string) string {
		if strings.HasPrefix(t, ownTime) {
			return t
		}
		return "<iso>"
	})
	s = toolCallID.ReplaceAllStringFunc(s, func(id string) string { return name(n.calls, "t", id) })
	s = responseID.ReplaceAllString(s, "<resp>")
	s = loopback.ReplaceAllString(s, "127.0.0.1:PORT")
	s = temporaryName.ReplaceAllString(s, "${1}X")
	s = timestampInText.ReplaceAllString(s, "${1}0")
	s = countInText.ReplaceAllString(s, "${1}0")
	if n.entryRE != nil {
		s = n.entryRE.ReplaceAllStringFunc(s, func(id string) string { return n.entries[id] })
	}
	return s
}

// withoutPending empties the content of an answer that has just begun: how far
// it has come by then is chance.
func withoutPending(v any) any {
	if text(v, "type") != "message_start" || text(v, "message", "stopReason") != "pending" {
		return v
	}
	m := member(v, "message").(object)
	return with(v.(object), "message", with(m, "content", []any{}))
}
