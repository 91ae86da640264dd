package replay

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// Matches reports whether v is what a pattern describes. An object matches an
// object that has at least its members, a list one that begins with its items,
// a string that starts with ~ any string that the rest matches as a regular
// expression, and anything else its equal.
func Matches(pattern, v any) bool {
	switch p := pattern.(type) {
	case object:
		o, ok := v.(object)
		if !ok {
			return false
		}
		for k, want := range p {
			got, ok := o[k]
			if !ok || !Matches(want, got) {
				return false
			}
		}
		return true
	case []any:
		list, ok := v.([]any)
		if !ok || len(p) > len(list) {
			return false
		}
		for i, want := range p {
			if !Matches(want, list[i]) {
				return false
			}
		}
		return true
	case string:
		s, ok := v.(string)
		if expr, isExpr := strings.CutPrefix(p, "~"); isExpr {
			return ok && regexp.MustCompile(expr).MatchString(s)
		}
		return ok && p == s
	case json.Number:
		n, ok := v.(json.Number)
		return ok && sameNumber(p, n)
	}
	return pattern == v // nil and booleans
}

func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, errX := a.Float64()
	y, errY := b.Float64()
	return errX == nil && errY == nil && x == y
}

// dig returns the value at a path of names and indices joined by dots;
// negative indices count from the end. It returns nil where there is none.
func dig(v any, path string) any {
	for part := range strings.SplitSeq(path, ".") {
		switch t := v.(type) {
		case object:
			v = t[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err == nil && i < 0 {
				i += len(t)
			}
			if err != nil || i < 0 || i >= len(t) {
				return nil
			}
			v = t[i]
		default:
			return nil
		}
	}
	return v
}
