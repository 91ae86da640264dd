package resource

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestSplitArguments(t *testing.T) {
	for text, want := range map[string][]string{
		"":                          nil,
		"  \n\t ":                   nil,
		"one two three":             {"one", "two", "three"},
		"  spaced    out  ":         {"spaced", "out"},
		"multi\nline arg":           {"multi", "line", "arg"},
		`"quoted arg" 'single one'`: {"quoted arg", "single one"},
		`a\ b c`:                    {`a\`, "b", "c"},
		`"" b`:                      {"", "b"},
		`a '' b`:                    {"a", "", "b"},
		`say "a b"`:                 {"say", "a b"},
		`say "a b"c d`:              {"say", "a bc", "d"},
		`--name="a b" x`:            {"--name=a b", "x"},
		"doesn't work":              {"doesn't", "work"},
		"it's Bob's":                {"it's", "Bob's"},
		"the users' guide":          {"the", "users'", "guide"},
		"'don't stop' now":          {"don't stop", "now"},
		"'tis the season":           {"'tis", "the", "season"},
		"rock 'n' roll":             {"rock", "n", "roll"},
		`5" pipe`:                   {`5"`, "pipe"},
		`"unclosed a b`:             {`"unclosed`, "a", "b"},
		`"it's" 'say "x"'`:          {"it's", `say "x"`},
		`"two
lines"`: {"two\nlines"},
		"it’s «quoted»":    {"it’s", "«quoted»"},
		"l'été d'Éric":     {"l'été", "d'Éric"},
		"a\u00a0b c":       {"a", "b", "c"},
		"broken \xff byte": {"broken", "\xff", "byte"},
	} {
		if got := splitArguments(text); !slices.Equal(got, want) {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}

func TestSubstitute(t *testing.T) {
	three := []string{"one", "two", "three"}
	for _, c := range []struct {
		body string
		args []string
		want string
	}{
		{"$1 and $2 all=$@ args=$ARGUMENTS rest=${@:2} slice=${@:1:1} def=${3:-none}", three,
			"one and two all=one two three args=one two three rest=two three slice=one def=three"},
		{"$1 and $2 all=$@ args=$ARGUMENTS rest=${@:2} slice=${@:1:1} def=${3:-none}", nil, " and  all= args= rest= slice= def=none"},
		{"Do $1 then $2 (all: $@)", []string{"doesn't", "work"}, "Do doesn't then work (all: doesn't work)"},
		{"Do $1 then $2 (all: $@)", []string{"", "b"}, "Do  then b (all:  b)"},
		{"$10 $11", []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "ten"}, "ten "},
		{"$0 ${@:0} ${@:9}", three, " one two three "},
		{"${@:2:9} ${@:2:0} ${@:3:1}", three, "two three  three"},
		{"${@:-d} ${ARGUMENTS:-d} ${1:-d}", nil, "d d d"},
		{"${@:-d} ${1:-d} ${2:-two words}", []string{""}, "d d two words"},
		{"${1:-} ${2:-$1}", three, "one two"},
		{"${2:-$1}", []string{"x"}, "$1"}, // a default is a text
		// what only looks like one stays
		{"$HOME ${HOME} ${1} ${} $ $$ \\$ cost: 5$", three, "$HOME ${HOME} ${1} ${} $ $$ \\$ cost: 5$"},
		// what an argument says is not looked at again
		{"$1|$@|${1:-x}", []string{"$2", "$@"}, "$2|$2 $@|$2"},
		{"${@:1}", []string{"${1:-x}", "$ARGUMENTS"}, "${1:-x} $ARGUMENTS"},
		{"$99999999999999999999 ${@:99999999999999999999} ${@:1:99999999999999999999}", three, "  one two three"},
	} {
		if got := substitute(c.body, c.args); got != c.want {
			t.Errorf("%q with %q gives %q, want %q", c.body, c.args, got, c.want)
		}
	}
}

func FuzzSplitArguments(f *testing.F) {
	for _, seed := range []string{"a b", `"a b" c`, "doesn't", `""`, `'a "b' c"`, "\xff'", "a\u2028b", `"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		args := splitArguments(text)
		if !utf8.ValidString(text) {
			return // bytes of two broken characters may make a whole one
		}
		// Nothing is invented, lost or put in another order: but for quotes and
		// white space the arguments are the text.
		keep := func(s string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) || r == '"' || r == '\'' {
					return -1
				}
				return r
			}, s)
		}
		if got, want := keep(strings.Join(args, " ")), keep(text); got != want {
			t.Fatalf("%q gives %q", text, args)
		}
		for _, arg := range args {
			if !strings.ContainsAny(text, `"'`) && (arg == "" || strings.ContainsFunc(arg, unicode.IsSpace)) {
				t.Fatalf("%q has no quotes and gives %q", text, args)
			}
		}
		if !utf8.ValidString(strings.Join(args, "")) {
			t.Fatalf("%q was cut inside a character: %q", text, args)
		}
	})
}

func FuzzSubstitute(f *testing.F) {
	for _, seed := range []string{"$1", "${@:1:2}", "${1:-x}", "$", "${", "$ARGUMENTS$@", "a $1 b ${9:-$2}"} {
		f.Add(seed, "a b $1")
	}
	f.Fuzz(func(t *testing.T, body, args string) {
		list := splitArguments(args)
		got := substitute(body, list)
		if !strings.Contains(body, "$") && got != body {
			t.Fatalf("%q has no placeholder and becomes %q", body, got)
		}
		// One pass: arguments that look like placeholders come through whole.
		marked := substitute(body, []string{"$1", "$2"})
		if strings.ReplaceAll(body, "$", "") == body && marked != body {
			t.Fatalf("%q becomes %q", body, marked)
		}
	})
}
