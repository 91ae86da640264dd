package replay

import "strings"

// withoutChance returns the transcript as it would be if every agent were as
// quick as the other.
func withoutChance(t *Transcript) *Transcript {
	out := withoutProgress(t)
	out.Lines = withFailuresInOrder(withCallsInOrder(out.Lines))
	return out
}

// withoutProgress returns the transcript with the text of answers that were
// aborted cut to its first word: how far they had come by then is chance.
func withoutProgress(t *Transcript) *Transcript {
	short := map[string]string{}
	collect := func(_ string, v any) {
		if text(v, "stopReason") != "aborted" {
			return
		}
		blocks, _ := member(v, "content").([]any)
		for _, b := range blocks {
			for _, name := range []string{"text", "thinking"} {
				if s := text(b, name); s != "" {
					first, _, _ := strings.Cut(s, " ")
					short[s] = first + "…"
				}
			}
		}
	}
	for _, l := range t.Lines {
		walk(l.Value, "", collect)
	}
	walk(t.Sessions, "", collect)
	return t.rewrite(func(s string) string {
		if cut, ok := short[s]; ok {
			return cut
		}
		return s
	})
}
