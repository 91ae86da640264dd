package tool_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/seed-54e836f5/pi/core/tool"
)

func ExampleValidate() {
	spec := tool.Spec{Name: "read", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"number"}},"required":["path"]}`)}
	args, _ := tool.Validate(spec, json.RawMessage(`{"path":5,"limit":"2"}`))
	fmt.Println(string(args))
	_, err := tool.Validate(spec, json.RawMessage(`{"limit":"many"}`))
	fmt.Println(err)
	// Output:
	// {"limit":2,"path":"5"}
	// The call of read was not run, its arguments do not fit:
	// - path: is missing
	// - limit: must be a number, not the string "many"
	//
	// Received:
	// {
	//   "limit": "many"
	// }
}

const schema = `{"type":"object","properties":{
	"path":{"type":"string"},
	"limit":{"type":"number"},
	"count":{"type":"integer"},
	"deep":{"type":"boolean"},
	"mode":{"type":"string","enum":["fast","slow"]},
	"size":{"type":"number","minimum":1,"maximum":10},
	"either":{"type":["number","null"]},
	"any":{},
	"options":{"type":"object","properties":{"level":{"type":"integer"},"name":{"type":"string","maxLength":3}}},
	"edits":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"},"new":{"type":"string"}},"required":["old","new"]}}
},"required":["path"]}`

func TestValidate(t *testing.T) {
	for _, c := range []struct{ name, args, want, problem string }{
		{"as it should be, kept byte for byte", `{ "path": "a", "limit": 1.50 }`, `{ "path": "a", "limit": 1.50 }`, ""},
		{"more than asked for", `{"path":"a","reason":"x"}`, `{"path":"a","reason":"x"}`, ""},
		{"string for a number", `{"path":"a","limit":" 2 "}`, `{"limit":2,"path":"a"}`, ""},
		{"big numbers stay as they are", `{"path":"a","limit":"12345678901234567890"}`, `{"limit":12345678901234567890,"path":"a"}`, ""},
		{"number for a string", `{"path":5}`, `{"path":"5"}`, ""},
		{"boolean for a string", `{"path":true}`, `{"path":"true"}`, ""},
		{"null for a string", `{"path":null}`, `{"path":"null"}`, ""},
		{"null for an optional field", `{"path":"a","limit":null,"deep":null}`, `{"path":"a"}`, ""},
		{"null where it is allowed", `{"path":"a","either":null,"any":null}`, `{"path":"a","either":null,"any":null}`, ""},
		{"word for a boolean", `{"path":"a","deep":"true"}`, `{"deep":true,"path":"a"}`, ""},
		{"number for a boolean", `{"path":"a","deep":0}`, `{"deep":false,"path":"a"}`, ""},
		{"whole number for an integer", `{"path":"a","count":2.0}`, `{"path":"a","count":2.0}`, ""},
		{"one item for a list", `{"path":"a","edits":{"old":"x","new":5}}`, `{"edits":[{"new":"5","old":"x"}],"path":"a"}`, ""},
		{"list in a string", `{"path":"a","edits":"[{\"old\":\"x\",\"new\":\"y\"}]"}`, `{"edits":[{"new":"y","old":"x"}],"path":"a"}`, ""},
		{"object in a string", `{"path":"a","options":"{\"level\":\"3\"}"}`, `{"options":{"level":3},"path":"a"}`, ""},
		{"nothing at all", ``, "", "path: is missing"},
		{"missing", `{"file":1}`, "", "path: is missing"},
		{"word for a number", `{"path":"a","limit":"abc"}`, "", `limit: must be a number, not the string "abc"`},
		{"empty for a number", `{"path":"a","limit":""}`, "", `limit: must be a number, not the string ""`},
		{"infinite", `{"path":"a","limit":"Infinity"}`, "", `limit: must be a number, not the string "Infinity"`},
		{"boolean for a number", `{"path":"a","limit":true}`, "", "limit: must be a number, not true"},
		{"half for an integer", `{"path":"a","count":1.5}`, "", "count: must be an integer, not 1.5"},
		{"list for a string", `{"path":["a"]}`, "", "path: must be a string, not a list"},
		{"yes for a boolean", `{"path":"a","deep":"yes"}`, "", `deep: must be a boolean, not the string "yes"`},
		{"not a choice", `{"path":"a","mode":"idle"}`, "", `mode: must be one of ["fast","slow"], not "idle"`},
		{"field of an item", `{"path":"a","edits":[{"old":"x","new":"y"},{"old":"x"}]}`, "", "edits[1].new: is missing"},
		{"no item", `{"path":"a","edits":[5]}`, "", "edits[0]: must be an object, not 5"},
		{"two types", `{"path":"a","either":"x"}`, "", `either: must be a number or null, not the string "x"`},
		{"below a bound", `{"path":"a","size":0}`, "", "size: must be at least 1, not 0"},
		{"above a bound", `{"path":"a","size":"11"}`, "", "size: must be at most 10, not 11"},
		{"too large for a number", `{"path":"a","limit":1e400}`, "", "limit: must be a number, not 1e400"},
		{"a keyword of the library's", `{"path":"a","options":{"name":"toolong"}}`, "", "options.name: maxLength: \"toolong\" contains 7 Unicode code points, more than 3"},
		{"several at once", `{"limit":[],"deep":{}}`, "", "path: is missing\n- deep: must be a boolean, not an object\n- limit: must be a number, not a list"},
		{"list", `[1]`, "", "they must be a JSON object, not a list"},
		{"null", `null`, "", "they must be a JSON object, not null"},
		{"cut off", `{"path":"a","content":"x`, "", "they are not complete JSON: the text ends too early"},
		{"garbage", `garbage`, "", "they are not complete JSON: invalid character 'g' looking for beginning of value (byte 1)"},
		{"line break in a string", "{\"path\":\"a\nb\"}", "", "they are not complete JSON: invalid character '\\n' in string literal (byte 11)"},
		{"two values", `{"path":"a"}{"path":"b"}`, "", "they are not complete JSON: there is more text behind the JSON value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := tool.Validate(tool.Spec{Name: "x", Parameters: json.RawMessage(schema)}, json.RawMessage(c.args))
			if c.problem == "" {
				if err != nil || string(got) != c.want {
					t.Errorf("got %s, %v; want %s", got, err, c.want)
				}
				return
			}
			if !errors.Is(err, tool.ErrArguments) || !strings.Contains(err.Error(), "fit:\n- "+c.problem+"\n\nReceived:\n") {
				t.Errorf("got %s, %v; want the problem %q", got, err, c.problem)
			}
		})
	}
}

