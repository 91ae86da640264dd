package rule_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/rule"
)

// block is one block of an answer, in pieces.
type block struct {
	kind   string // text, thinking, or the name of a tool
	pieces []string
}

// see streams an answer and gives the names of the rules that match, in order,
// with ! behind those that stop it.
func see(w *rule.Watcher, blocks ...block) (names []string) {
	note := func(list []*rule.Rule, stop bool) {
		for _, r := range list {
			name := r.Name
			if stop {
				name += "!"
			}
			names = append(names, name)
		}
	}
	for i, b := range blocks {
		u := event.AssistantUpdate{ContentIndex: i, Type: event.ToolCallStart, ToolName: b.kind}
		delta, end := event.ToolCallDelta, event.ToolCallEnd
		switch b.kind {
		case "text":
			u.Type, delta, end = event.TextStart, event.TextDelta, event.TextEnd
		case "thinking":
			u.Type, delta, end = event.ThinkingStart, event.ThinkingDelta, event.ThinkingEnd
		}
		note(w.See(&u))
		for _, piece := range b.pieces {
			note(w.See(&event.AssistantUpdate{ContentIndex: i, Type: delta, Delta: &piece}))
		}
		note(w.See(&event.AssistantUpdate{ContentIndex: i, Type: end}))
	}
	return names
}

// one makes a watcher of a single rule, and fails on problems with it.
func one(t *testing.T, r event.Rule, s rule.Settings) *rule.Watcher {
	t.Helper()
	r.Name = "r"
	made, problems := rule.New(r)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	book := rule.NewBook([]*rule.Rule{made}, s, "/work")
	if book == nil {
		t.Fatal("it watches nothing")
	}
	return book.Watch(nil)
}

func text(pieces ...string) block { return block{"text", pieces} }

