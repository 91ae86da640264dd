package rpcmode_test

import (
	"strings"
	"testing"
)

const echoTool = `> {"id":"t","type":"set_host_tools","tools":[{"name":"echo_host","description":"Echo","parameters":{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}}]}
			< {"id":"t","type":"response","command":"set_host_tools","success":true,"data":{"toolNames":["echo_host"]}}
			> {"id":"p","type":"prompt","message":"CALL echo_host {\"message\":\"hello\"}"}
			< {"id":"p","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}
			< {"type":"tool_execution_start","toolCallId":"call_0","toolName":"echo_host","args":{"message":"hello"}}
			< {"type":"host_tool_call","id":"host_1","toolCallId":"call_0","toolName":"echo_host","arguments":{"message":"hello"}}
`

func TestHostTools(t *testing.T) {
	playAll(t, []conversation{
		{name: "updates and a result", skip: chatter, script: echoTool + `
			> {"type":"host_tool_update","id":"host_1","partialResult":{"content":[{"type":"text","text":"working"}]}}
			< {"type":"tool_execution_update",…"partialResult":{"content":[{"type":"text","text":"working"}]}}
			> {"type":"host_tool_update","id":"host_1","partialResult":{"content":[{"type":"sound"}]}}
			< {"id":"host_1","type":"response","command":"host_tool_update","success":false,"error":"partialResult.content[0].type: expected one of text, image; got \"sound\""}
			> {"type":"host_tool_update","id":"host_1","partialResult":{"content":[{"type":"image","data":"data:image/png;base64,aGk=","mimeType":"image/png"}]}}
			< {"id":"host_1","type":"response","command":"host_tool_update","success":false,"error":"partialResult.content[0].data: expected base64, without the beginning of a data: URL"}
			> {"type":"host_tool_result","id":"nope","result":{"content":[]}}
			> {"type":"host_tool_result","id":"host_1","result":{"content":[{"type":"text","text":"done"},{"type":"image","data":"aGk=","mimeType":"image/png"}],"details":{"a":1}}}
			> {"type":"host_tool_result","id":"host_1","result":{"content":[]}}
			< {"type":"tool_execution_end","toolCallId":"call_0","toolName":"echo_host","result":{"content":[{"type":"text","text":"done"},{"type":"image","data":"aGk=","mimeType":"image/png"}],"details":{"a":1}},"isError":false}
			< {"type":"agent_settled"}
		`},
		{name: "a result that is an error keeps its words", skip: chatter, script: echoTool + `
			> {"type":"host_tool_result","id":"host_1","isError":true,"result":{"content":[{"type":"text","text":"no such thing"}]}}
			< {"type":"tool_execution_end","toolCallId":"call_0","toolName":"echo_host","result":{"content":[{"type":"text","text":"no such thing"}],"details":{}},"isError":true}
			< {"type":"agent_settled"}
		`},
		{name: "a result that makes no sense fails the call", skip: chatter, script: echoTool + `
			> {"type":"host_tool_result","id":"host_1","result":"done"}
			<* {"id":"host_1","type":"response","command":"host_tool_result","success":false,"error":"result: expected an object, got a string"}
			<* {"type":"tool_execution_end","toolCallId":"call_0","toolName":"echo_host","result":{"content":[{"type":"text","text":"…result: expected an object, got a string"}],…},"isError":true}
			<* {"type":"agent_settled"}
		`},
		{name: "an image without a type fails the call", skip: chatter, script: echoTool + `
			> {"type":"host_tool_result","id":"host_1","result":{"content":[{"type":"text","text":"here"},{"type":"image","data":"aGk="}]}}
			<* {"id":"host_1","type":"response","command":"host_tool_result","success":false,"error":"result.content[1]: an image needs data and mimeType"}
			<* {"type":"tool_execution_end","toolCallId":"call_0","toolName":"echo_host","result":{"content":[{"type":"text","text":"…result.content[1]: an image needs data and mimeType"}],…},"isError":true}
			<* {"type":"agent_settled"}
		`},
		{name: "an abort takes the call back", skip: chatter, script: echoTool + `
			> {"id":"x","type":"abort"}
			< {"type":"host_tool_cancel","id":"host_cancel_2","targetId":"host_1"}
			< {"type":"tool_execution_end","toolCallId":"call_0","toolName":"echo_host","result":{"content":[{"type":"text","text":"the call was aborted"}],"details":{}},"isError":true}
			< {"type":"agent_settled","aborted":true}
			< {"id":"x","type":"response","command":"abort","success":true}
			> {"type":"host_tool_result","id":"host_1","result":{"content":[]}}
		`},
		{name: "the end of the input fails the call", skip: chatter, script: echoTool + `
			close
			< {"type":"host_tool_cancel","id":"host_cancel_2","targetId":"host_1"}
			< {"type":"tool_execution_end","toolCallId":"call_0","toolName":"echo_host","result":{"content":[{"type":"text","text":"the call was aborted"}],"details":{}},"isError":true}
			< {"type":"agent_settled",…}
		`},
		{name: "a new set replaces the old one", skip: chatter, script: `
			> {"type":"set_host_tools","tools":[{"name":"a","description":"","parameters":{}},{"name":"b","description":"","parameters":{},"hidden":true}]}
			> {"type":"set_host_tools","tools":[{"name":"c","description":"","parameters":{}}]}
			> {"id":"p","type":"prompt","message":"CALL a {}\nCALL b {}"}
			< {"type":"response","command":"set_host_tools","success":true,"data":{"toolNames":["a","b"]}}
			< {"type":"response","command":"set_host_tools","success":true,"data":{"toolNames":["c"]}}
			< {"id":"p","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}
			<* {"type":"tool_execution_start","toolCallId":"call_0",…}
			<* {"type":"tool_execution_start","toolCallId":"call_1",…}
			<* {"type":"tool_execution_end","toolCallId":"call_0",…"isError":true}
			<* {"type":"tool_execution_end","toolCallId":"call_1",…"isError":true}
			<* {"type":"agent_settled"}
		`},
	})
}