func TestValidateShowsTheRawText(t *testing.T) {
	spec := tool.Spec{Name: "write", Parameters: json.RawMessage(schema)}
	cut := `{"path":"a","content":"x`
	if _, err := tool.Validate(spec, json.RawMessage(cut)); !strings.HasSuffix(err.Error(), "Received:\n"+cut) {
		t.Errorf("the raw text is not shown: %v", err)
	}
	long := `{"path":"a","content":"` + strings.Repeat("é", 50000)
	_, err := tool.Validate(spec, json.RawMessage(long))
	if text := err.Error(); len(text) > 6000 || !strings.Contains(text, `{"path":"a"`) || !strings.Contains(text, "bytes left out]") || strings.Contains(text, "\ufffd") {
		t.Errorf("a long text is shown in %d bytes", len(text))
	}
}

func TestValidateWithoutParameters(t *testing.T) {
	if got, err := tool.Validate(tool.Spec{Name: "x"}, nil); err != nil || string(got) != "{}" {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestValidatePrepares(t *testing.T) {
	spec := tool.Spec{Name: "x", Parameters: json.RawMessage(schema), Prepare: func(args json.RawMessage) json.RawMessage {
		return json.RawMessage(strings.Replace(string(args), `"file"`, `"path"`, 1))
	}}
	if got, err := tool.Validate(spec, json.RawMessage(`{"file":"a"}`)); err != nil || string(got) != `{"path":"a"}` {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := tool.Validate(spec, json.RawMessage(`{"file":["a"]}`)); err == nil || !strings.Contains(err.Error(), `"file"`) {
		t.Errorf("the error shows something else than what was received: %v", err)
	}
}

func TestOffered(t *testing.T) {
	for _, bad := range []string{`[]`, `{"type":`, `{"type":5}`, `{"properties":{"a":{"pattern":"("}}}`, `{"$ref":"#/$defs/none"}`} {
		spec := tool.Spec{Name: "mine", Parameters: json.RawMessage(bad)}
		if _, err := tool.Offered(spec); err == nil || !strings.Contains(err.Error(), "parameters: ") || !strings.Contains(err.Error(), "not a JSON Schema") {
			t.Errorf("%s: %v", bad, err)
		}
		_, err := tool.Validate(spec, nil)
		if err == nil || errors.Is(err, tool.ErrArguments) || !strings.Contains(err.Error(), "tool mine") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, c := range []struct{ name, parameters, want, problem string }{
		{"mine", schema, schema, ""},
		{"My_tool-2", `{"properties":{"a":{"type":"string"}}}`, `{"properties":{"a":{"type":"string"}},"type":"object"}`, ""},
		{"mine", `{}`, `{"type":"object"}`, ""},
		{"mine", ``, ``, ""},
		{strings.Repeat("x", 128), `{"type":"object"}`, `{"type":"object"}`, ""},
		{"mine", `{"type":"array"}`, ``, `parameters: the type of the parameters is "array"`},
		{"mine", `{"type":["object","null"]}`, ``, `parameters: the type of the parameters is ["object","null"]`},
		{"mine", `true`, ``, `parameters: `},
		{"", `{}`, ``, `name: ""`},
		{"my tool", `{}`, ``, `name: "my tool": expected`},
		{"my.tool", `{}`, ``, `name: "my.tool": expected`},
		{strings.Repeat("x", 129), `{}`, ``, `name: `},
	} {
		got, err := tool.Offered(tool.Spec{Name: c.name, Parameters: json.RawMessage(c.parameters)})
		if c.problem == "" && (err != nil || string(got.Parameters) != c.want || got.Name != c.name) {
			t.Errorf("%s %s: got %s, %v", c.name, c.parameters, got.Parameters, err)
		}
		if c.problem != "" && (err == nil || !strings.HasPrefix(err.Error(), c.problem)) {
			t.Errorf("%s %s: %v, want %s", c.name, c.parameters, err, c.problem)
		}
	}
}

func TestValidateAtTheSameTime(t *testing.T) {
	spec := tool.Spec{Name: "x", Parameters: json.RawMessage(schema)}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if got, err := tool.Validate(spec, json.RawMessage(`{"path":1}`)); err != nil || string(got) != `{"path":"1"}` {
					t.Errorf("got %s, %v", got, err)
				}
			}
		})
	}
	all.Wait()
}

