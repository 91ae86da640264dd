package edit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/tool/edit"
)

func ExampleApply() {
	after, err := edit.Apply("one\r\ntwo\r\n", []edit.Edit{{OldText: "two\n", NewText: "2\nthree\n"}})
	fmt.Printf("%q %v\n", after, err)
	_, err = edit.Apply("one\ntwo\n", []edit.Edit{{OldText: "one\nthree\n"}})
	fmt.Println(err)
	// Output:
	// "one\r\n2\r\nthree\r\n" <nil>
	// oldText: is not in the file. Its first line is found at line 1, but line 2 is "two". It must repeat the file exactly, blanks and line breaks too; read the file again
}

func one(old, changed string) []edit.Edit { return []edit.Edit{{OldText: old, NewText: changed}} }

func TestApply(t *testing.T) {
	for _, c := range []struct {
		name, before string
		edits        []edit.Edit
		want         string
	}{
		{"a word", "one two\n", one("two", "2"), "one 2\n"},
		{"taken away", "one\ntwo\nthree\n", one("two\n", ""), "one\nthree\n"},
		{"everything", "a\nb", one("a\nb", ""), ""},
		{"several, as the file was", "a b c", []edit.Edit{{"c", "a"}, {"a", "b"}, {"b", "c"}}, "b c a"},
		{"side by side", "abcd", []edit.Edit{{"ab", "x"}, {"cd", "y"}}, "xy"},
		{"no newline at the end", "a\nb", one("b", "b\n"), "a\nb\n"},
		{"newline at the end goes", "a\nb\n", one("b\n", "b"), "a\nb"},

		{"CRLF stays", "a\r\nb\r\nc\r\n", one("b", "B\nB2"), "a\r\nB\r\nB2\r\nc\r\n"},
		{"CRLF asked for", "a\r\nb\r\nc\r\n", one("a\r\nb", "q\r\nw"), "q\r\nw\r\nc\r\n"},
		{"CRLF asked for, LF there", "a\nb\n", one("a\r\nb\r\n", "x\r\n"), "x\n"},
		{"CRLF at the end", "a\r\nb\r\n", one("b\n", "b\nc\n"), "a\r\nb\r\nc\r\n"},
		{"mixed endings stay", "x\r\ny\nz\r\n", one("y", "Y"), "x\r\nY\nz\r\n"},
		{"mixed endings stay, more lines", "x\ny\r\nz\n", one("y", "Y\nY2"), "x\nY\r\nY2\r\nz\n"},
		{"lines that an edit only repeats", "x\r\ny\nz\r\n", one("x\ny\nz\n", "x\nY\nz\n"), "x\r\nY\nz\r\n"},
		{"lone carriage returns", "a\rb\rc\n", one("b", "B"), "a\rB\rc\n"},
		{"return at the end of the file", "a\r\nb\r", one("b", "c"), "a\r\nc\r"},

		{"byte order mark", "\ufeffone\ntwo\n", one("one", "ONE"), "\ufeffONE\ntwo\n"},
		{"mark and CRLF", "\ufeffone\r\ntwo\r\n", one("one\ntwo", "1\n2"), "\ufeff1\r\n2\r\n"},
		{"bytes that are no UTF-8", "a\xff\xfeb\nc\n", one("c", "d"), "a\xff\xfeb\nd\n"},

		{"exact goes before alike", "“a”\n\"a\"\n", one(`"a"`, "b"), "“a”\nb\n"},
		{"quotes and dashes", "x — y “q” z\n", one(`"q"`, "Q"), "x — y Q z\n"},
		{"all of a line", "say “hello” — now\n", one(`say "hello" - now`, "said"), "said\n"},
		{"apostrophe", "it’s\n", one("it's", "it was"), "it was\n"},
		{"blanks at the end of lines", "trail   \nkeep\ttab\n", one("trail\nkeep", "T\nkeep"), "T\nkeep\ttab\n"},
		{"blanks of a repeated line stay", "trail  \nb\n", one("trail\nb", "trail\nB"), "trail  \nB\n"},
		{"blanks behind the match stay", "“x”  \nb\n", one(`"x"`, "y"), "y  \nb\n"},
		{"blanks before the match stay", "a  \n“b”\n", one("\n\"b\"", "\nB"), "a  \nB\n"},
		{"blanks asked for, none there", "a\nb\n", one("a  \nb", "c\nb"), "c\nb\n"},
		{"no-break space", "a\u00a0b c\u00a0d\n", one("a b", "ab"), "ab c\u00a0d\n"},
		{"full width", "变量ＡＢＣ：１２３\n", one("变量ABC", "变量X"), "变量X：１２３\n"},
		{"ligature", "the ﬁle\n", one("the file", "it"), "it\n"},
		{"accents apart", "cafe\u0301 noir\n", one("café noir", "thé"), "thé\n"},
		{"ideographic space", "你\u3000好\n", one("你 好", "好"), "好\n"},
		{"alike within CRLF", "“a”\r\nb\r\n“c”\r\n", one("\"a\"\nb\n", "\"a\"\nB\nB2\n"), "“a”\r\nB\r\nB2\r\n“c”\r\n"},
		{"minus sign and ellipsis", "a − b…\n", one("a - b...", "c"), "c\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := edit.Apply(c.before, c.edits)
			if err != nil || got != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	for _, c := range []struct {
		name, before string
		edits        []edit.Edit
		want         string
	}{
		{"no edits", "a", nil, "edits is empty"},
		{"nothing to look for", "a", one("", "b"), "oldText: must not be empty"},
		{"not there", "one\ntwo\n", one("nope", "b"), "oldText: is not in the file. It must repeat the file exactly"},
		{"second not there", "one\ntwo\n", []edit.Edit{{"one", "1"}, {"nope", "2"}}, "edits[1].oldText: is not in the file."},
		{"twice", "dup\nx\ndup\n", one("dup", "b"), "oldText: is in the file 2 times (lines 1, 3). Repeat more"},
		{"second twice", "one\ndup\ndup\n", []edit.Edit{{"one", "1"}, {"dup", "2"}}, "edits[1].oldText: is in the file 2 times (lines 2, 3)."},
		{"overlapping itself", "aaa", one("aa", "b"), "oldText: is in the file 2 times (lines 1, 1)."},
		{"many times", strings.Repeat("a\n", 9), one("a", "b"), "is in the file 9 times (lines 1, 2, 3, 4, 5, …)."},
		{"alike twice", "“a”\n‟a”\n", one(`"a"`, "b"), "oldText: is in the file 2 times (lines 1, 2)."},
		{"overlap", "one\ntwo\nthree\n", []edit.Edit{{"two\nthree", "y"}, {"one\ntwo", "x"}}, "edits[0] and edits[1] overlap."},
		{"same place", "one\ntwo\n", []edit.Edit{{"one", "1"}, {"one", "2"}}, "edits[0] and edits[1] overlap."},
		{"no change", "one\n", one("one", "one"), "newText is what the file has already"},
		{"no change with other endings", "one\r\ntwo\r\n", one("one\ntwo", "one\ntwo"), "newText is what the file has already"},
		{"tab for blanks", "if x:\n\treturn\n", one("if x:\n    return", "pass"), "The text at line 1 differs from it in blanks only."},
		{"end of file", "a\nb\n", one("b\nc\n", "x"), `Its first line is found at line 2, but line 3 is "".`},
		{"cut off", "a\nb", one("a\nb\nc\nd", "x"), "Its first 2 lines are found at line 1, where the file ends before the rest."},
		{"long line", "a\n" + strings.Repeat("é", 200), one("a\nb", "x"), "but line 2 is \"" + strings.Repeat("é", 50) + "\"…."},
		{"CJK", "你好，世界\n", one("你好,世界!", "x"), "oldText: is not in the file."},
		{"half a ligature", "aﬁb\n", one("af", "x"), "oldText: is not in the file."},
		{"other half of it", "ﬁb\n", one("ib", "x"), "oldText: is not in the file."},
		{"blanks only", "a\u00a0\n", one("\n\n\n", "x"), "oldText: is not in the file."},
		{"empty file", "", one("a", "b"), "oldText: is not in the file."},
		{"invalid text", "a\xffb", one("a\xfeb", "x"), "oldText: is not in the file."},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := edit.Apply(c.before, c.edits)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, %v; want the error %q", got, err, c.want)
			}
		})
	}
}

