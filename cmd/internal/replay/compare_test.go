package replay

import (
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	end := `{"exit":0,"stderr":"","sessions":[]}`
	for _, test := range []struct {
		name     string
		recorded []string
		got      []string
		want     string // the differences, "" for none
	}{
		{"equal", []string{`{"out":{"type":"a","n":1}}`, end}, []string{`{"out":{"type":"a","n":1}}`, end}, ""},
		{"an added member is none", []string{`{"out":{"type":"a"}}`}, []string{`{"out":{"type":"a","n":1}}`}, ""},
		{"a lost member", []string{`{"out":{"type":"a","n":1}}`}, []string{`{"out":{"type":"a"}}`}, "event 0 (a).n: missing, was 1"},
		{"another value", []string{`{"out":{"type":"a","n":[1]}}`}, []string{`{"out":{"type":"a","n":[2]}}`}, "event 0 (a).n[0]: expected 1, got 2"},
		{"another type", []string{`{"out":{"type":"a","n":1}}`}, []string{`{"out":{"type":"a","n":"1"}}`}, `event 0 (a).n: expected 1, got "1"`},
		{"fewer items", []string{`{"out":{"type":"a","n":[1,2]}}`}, []string{`{"out":{"type":"a","n":[1]}}`}, "event 0 (a).n: expected 2 items, got 1"},
		{
			"another order", []string{`{"out":{"type":"a"}}`, `{"out":{"type":"b"}}`}, []string{`{"out":{"type":"b"}}`, `{"out":{"type":"a"}}`},
			"events from 0 on: expected a, got none\nevents from 2 on: expected none, got a",
		},
		{
			"a response may fall anywhere", []string{`{"out":{"type":"response","id":"r"}}`, `{"out":{"type":"a"}}`},
			[]string{`{"out":{"type":"a"}}`, `{"out":{"type":"response","id":"r"}}`}, "",
		},
		{
			"but not a prompt's", []string{`{"out":{"type":"response","id":"r","command":"prompt"}}`, `{"out":{"type":"a"}}`},
			[]string{`{"out":{"type":"a"}}`, `{"out":{"type":"response","id":"r","command":"prompt"}}`},
			"events from 0 on: expected response:\"r\", got none\nevents from 2 on: expected none, got response:\"r\"",
		},
		{
			"unless it may be a command", []string{`{"in":{"type":"prompt","id":"r","message":"/x"}}`, `{"out":{"type":"response","id":"r","command":"prompt"}}`, `{"out":{"type":"a"}}`},
			[]string{`{"in":{"type":"prompt","id":"r","message":"/x"}}`, `{"out":{"type":"a"}}`, `{"out":{"type":"response","id":"r","command":"prompt"}}`}, "",
		},
		{"a lost response", []string{`{"out":{"type":"response","id":"r"}}`}, nil, `response "r": missing, was {"type": "response", "id": "r"}`},
		{"an extra response", nil, []string{`{"out":{"type":"response","id":"r"}}`}, `response "r": extra {"type": "response", "id": "r"}`},
		{"ids under other names", []string{`{"out":{"type":"a","id":"<e1>","p":"<e1>"}}`}, []string{`{"out":{"type":"a","id":"<e3>","p":"<e3>"}}`}, ""},
		{
			"ids mixed up", []string{`{"out":{"type":"a","id":"<e1>","parentId":"<e1>"}}`}, []string{`{"out":{"type":"a","id":"<e1>","parentId":"<e2>"}}`},
			`event 0 (a).parentId: expected "<e1>", got "<e2>"`,
		},
		{
			"how far an aborted answer came", []string{`{"out":{"type":"a","delta":"so "}}`, `{"out":{"type":"b","message":{"stopReason":"aborted","content":[{"text":"so "}]}}}`},
			[]string{`{"out":{"type":"a","delta":"so far and "}}`, `{"out":{"type":"b","message":{"stopReason":"aborted","content":[{"text":"so far and "}]}}}`}, "",
		},
		{
			"two aborts answered in another order", []string{`{"out":{"type":"response","id":"x","command":"abort"}}`, `{"out":{"type":"response","id":"y","command":"abort"}}`},
			[]string{`{"out":{"type":"response","id":"y","command":"abort"}}`, `{"out":{"type":"response","id":"x","command":"abort"}}`}, "",
		},
		{"arguments as a text, with other blanks", []string{`{"requests":[{"arguments":"{\"a\":1}"}]}`}, []string{`{"requests":[{"arguments":"{ \"a\": 1 }"}]}`}, ""},
		{"other arguments as a text", []string{`{"requests":[{"arguments":"{\"a\":1}"}]}`}, []string{`{"requests":[{"arguments":"{\"a\":2}"}]}`}, "requests[0].arguments.a: expected 1, got 2"},
		{
			"which call ended first",
			[]string{`{"out":{"type":"tool_execution_start","toolCallId":"x"}}`, `{"out":{"type":"tool_execution_start","toolCallId":"y"}}`, `{"out":{"type":"tool_execution_end","toolCallId":"x"}}`, `{"out":{"type":"tool_execution_update","toolCallId":"y"}}`, `{"out":{"type":"tool_execution_end","toolCallId":"y"}}`},
			[]string{`{"out":{"type":"tool_execution_start","toolCallId":"x"}}`, `{"out":{"type":"tool_execution_start","toolCallId":"y"}}`, `{"out":{"type":"tool_execution_update","toolCallId":"y"}}`, `{"out":{"type":"tool_execution_end","toolCallId":"y"}}`, `{"out":{"type":"tool_execution_end","toolCallId":"x"}}`}, "",
		},
		{
			"which extension failed first",
			[]string{`{"out":{"type":"extension_error","event":"process","extensionPath":"b"}}`, `{"out":{"type":"extension_error","event":"process","extensionPath":"a"}}`},
			[]string{`{"out":{"type":"extension_error","event":"process","extensionPath":"a"}}`, `{"out":{"type":"extension_error","event":"process","extensionPath":"b"}}`}, "",
		},
		{
			"which handler failed first",
			[]string{`{"out":{"type":"extension_error","event":"input","extensionPath":"b"}}`, `{"out":{"type":"extension_error","event":"input","extensionPath":"a"}}`},
			[]string{`{"out":{"type":"extension_error","event":"input","extensionPath":"a"}}`, `{"out":{"type":"extension_error","event":"input","extensionPath":"b"}}`},
			"event 0 (extension_error).extensionPath: expected \"b\", got \"a\"\nevent 1 (extension_error).extensionPath: expected \"a\", got \"b\"",
		},
		{"one of several texts", []string{`{"out":{"type":"a","s":{"$match":"^(old|new)$"}}}`}, []string{`{"out":{"type":"a","s":"new"}}`}, ""},
		{"none of several texts", []string{`{"out":{"type":"a","s":{"$match":"^(old|new)$"}}}`}, []string{`{"out":{"type":"a","s":"half"}}`}, `event 0 (a).s: expected {"$match": "^(old|new)$"}, got "half"`},
		{"another exit code", []string{end}, []string{`{"exit":1,"stderr":"<text>","sessions":[]}`}, "exit: expected 0, got 1"},
		{
			"failure without a word", []string{`{"exit":1,"stderr":"<text>","sessions":[]}`}, []string{`{"exit":1,"stderr":"","sessions":[]}`},
			"stderr: empty, though the agent failed",
		},
		{"a wait not met", nil, []string{`{"timeout":{"type":"x"}}`}, "waits not met: expected 0 items, got 1"},
		{"an extra file", []string{`{"work":{"a":"1"}}`}, []string{`{"work":{"a":"1","b":"2"}}`}, "work: an extra file b"},
		{"another request", []string{`{"requests":[{"model":"a"}]}`}, []string{`{"requests":[{"model":"b"}]}`}, `requests[0].model: expected "a", got "b"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			differences := Compare(transcript(t, test.recorded...), transcript(t, test.got...))
			if got := strings.Join(differences, "\n"); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}
