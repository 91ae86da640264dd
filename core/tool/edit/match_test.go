package edit

import (
	"fmt"
	"strings"
	"testing"
)

// FuzzFind checks that what is found looks like what was asked for, and that
// a change of it stays within.
func FuzzFind(f *testing.F) {
	f.Add("x “a” — ﬁ\u0301  \r\n", `"a" -`, "b\nc")
	f.Add("Ａ\u00a0Ｂ\t\n\u3000", "A B\n", "")
	f.Add("trail  \nb\xff\n", "trail\nb", "trail\nB")
	f.Fuzz(func(t *testing.T, file, wanted, changed string) {
		d := parse(file)
		wanted, changed = plain(wanted), plain(changed)
		m := matcher{text: d.text}
		found := m.find(wanted)
		if strings.Contains(d.text, wanted) && wanted != "" && len(found) == 0 {
			t.Fatalf("%q is not found in %q", wanted, d.text)
		}
		for _, at := range found {
			there := d.text[at.from:at.to]
			if loosen(there, false).text != loosen(wanted, false).text {
				t.Fatalf("%q found as %q in %q", wanted, there, d.text)
			}
			if strings.Count(there, "\n") != strings.Count(wanted, "\n") {
				t.Fatalf("%q found as %q, which has other lines", wanted, there)
			}
			last := d.at(at.from)
			for _, p := range d.pieces(at, wanted, changed) {
				if p.from < last || p.to < p.from || p.to > d.at(at.to) {
					t.Fatalf("%q to %q in %q: piece %+v is outside of %+v", wanted, changed, d.raw, p, at)
				}
				last = p.to
			}
		}
	})
}

// FuzzDocument checks the way from a text back to its bytes.
func FuzzDocument(f *testing.F) {
	f.Add("\ufeffa\r\nb\n\r\r\n")
	f.Fuzz(func(t *testing.T, content string) {
		d := parse(content)
		if d.bom+d.raw != content || strings.Contains(d.text, "\r\n") && !strings.Contains(content, "\r\r\n") {
			t.Fatalf("%q: %+v", content, d)
		}
		for i := range len(d.text) {
			at := d.at(i)
			pair := d.text[i] == '\n' && strings.HasPrefix(d.raw[at:], "\r\n")
			if d.raw[at] != d.text[i] && !pair {
				t.Fatalf("%q: place %d of the text is %d of the file", content, i, at)
			}
		}
		if d.at(len(d.text)) != len(d.raw) {
			t.Fatalf("%q: the end is not the end", content)
		}
	})
}

// FuzzCompare checks that the two forms of a difference tell of the same
// change, and that the patch is right: taking the lines it takes and adding
// those it adds gives the new text.
func FuzzCompare(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nx\nc")
	f.Add("", "a\n")
	f.Add("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n", "0\n1\n2\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n16\n17\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		before, after = valid(before), valid(after)
		if before == after {
			return
		}
		changes := changesOf(before, after)
		old := splitLines(before)
		var got strings.Builder
		at := 0
		for _, c := range changes {
			if c.from < at || c.to > len(old) {
				t.Fatalf("%q to %q: changes %+v", before, after, changes)
			}
			got.WriteString(strings.Join(old[at:c.from], "") + strings.Join(c.added, ""))
			at = c.to
		}
		got.WriteString(strings.Join(old[at:], ""))
		if got.String() != after {
			t.Fatalf("%q to %q: changes %+v give %q", before, after, changes, got.String())
		}
		d := compare("f", before, after)
		if patched := patch(t, old, d.Patch); patched != after {
			t.Fatalf("%q to %q: the patch gives %q:\n%s", before, after, patched, d.Patch)
		}
		if d.FirstChangedLine < 1 || d.FirstChangedLine > len(splitLines(after))+1 {
			t.Fatalf("%q to %q: first changed line %d", before, after, d.FirstChangedLine)
		}
	})
}

// patch applies a unified diff as strictly as can be.
func patch(t *testing.T, old []string, text string) string {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")[2:]
	var out []string
	at := 0
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "\\") {
			i++
		} else {
			line += "\n"
		}
		switch line[0] {
		case '@':
			var from, count, to, added int
			if _, err := fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &from, &count, &to, &added); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if count > 0 {
				from--
			}
			if added > 0 {
				to--
			}
			out = append(out, old[at:from]...)
			at = from
			if len(out) != to {
				t.Fatalf("%q begins at line %d of the new text", line, len(out)+1)
			}
		case '+':
			out = append(out, line[1:])
		case '-', ' ':
			if old[at] != line[1:] {
				t.Fatalf("%q, but line %d is %q", line, at+1, old[at])
			}
			if line[0] == ' ' {
				out = append(out, old[at])
			}
			at++
		}
	}
	return strings.Join(append(out, old[at:]...), "")
}