func TestMatching(t *testing.T) {
	const write = `{"path":"%s","content":"a := \"b\"\nc"}`
	for name, c := range map[string]struct {
		rule   event.Rule
		answer []block
		want   string
	}{
		"in one piece":               {event.Rule{Condition: []string{`console\.log`}}, []block{text("use console.log here")}, "r!"},
		"in pieces":                  {event.Rule{Condition: []string{`console\.log`}}, []block{text("use con", "sole", ".l", "og here")}, "r!"},
		"not there":                  {event.Rule{Condition: []string{`console\.log`}}, []block{text("use console", " .log here")}, ""},
		"not across blocks":          {event.Rule{Condition: []string{`ab`}}, []block{text("a"), text("b")}, ""},
		"one of two":                 {event.Rule{Condition: []string{`x`, `b`}}, []block{text("a", "b")}, "r!"},
		"once an answer":             {event.Rule{Condition: []string{`a`}}, []block{text("a", "a"), text("a")}, "r!"},
		"without case":               {event.Rule{Condition: []string{`(?i)todo`}}, []block{text("ToDo")}, "r!"},
		"across lines":               {event.Rule{Condition: []string{`a\s+b`}}, []block{text("a \n", "\n b")}, "r!"},
		"at the beginning":           {event.Rule{Condition: []string{`^b`}}, []block{text("a\n", "b")}, ""},
		"at the beginning of a line": {event.Rule{Condition: []string{`(?m)^b`}}, []block{text("a\n", "b")}, "r!"},
		"inside of a word":           {event.Rule{Condition: []string{`\bb`}}, []block{text("a", "b")}, ""},
		"thinking, by default":       {event.Rule{Condition: []string{`a`}}, []block{{"thinking", []string{"a"}}}, ""},
		"thinking, asked for":        {event.Rule{Condition: []string{`a`}, Scope: []string{"thinking, text"}}, []block{{"thinking", []string{"a"}}}, "r!"},
		"arguments, as JSON":         {event.Rule{Condition: []string{`"rm `}}, []block{{"bash", []string{`{"command": "r`, `m -rf /"}`}}}, "r!"},
		"text, not asked for":        {event.Rule{Condition: []string{`a`}, Scope: []string{"tool"}}, []block{text("a")}, ""},
		"another tool":               {event.Rule{Condition: []string{`a`}, Scope: []string{"tool:bash"}}, []block{{"read", []string{`{"path":"a"}`}}}, ""},
		"a tool without its word":    {event.Rule{Condition: []string{`a`}, Scope: []string{"Bash"}}, []block{{"bash", []string{`{"command":"a"}`}}}, "r!"},
		"what is written":            {event.Rule{Condition: []string{`:= "b"`}}, []block{{"write", []string{fmt.Sprintf(write, "x.go")}}}, "r!"},
		"the file that is written":   {event.Rule{Condition: []string{`c`}, Scope: []string{"tool:write(*.go)"}}, []block{{"write", []string{fmt.Sprintf(write, "lib/x.go")}}}, "r!"},
		"another file":               {event.Rule{Condition: []string{`c`}, Scope: []string{"tool:write(*.go)"}}, []block{{"write", []string{fmt.Sprintf(write, "lib/x.ts")}}}, ""},
		"a file named last": {event.Rule{Condition: []string{`c`}, Globs: []string{"lib/*.go"}},
			[]block{{"write", []string{`{"content":"c",`, `"path":"/work/lib/x.go"}`}}}, "r!"},
		"a file elsewhere": {event.Rule{Condition: []string{`c`}, Globs: []string{"lib/*.go"}},
			[]block{{"write", []string{`{"content":"c","path":"/other/lib/x.go"}`}}}, ""},
		"globs are for files":    {event.Rule{Condition: []string{`c`}, Globs: []string{"*"}}, []block{text("c")}, ""},
		"a glob for a condition": {event.Rule{Condition: []string{"*.{go,ts}"}}, []block{{"write", []string{fmt.Sprintf(write, "x.go")}}}, "r!"},
		"what an edit adds": {event.Rule{Condition: []string{`old`}},
			[]block{{"edit", []string{`{"path":"x","edits":[{"oldText":"old","newText":"new"}]}`}}}, ""},
		"a word that goes on":        {event.Rule{Condition: []string{`\bany\b`}}, []block{text("any", "thing")}, ""},
		"a word that ends":           {event.Rule{Condition: []string{`\bany\b`}}, []block{text("any", " more")}, "r!"},
		"a word that ends the block": {event.Rule{Condition: []string{`\bany\b`}}, []block{text("an", "y")}, "r!"},
		"the end of the block":       {event.Rule{Condition: []string{`any$`}}, []block{text("any", " more")}, ""},
		"no stop at text":            {event.Rule{Condition: []string{`a`}, InterruptMode: "tool-only"}, []block{text("a")}, "r"},
		"no stop at tools":           {event.Rule{Condition: []string{`a`}, InterruptMode: "prose-only"}, []block{{"bash", []string{`"a"`}}}, "r"},
		"no stop at anything":        {event.Rule{Condition: []string{`a`}, InterruptMode: "never"}, []block{text("a")}, "r"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(see(one(t, c.rule, rule.Settings{}), c.answer...), " "); got != c.want {
				t.Errorf("%q matched, want %q", got, c.want)
			}
		})
	}
}

func TestAToolNamedAtItsEnd(t *testing.T) {
	w := one(t, event.Rule{Condition: []string{"secret"}, Scope: []string{"tool:read"}}, rule.Settings{})
	w.See(&event.AssistantUpdate{Type: event.ToolCallStart})
	matched, stop := w.See(&event.AssistantUpdate{Type: event.ToolCallEnd, ToolCall: &message.Block{Name: "read", Arguments: []byte(`{"path":"secret"}`)}})
	if len(matched) != 1 || !stop {
		t.Errorf("it gives %v, %t", matched, stop)
	}
}

func TestWhenARuleMatchesAgain(t *testing.T) {
	for _, c := range []struct {
		gap  int
		told map[string]int
		want string // matches in five answers
	}{
		{0, nil, "r! - - - -"},
		{0, map[string]int{"r": 100}, "- - - - -"},
		{1, nil, "r! - r! - r!"},
		{2, nil, "r! - - r! -"},
		{2, map[string]int{"r": 1}, "- r! - - r!"},
		{2, map[string]int{"other": 0}, "r! - - r! -"},
	} {
		made, _ := rule.New(event.Rule{Name: "r", Condition: []string{"a"}})
		w := rule.NewBook([]*rule.Rule{made}, rule.Settings{Gap: c.gap}, "/").Watch(c.told)
		var got []string
		for range 5 {
			names := see(w, text("a"))
			got = append(got, strings.Join(append(names, "-")[:1], " "))
			w.Take()
			w.End(len(names) == 0) // one that was stopped is not complete
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("gap %d, told %v: %s, want %s", c.gap, c.told, s, c.want)
		}
	}
}