func TestTodos(t *testing.T) {
	phases := `[{"id":"phase-1","name":"Todos","tasks":[{"id":"task-1","content":"Map","status":"in_progress"}]}]`
	reminder := func(attempt string) string {
		return `< {"type":"todo_reminder","todos":[{"id":"task-1","content":"Map","status":"in_progress"}],"attempt":` + attempt + `,"maxAttempts":3}`
	}
	say := `> {"type":"prompt","message":"SAY x"}
			< {"type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}
			`
	playAll(t, []conversation{
		{name: "set, reminded of three times, and forgotten with the session", skip: chatter, script: `
			> {"id":"a","type":"set_todos","phases":[{"name":"Todos","tasks":[{"content":"Map"}]}]}
			< {"id":"a","type":"response","command":"set_todos","success":true,"data":{"todoPhases":` + phases + `}}
			> {"id":"s","type":"get_state"}
			< {"id":"s",…"todoPhases":` + phases + `}}
			` + say + reminder("1") + `
			< {"type":"agent_settled"}
			` + say + reminder("2") + `
			< {"type":"agent_settled"}
			` + say + reminder("3") + `
			< {"type":"agent_settled"}
			` + say + `
			< {"type":"agent_settled"}
			> {"id":"n","type":"new_session"}
			< {"id":"n",…}
			> {"id":"s","type":"get_state"}
			< {"id":"s",…"todoPhases":[]}}
		`},
		{name: "the model ticks them off", change: []setup{xcsh}, skip: append(chatter, "tool_execution_start", "ready"), script: `
			> {"id":"a","type":"set_todos","phases":[{"name":"Todos","tasks":[{"content":"Map"}]}]}
			< {"id":"a",…}
			> {"id":"p","type":"prompt","message":"CALL todo_write {\"update\":[{\"id\":\"task-1\",\"status\":\"completed\"}]}"}
			< {"id":"p","type":"response","command":"prompt","success":true}
			< {"type":"tool_execution_end","toolCallId":"call_0","toolName":"todo_write","result":{"content":[{"type":"text","text":"Todos (phase-1)\n- [x] Map (task-1)"}],"details":{"phases":[{"id":"phase-1",…}]}},"isError":false}
			< {"type":"todo_auto_clear"}
			< {"type":"agent_settled"}
			> {"id":"s","type":"get_state"}
			< {"id":"s",…"todoPhases":[]}}
		`},
		{name: "an aborted run reminds of nothing", skip: chatter, script: `
			> {"id":"a","type":"set_todos","phases":` + strings.ReplaceAll(phases, "in_progress", "pending") + `}
			> {"id":"p","type":"prompt","message":"HANG"}
			> {"id":"x","type":"abort"}
			< {"id":"a",…}
			< {"id":"p",…}
			< {"type":"agent_settled","aborted":true}
			< {"id":"x",…}
		`},
	})
}
