package rule

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		in, source string
		files      []string
	}{
		{`{"path":"a.go","content":"x"}`, "x\n", []string{"a.go"}},
		{`{"content":"a\nb\"c\\dé😀\t/\/","path":"a\\b"}`, "a\nb\"c\\dé😀\t//\n", []string{`a\b`}},
		{`{"edits":[{"oldText":"o","newText":"n"},{"newText":"m"}],"paths":["a","b"]}`, "n\nm\n", []string{"a", "b"}},
		{`{"deep":{"path":"no","content":"yes"}}`, "yes\n", nil},
		{`{"content":"\ud83dx\ud83d\ud83d\ude00\udc00"}`, "\uFFFDx\uFFFD😀\uFFFD\n", nil},
		{`{"content":"cut of`, "cut of", nil},
		{`{"content":12,"path":null,"x":[1,{"content":"y"}]}`, "y\n", nil},
		{`]]}}{"path":"a"`, "", []string{"a"}},
		{strings.Repeat(`{"a":`, 1000) + `"x"`, "", nil},
	} {
		for size := 1; size <= len(c.in); size += 1 + len(c.in)/10 {
			a := arguments{keys: []string{"content", "newText"}}
			var source []byte
			for piece := range slices.Chunk([]byte(c.in), size) {
				source = append(source, a.read(string(piece))...)
			}
			if string(source) != c.source || !slices.Equal(a.files, c.files) {
				t.Errorf("%s in pieces of %d: %q of %q, want %q of %q", c.in, size, source, a.files, c.source, c.files)
			}
		}
	}
}

// FuzzArguments compares with what encoding/json finds, and with the same in
// one piece.
func FuzzArguments(f *testing.F) {
	f.Add(`{"path":"a.go","content":"x\n\u00e9\ud83d\ude00"}`, 3)
	f.Add(`{"path":"a", "edits":[{"newText":"b"}], "content":{"content":"c"}}`, 1)
	f.Add(`{"content":["a",["b"]],"paths":["c"]}`, 2)
	f.Add(`{"content":"\`, 1)
	f.Fuzz(func(t *testing.T, in string, size int) {
		if size = max(1, size); len(in) == 0 {
			return
		}
		pieces, whole := arguments{keys: []string{"content"}}, arguments{keys: []string{"content"}}
		var source []byte
		for piece := range slices.Chunk([]byte(in), size) {
			source = append(source, pieces.read(string(piece))...)
		}
		if at := whole.read(in); string(at) != string(source) || !slices.Equal(whole.files, pieces.files) {
			t.Fatalf("%q in pieces of %d: %q of %q, whole: %q of %q", in, size, source, pieces.files, at, whole.files)
		}
		var object struct{ Path, Content *string }
		var members map[string]json.RawMessage
		if json.Unmarshal([]byte(in), &object) != nil || json.Unmarshal([]byte(in), &members) != nil || len(members) != 1 || members["content"] == nil || object.Content == nil {
			return
		}
		if want := *object.Content + "\n"; strings.ToValidUTF8(string(source), "\uFFFD") != want && !strings.Contains(want, "\uFFFD") {
			t.Fatalf("%q gives %q, want %q", in, source, want)
		}
	})
}
