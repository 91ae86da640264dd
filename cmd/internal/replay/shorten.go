package replay

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// longText is the length in bytes above which a text is stored as its length,
// hash, beginning and end.
const longText = 3000

func shorten(t *Transcript) *Transcript {
	short := func(s string) string {
		if len(s) <= longText {
			return s
		}
		sum := sha256.Sum256([]byte(s))
		head, end := strings.ToValidUTF8(s[:100], ""), strings.ToValidUTF8(s[len(s)-100:], "")
		return fmt.Sprintf("<long:%d:%x:%s…%s>", len(s), sum[:6], head, end)
	}
	return t.rewrite(short)
}

// rewrite returns the transcript with every string replaced.
func (t *Transcript) rewrite(f func(string) string) *Transcript {
	out := &Transcript{
		Exit: t.Exit, Stderr: f(t.Stderr),
		Requests: rewrite(t.Requests, f).([]any),
		Work:     rewrite(t.Work, f).(object),
		Sessions: rewrite(t.Sessions, f).([]any),
	}
	for _, l := range t.Lines {
		out.Lines = append(out.Lines, Line{l.Kind, rewrite(l.Value, f)})
	}
	return out
}