// FuzzApply checks that an edit changes its place and nothing else: what
// stands before and behind it is there byte for byte, and the edit that puts
// the old text back gives the old file.
func FuzzApply(f *testing.F) {
	for _, s := range [][4]string{
		{"\ufeffa\r\n", "b", "\r\nc\n", "B\nB2"}, {"x — y ", "“q”", " z\n", "Q"}, {"", "a\r\nb\n", "\xff", "a\nc\n"},
		{"trail   \n", "ﬁ\u0301", "\r\n\r", "\n"}, {"你\u3000好 ", "ＡＢＣ", "", "\r"},
	} {
		f.Add(s[0], s[1], s[2], s[3])
	}
	f.Fuzz(func(t *testing.T, before, old, behind, changed string) {
		file := before + old + behind
		if strings.HasSuffix(old, "\r") && strings.HasPrefix(behind, "\n") {
			return // half a line ending is no text
		}
		got, err := edit.Apply(file, one(old, changed))
		if err != nil {
			return
		}
		// The file may begin with a mark that is no part of the place, and the
		// place may begin or end between a return and its newline.
		head := strings.TrimSuffix(strings.TrimPrefix(before, "\ufeff"), "\r")
		tail := strings.TrimPrefix(behind, "\n")
		if !strings.HasPrefix(strings.TrimPrefix(got, "\ufeff"), head) || !strings.HasSuffix(got, tail) {
			t.Fatalf("%q in %q to %q: %q", old, file, changed, got)
		}
		if strings.HasPrefix(file, "\ufeff") != strings.HasPrefix(got, "\ufeff") && !strings.HasPrefix(changed, "\ufeff") {
			t.Fatalf("%q in %q to %q lost or won a mark: %q", old, file, changed, got)
		}
		if strings.ContainsAny(file+changed, "\r\ufeff") {
			return
		}
		if got != strings.Replace(file, old, changed, 1) {
			t.Fatalf("%q in %q to %q: %q", old, file, changed, got)
		}
		if back, err := edit.Apply(got, one(changed, old)); err == nil && strings.Contains(got, changed) && back != file {
			t.Fatalf("%q in %q to %q and back: %q", old, file, changed, back)
		}
	})
}