func TestWhatWasNotTakenMatchesAgain(t *testing.T) {
	w := one(t, event.Rule{Condition: []string{"a"}}, rule.Settings{})
	see(w, text("a"))
	w.End(false)
	if got := see(w, text("a")); !slices.Equal(got, []string{"r!"}) {
		t.Errorf("%q matched", got)
	}
	if got := w.Take(); len(got) != 1 {
		t.Errorf("%d are to be told", len(got))
	}
}

func TestWhatCannotBeUsed(t *testing.T) {
	for _, c := range []struct {
		rule    event.Rule
		want    string // of the problem
		watches bool
	}{
		{event.Rule{Condition: []string{`a(?=b)`}}, `condition "a(?=b)" cannot be used: "(?=" is not known in the syntax of RE2`, false},
		{event.Rule{Condition: []string{`a(?<!b)`, "c"}}, `no lookahead and no lookbehind`, true},
		{event.Rule{Condition: []string{`(a)\1`}}, `invalid escape sequence: "\\1"`, false},
		{event.Rule{Condition: []string{`a(`}}, `missing closing )`, false},
		{event.Rule{Condition: []string{`a{2000}`}}, `invalid repeat count`, false},
		{event.Rule{Condition: []string{`a`}, Scope: []string{"tool:x(", "text"}}, `scope has "tool:x("`, true},
		{event.Rule{Condition: []string{`a`}, Scope: []string{"two words"}}, `scope has "two words"`, false},
		{event.Rule{Condition: []string{`a`}, Globs: []string{"["}}, `globs has "["`, false},
		{event.Rule{Condition: []string{`a`}, InterruptMode: "often"}, `interruptMode is "often"`, true},
	} {
		r, problems := rule.New(c.rule)
		if len(problems) != 1 || !strings.Contains(problems[0].Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.rule, problems, c.want)
		}
		if r.Watches() != c.watches {
			t.Errorf("%+v: watches is %t", c.rule, r.Watches())
		}
	}
}

// TestPiecesDoNotMatter compares what is seen of texts in pieces with what the
// expression finds in the whole.
func TestPiecesDoNotMatter(t *testing.T) {
	long := strings.Repeat("some words that go on and on, ", 100)
	texts := []string{
		"foo", "a foo\nbar", "x\nfoo", long + "foo" + long, long + "foo", strings.Repeat("line\n", 16_000) + "foo", long + "\n\n" + long + "foo bar",
		strings.Repeat(long, 25) + "foo", strings.Repeat("x", 80_000) + " foo\nbar", strings.Repeat("é", 40_000) + " foo",
	}
	for _, pattern := range []string{`foo`, `\bfoo\b`, `(?m)^foo$`, `foo\s+bar`, `(^|\s)foo`, `(?s)words.{0,50}foo`, `[^a]foo`, `^foo`, `^some`, `nothing`} {
		for i, whole := range texts {
			for _, size := range []int{1, 7, 1000, len(whole)} {
				if size < len(whole)/2000 {
					continue // it would take long, and show nothing more
				}
				var pieces []string
				for rest := whole; rest != ""; {
					n := min(size, len(rest))
					for n < len(rest) && rest[n]&0xC0 == 0x80 {
						n++
					}
					pieces, rest = append(pieces, rest[:n]), rest[n:]
				}
				got := len(see(one(t, event.Rule{Condition: []string{pattern}}, rule.Settings{}), text(pieces...))) > 0
				if want := regexp.MustCompile(pattern).MatchString(whole); got != want {
					t.Errorf("%s in text %d in pieces of %d: %t, want %t", pattern, i, size, got, want)
				}
			}
		}
	}
}