func FuzzValidate(f *testing.F) {
	for _, args := range []string{`{"path":5,"limit":"1e3"}`, `{"edits":"[{}]","path":null}`, `{"edits":[[null]],"deep":1,"count":1e400}`, `{"path":"a`, `[`, `{"either":{},"options":"x","any":[1]}`} {
		f.Add(args)
	}
	spec := tool.Spec{Name: "x", Parameters: json.RawMessage(schema)}
	f.Fuzz(func(t *testing.T, args string) {
		got, err := tool.Validate(spec, json.RawMessage(args))
		if err != nil {
			if !errors.Is(err, tool.ErrArguments) {
				t.Fatalf("%q: %v", args, err)
			}
			return
		}
		again, err := tool.Validate(spec, got)
		if err != nil || string(again) != string(got) {
			t.Fatalf("%q gave %s, and that %s, %v", args, got, again, err)
		}
	})
}

func BenchmarkValidate(b *testing.B) {
	spec := tool.Spec{Name: "x", Parameters: json.RawMessage(schema)}
	args := json.RawMessage(`{"path":"a","limit":2,"edits":[{"old":"x","new":"y"}]}`)
	for b.Loop() {
		if _, err := tool.Validate(spec, args); err != nil {
			b.Fatal(err)
		}
	}
}
