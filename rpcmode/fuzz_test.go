package rpcmode_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// FuzzLines shows that no line can end the process, leave a command without
// its answer, or bring forth a frame that breaks the contract.
func FuzzLines(f *testing.F) {
	examples, err := os.ReadFile("internal/reference/examples.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for _, line := range strings.Split(string(examples), "\n") {
		f.Add([]byte(line))
	}
	for _, line := range []string{
		``, `null`, `[]`, `{}`, `{"type":null}`, `{"id":{},"type":"x"}`, "\xff\xfe", `{"type":"prompt","message":"CALL bash {"}`,
		`{"type":"extension_ui_response","id":"x","value":5}`, `{"type":"host_tool_result","id":"host_1","result":{"content":[{}]}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.ContainsAny(line, "\n") || runsSomething(line) {
			return
		}
		r := newRig(t)
		r.send(string(line), `{"id":"the end","type":"get_session_stats"}`)
		r.output.until(`{"id":"the end","type":"response"`)
		r.end()
	})
}

// runsSomething keeps the fuzzer from running shell commands.
func runsSomething(line []byte) bool {
	var frame map[string]any
	return json.Unmarshal(line, &frame) == nil && (frame["type"] == "bash" || frame["type"] == "shutdown")
}
