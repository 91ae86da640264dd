package replay

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"
)

func TestOverlays(t *testing.T) {
	const recorded = `{"out": {"type": "a"}}
{"out": {"type": "b", "n": 1}}
{"out": {"type": "b", "n": 2}}`
	for _, test := range []struct{ name, edit, want, err string }{
		{"patch", `{"find":{"out":{"type":"a"}},"patch":[{"op":"add","path":"/out/n","value":0}]}`,
			"{\"out\": {\"type\": \"a\", \"n\": 0}}\n{\"out\": {\"type\": \"b\", \"n\": 1}}\n{\"out\": {\"type\": \"b\", \"n\": 2}}", ""},
		{"delete", `{"find":{"out":{"type":"b"}},"delete":true}`, "{\"out\": {\"type\": \"a\"}}\n{\"out\": {\"type\": \"b\", \"n\": 2}}", ""},
		{"delete several", `{"find":{"out":{"type":"a"}},"delete":true,"count":1}`, "{\"out\": {\"type\": \"b\", \"n\": 2}}", ""},
		{"the last found", `{"find":{"out":{"type":"b"}},"nth":-1,"delete":true}`, "{\"out\": {\"type\": \"a\"}}\n{\"out\": {\"type\": \"b\", \"n\": 1}}", ""},
		{"all found", `{"find":{"out":{"type":"b"}},"all":true,"delete":true}`, `{"out": {"type": "a"}}`, ""},
		{"before and after", `{"find":{"out":{"n":1}},"delete":true,"before":[{"out":{"type":"x"}}],"after":[{"out":{"type":"y"}}]}`,
			"{\"out\": {\"type\": \"a\"}}\n{\"out\": {\"type\": \"x\"}}\n{\"out\": {\"type\": \"y\"}}\n{\"out\": {\"type\": \"b\", \"n\": 2}}", ""},
		{"nothing found", `{"find":{"out":{"type":"c"}},"delete":true}`, "", "0 lines match"},
		{"not that many", `{"find":{"out":{"type":"b"}},"nth":2,"delete":true}`, "", "2 lines match"},
		{"two edits of one line", `{"find":{"out":{"type":"a"}},"patch":[{"op":"add","path":"/out/n","value":0}]},{"find":{"out":{"type":"a"}},"patch":[{"op":"add","path":"/out/id","value":"x"}]}`,
			"{\"out\": {\"type\": \"a\", \"id\": \"x\", \"n\": 0}}\n{\"out\": {\"type\": \"b\", \"n\": 1}}\n{\"out\": {\"type\": \"b\", \"n\": 2}}", ""},
		{"an edit of a deleted line", `{"find":{"out":{"type":"a"}},"delete":true,"count":1},{"find":{"out":{"n":1}},"patch":[]}`, "", "deleted"},
		{"more than there is", `{"find":{"out":{"n":2}},"delete":true,"count":1}`, "", "not 1 lines"},
		{"a patch that does not fit", `{"find":{"out":{"type":"a"}},"patch":[{"op":"remove","path":"/out/none"}]}`, "", "none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := Recordings{Dir: fstest.MapFS{
				"recorded/x.jsonl": {Data: []byte(recorded)},
				"overlays/x.json":  {Data: []byte(`[{"difference":"d","why":"w","edits":[` + test.edit + `]}]`)},
			}}
			got, err := r.Expected("x")
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("got error %v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := got.Write(&b); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(b.String(), test.want+"\n{\"requests\"") {
				t.Errorf("got\n%s\nwant\n%s", b.String(), test.want)
			}
		})
	}
}

func TestWithoutOverlaysTheRecordingIsExpected(t *testing.T) {
	r := Recordings{Dir: fstest.MapFS{"recorded/x.jsonl": {Data: []byte(`{"out":1}`)}}}
	got, err := r.Expected("x")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Lines) != 1 || got.Lines[0].Value != json.Number("1") {
		t.Errorf("got %v", got.Lines)
	}
}
