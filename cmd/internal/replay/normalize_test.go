package replay

import (
	"strings"
	"testing"
)

// transcript reads lines in the form of a recording. Work, requests and
// sessions may be left out.
func transcript(t *testing.T, lines ...string) *Transcript {
	t.Helper()
	values, err := decodeLines([]byte(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := readTranscript(values)
	if err != nil {
		t.Fatal(err)
	}
	if tr.Work == nil {
		tr.Work = object{}
	}
	return tr
}

func scenario(source string) *Scenario { return &Scenario{source: []byte(source)} }

func normalized(t *testing.T, source string, lines ...string) string {
	t.Helper()
	var b strings.Builder
	tr := normalize(transcript(t, lines...), scenario(source), "/tmp/r1")
	for _, v := range tr.values()[:len(tr.Lines)] {
		b.Write(encode(v))
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestNormalForm(t *testing.T) {
	for _, test := range []struct{ name, line, want string }{
		{"path", `"/tmp/r1/work/a"`, `"<root>/work/a"`},
		{"path in a session folder's name", `"/s/--tmp-r1-work--"`, `"/s/--<root>-work--"`},
		{"uuid", `["0199aaaa-0000-7000-8000-000000000001","0199aaaa-0000-7000-8000-000000000002","0199aaaa-0000-7000-8000-000000000001"]`, `["<u1>", "<u2>", "<u1>"]`},
		{"the scenario's own uuid", `"019a0000-0000-7000-8000-000000000001"`, `"019a0000-0000-7000-8000-000000000001"`},
		{"time", `{"timestamp":"2026-01-02T03:04:05.678Z","t":1767322800000}`, `{"t": 0, "timestamp": "<iso>"}`},
		{"the scenario's own time", `"2025-11-01T10:00:00.000Z"`, `"2025-11-01T10:00:00.000Z"`},
		{"entry ids", `{"id":"0a1b2c3d","parentId":null,"text":"at 0a1b2c3d"}`, `{"id": "<e1>", "parentId": null, "text": "at <e1>"}`},
		{"entry id in JSON in a text", `"{\"leafId\":\"0a1b2c3d\"}"`, `"{\"leafId\":\"<e1>\"}"`},
		{"the scenario's own entry id", `{"id":"aaaa0001"}`, `{"id": "aaaa0001"}`},
		{"eight digits elsewhere", `{"text":"0a1b2c3d"}`, `{"text": "0a1b2c3d"}`},
		{"tool call", `"toolu_3_0 call_9_1"`, `"<t1> <t2>"`},
		{"response", `"msg_12 chatcmpl-3"`, `"<resp> <resp>"`},
		{"port", `"http://127.0.0.1:34567/v1"`, `"http://127.0.0.1:PORT/v1"`},
		{"temporary file", `"/tmp/pi-bash-0123456789abcdef.log"`, `"/tmp/pi-bash-X.log"`},
		{"counts", `{"usage":{"input":5,"cost":{"total":0.1}},"tokensBefore":9,"n":7}`, `{"n": 7, "tokensBefore": 0, "usage": {"cost": {"total": 0}, "input": 0}}`},
		{"dialog", `{"type":"extension_ui_request","id":"x-y","method":"input"}`, `{"type": "extension_ui_request", "id": "<q1>", "method": "input"}`},
		{
			"an answer that has begun", `{"type":"message_start","message":{"stopReason":"pending","content":[{"text":"so f"}]}}`,
			`{"type": "message_start", "message": {"content": [], "stopReason": "pending"}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := normalized(t, `{}`, `{"out":`+test.line+`}`)
			if want := `{"out": ` + test.want + `}`; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	delta := func(kind, index, text string) string {
		return `{"out":{"type":"message_update","assistantMessageEvent":{"type":"` + kind + `","contentIndex":` + index + `,"delta":"` + text + `"}}}`
	}
	for _, test := range []struct {
		name  string
		lines []string
		want  string
	}{
		{
			"deltas of one block are joined",
			[]string{delta("text_delta", "0", "a"), delta("text_delta", "0", "b"), delta("text_delta", "1", "c")},
			`{"out": {"type": "message_update", "assistantMessageEvent": {"type": "text_delta", "contentIndex": 0, "delta": "ab"}}}
{"out": {"type": "message_update", "assistantMessageEvent": {"type": "text_delta", "contentIndex": 1, "delta": "c"}}}`,
		},
		{
			"deltas of two messages are not",
			[]string{delta("text_delta", "0", "a"), `{"out":{"type":"message_end"}}`, delta("text_delta", "0", "b")},
			`{"out": {"type": "message_update", "assistantMessageEvent": {"type": "text_delta", "contentIndex": 0, "delta": "a"}}}
{"out": {"type": "message_end"}}
{"out": {"type": "message_update", "assistantMessageEvent": {"type": "text_delta", "contentIndex": 0, "delta": "b"}}}`,
		},
		{
			"output of one bash command is joined over other lines",
			[]string{
				`{"out":{"type":"bash_execution_update","id":"b","delta":"1"}}`, `{"out":{"type":"turn_end"}}`,
				`{"out":{"type":"bash_execution_update","id":"b","delta":"2"}}`, `{"out":{"type":"bash_execution_update","delta":"3"}}`,
			},
			`{"out": {"type": "bash_execution_update", "id": "b", "delta": "12"}}
{"out": {"type": "turn_end"}}
{"out": {"type": "bash_execution_update", "delta": "3"}}`,
		},
		{
			"the last update of a tool call stays, before its end",
			[]string{
				`{"out":{"type":"tool_execution_update","toolCallId":"x","n":1}}`, `{"out":{"type":"tool_execution_update","toolCallId":"x","n":2}}`,
				`{"out":{"type":"turn_end"}}`, `{"out":{"type":"tool_execution_end","toolCallId":"x"}}`,
			},
			`{"out": {"type": "turn_end"}}
{"out": {"type": "tool_execution_update", "toolCallId": "x", "n": 2}}
{"out": {"type": "tool_execution_end", "toolCallId": "x"}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := normalized(t, `{}`, test.lines...); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestTexts(t *testing.T) {
	const source = `{"files":{"x.ts":"throw new Error('my own reason')"}}`
	result := func(tool, text string, failed bool) string {
		return string(encode(object{
			"toolCallId": "x", "toolName": tool, "isError": failed,
			"result": object{"content": []any{object{"text": text}}},
		}))
	}
	for _, test := range []struct{ name, line, want string }{
		{"an error is the agent's own words", `{"error":"it broke"}`, `"<text>"`},
		{"a fixed error stays", `{"error":"Unknown command: x"}`, `"Unknown command: x"`},
		{"the fixed part of an error stays", `{"error":"Failed to parse command: no"}`, `"Failed to parse command: <text>"`},
		{"fixed words stay", `{"error":"It is streaming. Give streamingBehavior."}`, `"<text> streamingBehavior"`},
		{"half of the fixed words is too few", `{"error":"It is streaming."}`, `"<text>"`},
		{"the scenario's own words stay", `{"error":"my own reason"}`, `"my own reason"`},
		{"marks stay", `{"summary":"So far: SUMMARY: mock summary."}`, `"<text> SUMMARY: mock summary."`},
		{"a tool's error", result("bash", "gone wrong", true), `"<text>"`},
		{"a tool's output stays", result("bash", "hi\n", false), `"hi\n"`},
		{"a notice at the end", result("bash", "hi\n\n[cut here]", false), `"hi"`},
		{"no output", result("bash", "(nothing)", false), `"<text>"`},
		{"a written file", result("write", "wrote 5 bytes", false), `"<text>"`},
		{"a match stays", result("grep", "a.js:1: foo", false), `"a.js:1: foo"`},
		{"a line that was cut", result("grep", "a.js:1: foo... [cut]", false), `"a.js:1: foo"`},
		{"no match", result("grep", "Nothing there", false), `"<text>"`},
		{"names stay", result("ls", "a\nb/", false), `"a\nb/"`},
		{"a request that the model repeats", `{"text":"[{\"role\":\"user\"}]"}`, `"[{<text>}]"`},
		{"another list in JSON stays", `{"text":"[{\"a\":1}]"}`, `"[{\"a\":1}]"`},
		{"what the model repeats", `{"text":"tool said: it broke"}`, `"tool said: <text>"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := normalized(t, source, `{"out":`+test.line+`}`)
			if !strings.Contains(got, ": "+test.want) {
				t.Errorf("got %s, want %s in it", got, test.want)
			}
		})
	}
}

func TestRequestTexts(t *testing.T) {
	tr := transcript(t,
		`{"out":{"type":"message_end","message":{"content":[{"text":"from the conversation"}]}}}`,
		`{"requests":[{"messages":[{"content":"from the conversation"},{"content":[{"text":"the agent's words"}]},{"content":"Ran `+"`ls`\\n```\\na\\n```"+`\n\nIt failed."},{"content":"Ran `+"`true`"+`\n(nothing)"},{"content":"Ran `+"`ls`\\n```\\na\\n```"+`"}]}]}`)
	got := string(encode(normalize(tr, scenario(`{}`), "/tmp/r1").Requests))
	want := `[{"messages": [{"content": "from the conversation"}, {"content": [{"text": "<text>"}]}, {"content": "Ran ` + "`ls`" + `\n` + "```\\na\\n```" + `<text>"}, {"content": "Ran ` + "`true`" + `\n<text>"}, {"content": "Ran ` + "`ls`" + `\n` + "```\\na\\n```" + `"}]}]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestLongTexts(t *testing.T) {
	long := strings.Repeat("x", longText+1)
	got := normalized(t, `{}`, `{"out":"`+long+`"}`)
	if !strings.HasPrefix(got, `{"out": "<long:3001:`) || len(got) > 300 {
		t.Errorf("got %s", got)
	}
	if normalized(t, `{}`, `{"out":"`+long+`y"}`) == got {
		t.Error("another text looks the same")
	}
}
