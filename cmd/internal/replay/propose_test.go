package replay

import (
	"strings"
	"testing"
)

func TestProposedEditsExplainTheDifferences(t *testing.T) {
	for _, test := range []struct {
		name          string
		recorded, got []string
	}{
		{"a value", []string{`{"out":{"type":"a","n":1}}`, `{"out":{"type":"a","n":2}}`}, []string{`{"out":{"type":"a","n":1}}`, `{"out":{"type":"a","n":3}}`}},
		{"a lost member", []string{`{"out":{"type":"a","n/~":1}}`}, []string{`{"out":{"type":"a"}}`}},
		{"a lost line", []string{`{"out":{"type":"a"}}`, `{"out":{"type":"b"}}`, `{"out":{"type":"c"}}`}, []string{`{"out":{"type":"c"}}`}},
		{"a new line", []string{`{"out":{"type":"a"}}`}, []string{`{"out":{"type":"a"}}`, `{"out":{"type":"b","id":"<e1>"}}`}},
		{"a new first line", []string{`{"out":{"type":"a"}}`}, []string{`{"out":{"type":"b"}}`, `{"out":{"type":"a"}}`}},
		{"another line", []string{`{"out":{"type":"a"}}`, `{"out":{"type":"x"}}`}, []string{`{"out":{"type":"b"}}`, `{"out":{"type":"x"}}`}},
		{"lost items", []string{`{"out":{"type":"a","l":[1,2,3,4]}}`}, []string{`{"out":{"type":"a","l":[2,4]}}`}},
		{"new items", []string{`{"out":{"type":"a","l":[2,4]}}`}, []string{`{"out":{"type":"a","l":[1,2,3,4,5]}}`}},
		{"other items", []string{`{"out":{"type":"a","l":[1,2,3]}}`}, []string{`{"out":{"type":"a","l":[1,9,8,3]}}`}},
		{"ids by other names", []string{`{"out":{"type":"a","id":"<e1>"}}`, `{"out":{"type":"b","parentId":"<e1>"}}`}, []string{`{"out":{"type":"a","id":"<e4>"}}`, `{"out":{"type":"b","parentId":"<e4>","l":1}}`, `{"out":{"type":"c","id":"<e1>","parentId":"<e4>"}}`}},
		{"the end", []string{`{"exit":0,"stderr":"","sessions":[]}`}, []string{`{"exit":1,"stderr":"<text>","sessions":[{"path":"p","lines":[]}]}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			recorded, got := transcript(t, test.recorded...), transcript(t, test.got...)
			values, err := edited(recorded.values(), Propose(recorded, got))
			if err != nil {
				t.Fatal(err)
			}
			explained, err := readTranscript(values)
			if err != nil {
				t.Fatal(err)
			}
			if left := Compare(explained, got); len(left) > 0 {
				t.Errorf("left over: %s", strings.Join(left, "\n"))
			}
		})
	}
}
