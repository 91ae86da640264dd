package store

import (
	"encoding/json"
	"strings"
	"testing"
)

var jsonTexts = []string{
	`null`, `true`, `false`, `0`, `-0`, `12`, `-3.25e+10`, `1E5`, `""`, `"plain"`, `"with \"quotes\" and \\ and \/ \b\f\n\r\t"`,
	`"\u00e9\ud800"`, `"eight by"`, `"exactly sixteen!"`, `"naïve 例えば"`, `[]`, `[1,[2,[3]]]`, `{}`, `{"a":{"b":[true,null,"x"]}}`,
	" { \"a\" : 1 ,\t\"b\" :\r\n[ ] } ", `{"a":1,"a":2}`, `{"":0}`,
	``, ` `, `nul`, `True`, `01`, `1.`, `.5`, `-`, `+1`, `1e`, `1e+`, `0x10`, `"`, `"abc`, `"abc\`, `"\x"`, `"\u12g4"`, `"\u12`, "\"tab\there\"",
	"\"nul\x00here\"", "\"line\nfeed\"", `'a'`, `[`, `[1`, `[1,`, `[1,]`, `[,1]`, `]`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`,
	`{a:1}`, `{1:1}`, `{"a" 1}`, `1 2`, `{} {}`, `{}x`, "\x00", "\xef\xbb\xbf{}",
}

func valid(text string) bool {
	s := scanner{data: []byte(text)}
	s.space()
	ok := s.skip()
	s.space()
	return ok && s.pos == len(text)
}

func TestScannerKnowsJSON(t *testing.T) {
	for _, text := range jsonTexts {
		if got, want := valid(text), json.Valid([]byte(text)); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func TestScannerDepth(t *testing.T) {
	for _, depth := range []int{1, 3000, maxDepth, maxDepth + 1, 10 * maxDepth} {
		for _, text := range []string{
			strings.Repeat("[", depth) + strings.Repeat("]", depth),
			strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth),
		} {
			if got, want := valid(text), json.Valid([]byte(text)); got != want {
				t.Errorf("depth %d of %.2q: got %v, want %v", depth, text, got, want)
			}
		}
	}
}

func FuzzScanner(f *testing.F) {
	for _, text := range jsonTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := valid(text), json.Valid([]byte(text)); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestParseLineMembers(t *testing.T) {
	const usage = `"usage":{"role":"no","stopReason":"no"}`
	cases := []struct {
		name, raw string
		want      Entry
		parent    string
	}{
		{"message", `{"type":"message","id":"a","parentId":"b","timestamp":"T","message":{"role":"assistant",` + usage + `,"stopReason":"error"}}`,
			Entry{Type: "message", ID: "a", Timestamp: "T", role: "assistant", stop: "error"}, "b"},
		{"another order", `{"message":{"role":"user"},"timestamp":"T","parentId":null,"id":"a","type":"message"}`,
			Entry{Type: "message", ID: "a", Timestamp: "T", role: "user"}, ""},
		{"escaped names and values", `{"\u0074ype":"mess\u0061ge","id":"\u0061\"","parentId":"\\"}`,
			Entry{Type: "message", ID: `a"`}, `\`},
		{"a name twice", `{"type":"x","type":"label","id":"1","id":"2"}`, Entry{Type: "label", ID: "2"}, ""},
		{"unknown members", `{"type":"martian","z":[{"id":"no"}],"id":"a"}`, Entry{Type: "martian", ID: "a"}, ""},
		{"members of other kinds", `{"type":"message","id":7,"parentId":8,"timestamp":{},"message":"text"}`, Entry{Type: "message"}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l, ok := parseLine([]byte(c.raw))
			if !ok {
				t.Fatal("not parsed")
			}
			got := l.entry
			got.Raw, got.body = nil, span{}
			if got.Type != c.want.Type || got.ID != c.want.ID || got.Timestamp != c.want.Timestamp || got.role != c.want.role || got.stop != c.want.stop {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if string(l.parent) != c.parent {
				t.Errorf("parent: got %q, want %q", l.parent, c.parent)
			}
		})
	}
	for _, raw := range []string{``, `[]`, `"type"`, `{"id":"a"}`, `{"type":1}`, `{"type":"message"} x`, `{"type":"message"`} {
		if _, ok := parseLine([]byte(raw)); ok {
			t.Errorf("%q was taken for an entry", raw)
		}
	}
}

func TestWireSafe(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"b"}`:                  `{"a":"b"}`,
		"{\"a\":\"\u2028|\u2029\"}":  `{"a":"\u2028|\u2029"}`,
		"{\"a\":\"\xff\xc3\"}":       "{\"a\":\"\uFFFD\"}",
		"{\"a\":\"\xff\u2028\xe2\"}": "{\"a\":\"\uFFFD\\u2028\uFFFD\"}",
	} {
		if got := string(wireSafe([]byte(in))); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
