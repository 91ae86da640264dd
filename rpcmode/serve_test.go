package rpcmode_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/rule"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/rpcmode"
	"github.com/seed-54e836f5/pi/rpcmode/internal/scripted"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// conversation is a script as play has it.
type conversation struct {
	name, script string
	skip         []string
	change       []setup
}

func playAll(t *testing.T, conversations []conversation) {
	t.Helper()
	for _, c := range conversations {
		t.Run(c.name, func(t *testing.T) { play(t, c.script, c.skip, c.change...) })
	}
}

// chatter are the events of a run that most scripts do not look at.
var chatter = []string{"agent_start", "turn_start", "message_start", "message_update", "message_end", "turn_end", "agent_end"}

func TestLinesThatAreNoCommands(t *testing.T) {
	const parse = `{"type":"response","command":"parse","success":false,"error":"Failed to parse command: …"}`
	playAll(t, []conversation{
		{name: "no JSON, no object, no type", script: `
			> not json
			>
			> null
			> 42
			> "x"
			> true
			> [{"type":"get_state"}]
			> {"id":"a"}
			> {"id":"b","type":5}
			> {"id":"c","type":null}
			> {"type":"get_state"
			> ` + "\ufeff" + `{"type":"get_state"}
			< ` + parse + `
			< ` + parse + `
			< ` + parse + `
			< ` + parse + `
			< ` + parse + `
			< ` + parse + `
			< ` + parse + `
			< {"type":"response","command":"parse","success":false,"error":"Failed to parse command: type: missing, expected a string"}
			< {"type":"response","command":"parse","success":false,"error":"Failed to parse command: type: expected a string, got a number"}
			< {"type":"response","command":"parse","success":false,"error":"Failed to parse command: type: expected a string, got null"}
			< ` + parse + `
			< ` + parse + `
			> {"id":"s","type":"abort_retry"}
			< {"id":"s","type":"response","command":"abort_retry","success":true}
		`},
		{name: "unknown commands", script: `
			> {"id":"a","type":"nonsense"}
			> {"type":""}
			> {"id":"b","type":"toString"}
			> {"id":"c","type":"Get_State"}
			> {"id":"n","type":"negotiate_protocol","protocolVersion":1}
			< {"id":"a","type":"response","command":"nonsense","success":false,"error":"Unknown command: nonsense"}
			< {"type":"response","command":"","success":false,"error":"Unknown command: "}
			< {"id":"b","type":"response","command":"toString","success":false,"error":"Unknown command: toString"}
			< {"id":"c","type":"response","command":"Get_State","success":false,"error":"Unknown command: Get_State"}
			< {"id":"n","type":"response","command":"negotiate_protocol","success":false,"error":"Unknown command: negotiate_protocol"}
		`},
		{name: "unknown commands in the xcsh dialect", change: []setup{xcsh}, script: `
			> {"id":"a","type":"nonsense"}
			< {"type":"ready"}
			< {"type":"response","command":"nonsense","success":false,"error":"Unknown command: nonsense"}
		`},
		{name: "answers that nobody waits for", script: `
			> {"type":"extension_ui_response","id":"nope","value":"x"}
			> {"type":"extension_ui_response"}
			> {"type":"extension_ui_response","id":5,"cancelled":true}
			> {"type":"host_tool_result","id":"host_1","result":{"content":[]}}
			> {"type":"host_tool_update","id":{}}
			> {"id":"s","type":"abort_retry"}
			< {"id":"s","type":"response","command":"abort_retry","success":true}
		`},
	})
}

func TestIdsComeBackAsTheyWere(t *testing.T) {
	playAll(t, []conversation{{name: "of every JSON type", script: `
		> {"id":7,"type":"abort_retry"}
		> {"id":12345678901234567890,"type":"abort_retry"}
		> {"id":null,"type":"abort_retry"}
		> {"id":{"a" : [1, 2]},"type":"abort_retry"}
		> {"id":"","type":"abort_retry"}
		> {"id":false,"type":"nonsense"}
		> {"id":"first","id":"last","type":"nonsense","type":"abort_retry"}
		> {"id":"\u00e9\u2028","type":"abort_retry"}
		> {"ID":"x","Type":"y","type":"abort_retry"}
		< {"id":7,"type":"response","command":"abort_retry","success":true}
		< {"id":12345678901234567890,"type":"response","command":"abort_retry","success":true}
		< {"id":null,"type":"response","command":"abort_retry","success":true}
		< {"id":{"a":[1,2]},"type":"response","command":"abort_retry","success":true}
		< {"id":"","type":"response","command":"abort_retry","success":true}
		< {"id":false,"type":"response","command":"nonsense","success":false,"error":"Unknown command: nonsense"}
		< {"id":"last","type":"response","command":"abort_retry","success":true}
		< {"id":"\u00e9\u2028","type":"response","command":"abort_retry","success":true}
		< {"type":"response","command":"abort_retry","success":true}
	`}})
}

func TestFieldsAreRefusedByName(t *testing.T) {
	for _, c := range []struct{ command, error string }{
		{`"type":"prompt"`, `message: missing, expected a string`},
		{`"type":"prompt","Message":"x"`, `message: missing, expected a string`},
		{`"type":"prompt","message":5`, `message: expected a string, got a number`},
		{`"type":"prompt","message":null`, `message: expected a string, got null`},
		{`"type":"prompt","message":["SAY x"]`, `message: expected a string, got an array`},
		{`"type":"prompt","message":"x","images":"nope"`, `images: expected an array, got a string`},
		{`"type":"prompt","message":"x","images":["nope"]`, `images[0]: expected an object, got a string`},
		{`"type":"prompt","message":"x","images":[{"type":"image","data":"x"}]`, `images[0].mimeType: missing, expected a string`},
		{`"type":"prompt","message":"x","images":[{"type":"image","data":"data:image/png;base64,QUJD","mimeType":"image/png"}]`, `images[0].data: expected base64, without the beginning of a data: URL`},
		{`"type":"prompt","message":"x","images":[{"type":"image","data":"","mimeType":"image/png"}]`, `images[0].data: expected base64, without the beginning of a data: URL`},
		{`"type":"prompt","message":"x","images":[{"type":"image","data":"QUJD","mimeType":"text/plain"}]`, `images[0].mimeType: expected an image type such as image/png`},
		{`"type":"prompt","message":"x","images":[{"type":"image","data":"QUJD","mimeType":"png"}]`, `images[0].mimeType: expected an image type such as image/png`},
		{`"type":"prompt","message":"x","images":[{"type":"image","data":"QUJD","mimeType":"image/"}]`, `images[0].mimeType: expected an image type such as image/png`},
		{`"type":"prompt","message":"x","images":[{"type":"image","data":"QUJD","mimeType":""}]`, `images[0].mimeType: expected an image type such as image/png`},
		{`"type":"prompt","message":"x","images":[{"type":"text","text":"x"}]`, `images[0].type: expected \"image\"; got \"text\"`},
		{`"type":"prompt","message":"x","streamingBehavior":"later"`, `streamingBehavior: expected one of steer, followUp; got \"later\"`},
		{`"type":"steer"`, `message: missing, expected a string`},
		{`"type":"follow_up","message":false`, `message: expected a string, got a boolean`},
		{`"type":"abort_and_prompt"`, `message: missing, expected a string`},
		{`"type":"set_model","provider":"x"`, `modelId: missing, expected a string`},
		{`"type":"set_thinking_level","level":"huge"`, `level: expected one of off, minimal, low, medium, high, xhigh, max; got \"huge\"`},
		{`"type":"set_thinking_level","level":3`, `level: expected one of off, minimal, low, medium, high, xhigh, max, got a number`},
		{`"type":"set_steering_mode","mode":"some"`, `mode: expected one of all, one-at-a-time; got \"some\"`},
		{`"type":"set_follow_up_mode"`, `mode: missing, expected one of all, one-at-a-time`},
		{`"type":"set_interrupt_mode","mode":""`, `mode: expected one of immediate, wait; got \"\"`},
		{`"type":"set_auto_retry","enabled":"yes"`, `enabled: expected a boolean, got a string`},
		{`"type":"set_auto_compaction"`, `enabled: missing, expected a boolean`},
		{`"type":"bash"`, `command: missing, expected a string`},
		{`"type":"bash","command":5`, `command: expected a string, got a number`},
		{`"type":"compact","customInstructions":7`, `customInstructions: expected a string, got a number`},
		{`"type":"export_html","outputPath":7`, `outputPath: expected a string, got a number`},
		{`"type":"switch_session"`, `sessionPath: missing, expected a string`},
		{`"type":"fork","entryId":7`, `entryId: expected a string, got a number`},
		{`"type":"get_entries","since":null`, `since: expected a string, got null`},
		{`"type":"set_session_name","name":{}`, `name: expected a string, got an object`},
		{`"type":"set_todos","phases":[{"tasks":[{"content":"a","status":"done"}]}]`,
			`phases[0].tasks[0].status: expected one of pending, in_progress, completed, abandoned; got \"done\"`},
		{`"type":"set_host_tools","tools":[{"name":"a","description":"","parameters":[]}]`, `tools[0].parameters: expected an object, got an array`},
		{`"type":"set_host_tools","tools":[{"name":"a","description":"","parameters":{}},{"name":"a","description":"","parameters":{}}]`,
			`tools[1].name: \"a\" is there already; every tool needs a name of its own`},
		{`"type":"set_host_tools","tools":[{"name":"a b","description":"","parameters":{}}]`, `tools[0].name: \"a b\": expected up to 128 letters, digits, _ and -`},
		{`"type":"set_host_tools","tools":[{"name":"a","description":"","parameters":{"type":"array"}}]`,
			`tools[0].parameters: the type of the parameters is \"array\", where \"object\" is expected`},
		{`"type":"set_host_tools","tools":[{"name":"a","description":"","parameters":{"type":5}}]`, `tools[0].parameters: the parameters are not a JSON Schema: …`},
		{`"type":"navigate_tree"`, `targetId: missing, expected a string`},
		{`"type":"get_protocol","schemas":"all"`, `schemas: expected a boolean, got a string`},
		{`"type":"list_sessions","scope":"mine"`, `scope: expected one of folder, all; got \"mine\"`},
	} {
		play(t, "> {"+c.command+"}\n< {\"type\":\"response\",\"command\":…,\"success\":false,\"error\":\""+c.error+"\"}", nil)
	}
}

func TestOptionalFieldsMayBeNull(t *testing.T) {
	playAll(t, []conversation{{name: "prompt", skip: chatter, script: `
		> {"id":"a","type":"prompt","message":"SAY x","images":null,"streamingBehavior":null}
		< {"id":"a","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}
		< {"type":"agent_settled"}
	`}})
}

func TestPrompts(t *testing.T) {
	playAll(t, []conversation{
		{name: "the response comes first, and agent_settled last", script: `
			> {"id":"req-1","type":"prompt","message":"THINK hm\nSAY Hello"}
			< {"id":"req-1","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}
			< {"type":"agent_start"}
			< {"type":"turn_start"}
			< {"type":"message_start","message":{"role":"user","content":[{"type":"text","text":"THINK hm\nSAY Hello"}],"timestamp":…}}
			< {"type":"message_end","message":{"role":"user",…}}
			< {"type":"message_start","message":{"role":"assistant",…"stopReason":"pending",…}}
			< {"type":"message_update","assistantMessageEvent":{"type":"thinking_start","contentIndex":0}…}
			< {"type":"message_update","assistantMessageEvent":{"type":"thinking_delta","contentIndex":0,"delta":"hm"}}
			< {"type":"message_update","assistantMessageEvent":{"type":"thinking_end","contentIndex":0,"content":"hm"}}
			< {"type":"message_update","assistantMessageEvent":{"type":"text_start","contentIndex":1}}
			< {"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":1,"delta":"Hello"}}
			< {"type":"message_update","assistantMessageEvent":{"type":"text_end","contentIndex":1,"content":"Hello"}}
			< {"type":"message_end","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Hello"}],…"stopReason":"stop",…}}
			< {"type":"turn_end","message":{…},"toolResults":[]}
			< {"type":"agent_end","messages":[…],"willRetry":false}
			< {"type":"agent_settled"}
		`},
		{name: "during a run it needs streamingBehavior", skip: chatter, script: `
			> {"id":"a","type":"prompt","message":"HANG"}
			< {"id":"a","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}
			> {"id":"b","type":"prompt","message":"SAY b"}
			> {"id":"c","type":"prompt","message":"SAY c","streamingBehavior":"followUp"}
			> {"id":"d","type":"prompt","message":"SAY d","streamingBehavior":"steer"}
			< {"id":"b","type":"response","command":"prompt","success":false,"error":"…streaming…streamingBehavior…"}
			< {"type":"queue_update","steering":[],"followUp":["SAY c"]}
			< {"id":"c","type":"response","command":"prompt","success":true,"data":{"disposition":"queued"}}
			< {"type":"queue_update","steering":["SAY d"],"followUp":["SAY c"]}
			< {"id":"d","type":"response","command":"prompt","success":true,"data":{"disposition":"queued"}}
			> {"id":"q","type":"clear_queue"}
			< {"type":"queue_update","steering":[],"followUp":[]}
			< {"id":"q","type":"response","command":"clear_queue","success":true,"data":{"steering":["SAY d"],"followUp":["SAY c"]}}
			> {"id":"x","type":"abort"}
			< {"type":"agent_settled"…}
			< {"id":"x","type":"response","command":"abort","success":true}
		`},
		{name: "two in one write: the second is refused", skip: chatter, script: `
			> {"id":"a","type":"prompt","message":"HANG"}
			> {"id":"b","type":"prompt","message":"SAY b"}
			<* {"id":"b","type":"response","command":"prompt","success":false,"error":"…streaming…streamingBehavior…"}
			<* {"id":"a","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}
			close
			< {"type":"agent_settled","aborted":true}
		`},
		{name: "an abort in the same write stops it", skip: chatter, script: `
			> {"id":"a","type":"prompt","message":"HANG"}
			> {"id":"x","type":"abort"}
			< {"id":"a","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}
			< {"type":"agent_settled","aborted":true}
			< {"id":"x","type":"response","command":"abort","success":true}
		`},
		{name: "abort while idle", script: `
			> {"id":"x","type":"abort"}
			> {"type":"abort"}
			<* {"id":"x","type":"response","command":"abort","success":true}
			<* {"type":"response","command":"abort","success":true}
		`},
		{name: "abort_and_prompt", skip: chatter, script: `
			> {"id":"a","type":"prompt","message":"HANG"}
			< {"id":"a","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}
			> {"id":"b","type":"abort_and_prompt","message":"SAY b"}
			> {"id":"c","type":"get_last_assistant_text"}
			< {"type":"agent_settled","aborted":true}
			<* {"id":"b","type":"response","command":"abort_and_prompt","success":true,"data":{"disposition":"started"}}
			<* {"id":"c","type":"response","command":"get_last_assistant_text",…}
			<* {"type":"agent_settled"}
		`},
		{name: "in the xcsh dialect updates carry the message", change: []setup{xcsh}, script: `
			> {"id":"a","type":"prompt","message":"SAY Hello"}
			< {"type":"ready"}
			< {"id":"a","type":"response","command":"prompt","success":true}
			< {"type":"agent_start"}
			< {"type":"turn_start"}
			< {"type":"message_start",…}
			< {"type":"message_end",…}
			< {"type":"message_start",…}
			< {"type":"message_update","assistantMessageEvent":{"type":"text_start","contentIndex":0,"partial":{"role":"assistant",…}},"message":{"role":"assistant",…}…}
			< {"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"Hello","partial":{"role":"assistant","content":[{"type":"text","text":"Hello"}],…}},"message":{"role":"assistant","content":[{"type":"text","text":"Hello"}],…}…}
			< {"type":"message_update",…}
			< {"type":"message_end",…}
			< {"type":"turn_end",…}
			< {"type":"agent_end",…}
			< {"type":"agent_settled"}
		`},
		{name: "in the xcsh dialect it is acknowledged at once, and fails again if it must", change: []setup{xcsh}, skip: chatter, script: `
			> {"id":"a","type":"prompt","message":"HANG"}
			< {"type":"ready"}
			< {"id":"a","type":"response","command":"prompt","success":true}
			> {"id":"b","type":"prompt","message":"SAY b"}
			< {"id":"b","type":"response","command":"prompt","success":true}
			< {"id":"b","type":"response","command":"prompt","success":false,"error":"…streaming…streamingBehavior…"}
			> {"id":"x","type":"abort"}
			< {"type":"agent_settled","aborted":true}
			< {"id":"x","type":"response","command":"abort","success":true}
		`},
	})
}

// A command of an extension begins no run: it is handled, and nothing settles.
func TestPromptThatIsACommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		called := ""
		r.session.RegisterCommands("test", []session.ExtensionCommand{{Name: "noop", Run: func(_ context.Context, arguments string) error {
			called = arguments
			return nil
		}}})
		r.send(`{"id":"p","type":"prompt","message":"/noop a b"}`)
		r.end()
		got := r.output.take()
		if want := `{"id":"p","type":"response","command":"prompt","success":true,"data":{"disposition":"handled"}}`; len(got) != 1 || got[0] != want {
			t.Errorf("came %q", got)
		}
		if called != "a b" {
			t.Errorf("it was called with %q", called)
		}
	})
}

// Whoever asks behind a prompt sees its effect, also when extensions, which
// prompts wait for, are not up yet.
func TestStateBehindAPrompt(t *testing.T) {
	withTemplate := func(c *session.Config, _ *rpcmode.Options) {
		up := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(up) })
		c.Extensions, c.Resources = slowExtensions(up), template{}
	}
	var conversations []conversation
	for text, streams := range map[string]string{"SAY hi": "true", "/greet you": "true", "/greet\\nyou": "true", "/unknown": "false"} {
		conversations = append(conversations, conversation{name: text, change: []setup{withTemplate}, skip: chatter, script: `
			> {"id":"p","type":"prompt","message":"` + text + `"}
			> {"id":"s","type":"get_state"}
			< {"id":"s","type":"response","command":"get_state","success":true,"data":{…"isStreaming":` + streams + `,…}}
			wait 2s
			< {"id":"p","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}
			< {"type":"agent_settled"}
		`})
	}
	playAll(t, conversations)
}

// template is one, named greet.
type template struct{}

func (template) Load(context.Context, string, event.ResourcesDiscoverResult) session.Resources {
	return template{}
}
func (template) Expand(text string) string { return text }
func (template) Commands() []session.Command {
	return []session.Command{{Name: "greet", Source: "prompt"}}
}
func (template) SystemPrompt([]tool.Spec) string { return "" }
func (template) Rules() *rule.Book               { return nil }

func TestStateAndSettings(t *testing.T) {
	playAll(t, []conversation{
		{name: "get_state", script: `
			> {"id":"s","type":"get_state"}
			< {"id":"s","type":"response","command":"get_state","success":true,"data":{"model":{"id":"m1","name":"M 1","api":"scripted","provider":"test","baseUrl":"","reasoning":true,"input":["text","image"],"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"contextWindow":200000,"maxTokens":16000},"thinkingLevel":"medium","isStreaming":false,"isCompacting":false,"steeringMode":"one-at-a-time","followUpMode":"one-at-a-time","sessionId":"s1","autoCompactionEnabled":false,"messageCount":0,"pendingMessageCount":0,"interruptMode":"wait","queuedMessageCount":0,"todoPhases":[]}}
		`},
		{name: "setters take effect in order", script: `
			> {"id":"1","type":"set_steering_mode","mode":"all"}
			> {"id":"2","type":"set_follow_up_mode","mode":"all"}
			> {"id":"3","type":"set_interrupt_mode","mode":"immediate"}
			> {"id":"4","type":"set_auto_compaction","enabled":true}
			> {"id":"5","type":"set_auto_retry","enabled":false}
			> {"id":"6","type":"set_session_name","name":" a\nb "}
			> {"id":"7","type":"set_session_name","name":" "}
			> {"id":"8","type":"set_thinking_level","level":"max"}
			> {"id":"9","type":"get_available_thinking_levels"}
			> {"id":"10","type":"cycle_thinking_level"}
			> {"id":"11","type":"set_model","provider":"test","modelId":"m2"}
			> {"id":"12","type":"cycle_thinking_level"}
			> {"id":"13","type":"set_model","provider":"x","modelId":"y"}
			> {"id":"s","type":"get_state"}
			> {"id":"14","type":"cycle_model"}
			> {"id":"15","type":"get_available_models"}
			< {"id":"1","type":"response","command":"set_steering_mode","success":true}
			< {"id":"2","type":"response","command":"set_follow_up_mode","success":true}
			< {"id":"3","type":"response","command":"set_interrupt_mode","success":true}
			< {"id":"4","type":"response","command":"set_auto_compaction","success":true}
			< {"id":"5","type":"response","command":"set_auto_retry","success":true}
			< {"type":"session_info_changed","name":"a b"}
			< {"id":"6","type":"response","command":"set_session_name","success":true}
			< {"id":"7","type":"response","command":"set_session_name","success":false,"error":"Session name cannot be empty"}
			< {"type":"thinking_level_changed","level":"high"}
			< {"id":"8","type":"response","command":"set_thinking_level","success":true}
			< {"id":"9","type":"response","command":"get_available_thinking_levels","success":true,"data":{"levels":["off","minimal","low","medium","high"]}}
			< {"type":"thinking_level_changed","level":"off"}
			< {"id":"10","type":"response","command":"cycle_thinking_level","success":true,"data":{"level":"off"}}
			< {"id":"11","type":"response","command":"set_model","success":true,"data":{"id":"m2",…}}
			< {"id":"12","type":"response","command":"cycle_thinking_level","success":true,"data":null}
			< {"id":"13","type":"response","command":"set_model","success":false,"error":"Model not found: x/y"}
			< {"id":"s","type":"response","command":"get_state","success":true,"data":{"model":{"id":"m2",…},"thinkingLevel":"off",…"steeringMode":"all","followUpMode":"all",…"sessionName":"a b","autoCompactionEnabled":true,…"interruptMode":"immediate",…}}
			< {"id":"14","type":"response","command":"cycle_model","success":true,"data":{"model":{"id":"m1",…},"thinkingLevel":"off","isScoped":false}}
			< {"id":"15","type":"response","command":"get_available_models","success":true,"data":{"models":[{"id":"m1",…},{"id":"m2",…}]}}
		`},
		{name: "one model, nothing to cycle to", change: []setup{func(c *session.Config, _ *rpcmode.Options) {
			c.Models = scripted.Models{List: c.Models.Available()[:1]}
		}}, script: `
			> {"id":"a","type":"cycle_model"}
			< {"id":"a","type":"response","command":"cycle_model","success":true,"data":null}
		`},
		{name: "an empty session", script: `
			> {"id":"a","type":"get_messages"}
			> {"id":"b","type":"get_last_assistant_text"}
			> {"id":"c","type":"get_fork_messages"}
			> {"id":"d","type":"get_commands"}
			> {"id":"e","type":"get_entries"}
			> {"id":"f","type":"get_entries","since":"nope"}
			> {"id":"g","type":"get_session_stats"}
			> {"id":"h","type":"get_extensions"}
			< {"id":"a","type":"response","command":"get_messages","success":true,"data":{"messages":[]}}
			< {"id":"b","type":"response","command":"get_last_assistant_text","success":true,"data":{"text":null}}
			< {"id":"c","type":"response","command":"get_fork_messages","success":true,"data":{"messages":[]}}
			< {"id":"d","type":"response","command":"get_commands","success":true,"data":{"commands":[]}}
			< {"id":"e","type":"response","command":"get_entries","success":true,"data":{"entries":[{"type":"model_change",…},{"type":"thinking_level_change","id":"…",…}],"leafId":"…"}}
			< {"id":"f","type":"response","command":"get_entries","success":false,"error":"Entry not found: nope"}
			< {"id":"g","type":"response","command":"get_session_stats","success":true,"data":{"sessionId":"s1","userMessages":0,…,"tokens":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0},"cost":0,…}}
			< {"id":"h","type":"response","command":"get_extensions","success":true,"data":{"extensions":[]}}
		`},
	})
}

func TestTreeCommands(t *testing.T) {
	playAll(t, []conversation{{name: "tree, label, navigation, fork", skip: append(chatter, "agent_settled"), script: `
		> {"id":"a","type":"prompt","message":"SAY one"}
		< {"id":"a","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}
		> {"id":"t","type":"get_tree"}
		< {"id":"t","type":"response","command":"get_tree","success":true,"data":{"tree":[{"entry":{"type":"model_change",…"parentId":null,…},"children":[{"entry":{…},"children":[{"entry":{"type":"message",…"role":"user",…},"children":[{"entry":{"type":"message",…"role":"assistant",…},"children":[]}]}]}]}],"leafId":"…"}}
		> {"id":"l","type":"set_label","entryId":"nope","label":"x"}
		< {"id":"l","type":"response","command":"set_label","success":false,"error":"…nope…"}
		> {"id":"f","type":"fork","entryId":"nope"}
		> {"id":"f2","type":"branch","entryId":"nope"}
		<* {"id":"f","type":"response","command":"fork","success":false,"error":"…"}
		<* {"id":"f2","type":"response","command":"branch","success":false,"error":"…"}
		> {"id":"m","type":"get_branch_messages"}
		< {"id":"m","type":"response","command":"get_branch_messages","success":true,"data":{"messages":[{"entryId":"…","text":"SAY one"}]}}
		> {"id":"c","type":"clone"}
		> {"id":"s","type":"get_state"}
		<* {"id":"c","type":"response","command":"clone","success":true,"data":{"cancelled":false}}
		<* {"id":"s","type":"response","command":"get_state","success":true,"data":{…}}
		> {"id":"n","type":"new_session"}
		< {"id":"n","type":"response","command":"new_session","success":true,"data":{"cancelled":false}}
		> {"id":"m","type":"get_messages"}
		< {"id":"m","type":"response","command":"get_messages","success":true,"data":{"messages":[]}}
	`}})
}

func TestEndOfInput(t *testing.T) {
	playAll(t, []conversation{
		{name: "idle", script: "close"},
		{name: "the last line needs no line end and is answered", script: `
			> {"id":"a","type":"abort_retry"}
			close
			< {"id":"a","type":"response","command":"abort_retry","success":true}
		`},
		{name: "a run is aborted, and its end is written", script: `
			> {"id":"a","type":"prompt","message":"HANG"}
			< {"id":"a","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}
			< {"type":"agent_start"}
			< {"type":"turn_start"}
			< {"type":"message_start","message":{"role":"user",…}}
			< {"type":"message_end","message":{"role":"user",…}}
			close
			< {"type":"message_start","message":{"role":"assistant",…}}
			< {"type":"message_end","message":{"role":"assistant",…"stopReason":"aborted",…}}
			< {"type":"turn_end",…}
			< {"type":"agent_end",…,"willRetry":false}
			< {"type":"agent_settled","aborted":true}
		`},
		{name: "answers that are owed are written", skip: chatter, script: `
			> {"id":"a","type":"prompt","message":"HANG"}
			> {"id":"x","type":"abort"}
			> {"id":"b","type":"follow_up","message":"SAY b"}
			> {"id":"c","type":"get_last_assistant_text"}
			close
			<* {"id":"a","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}
			<* {"id":"x","type":"response","command":"abort","success":true}
			<* {"type":"queue_update","steering":[],"followUp":["SAY b"]}
			<* {"id":"b","type":"response","command":"follow_up","success":true,"data":{"disposition":"queued"}}
			<* {"id":"c","type":"response","command":"get_last_assistant_text",…}
			<* {"type":"agent_settled",…}
		`},
	})
}

func TestHookThatHangsHoldsUpNothingUrgent(t *testing.T) {
	stuck := listener{event.KindThinkingLevelSelect: func(ctx context.Context, _ event.Event) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	playAll(t, []conversation{{name: "ahead commands overtake", change: []setup{withHooks(stuck)}, skip: chatter, script: `
		> {"id":"a","type":"prompt","message":"HANG"}
		< {"id":"a","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}
		> {"id":"b","type":"set_thinking_level","level":"low"}
		> {"id":"c","type":"prompt","message":"SAY c"}
		> {"id":"d","type":"bash","command":"exit 7"}
		> {"id":"s","type":"get_state"}
		> {"id":"e","type":"abort_bash"}
		> {"id":"x","type":"abort"}
		< {"type":"thinking_level_changed","level":"low"}
		wait 1100ms
		<* {"id":"s","type":"response","command":"get_state","success":true,"data":{…}}
		<* {"id":"e","type":"response","command":"abort_bash","success":true}
		<* {"id":"d","type":"response","command":"bash","success":true,"data":{"output":"","cancelled":true,"truncated":false}}
		<* {"id":"c","type":"response","command":"prompt","success":false,"error":"aborted before it began"}
		<* {"type":"agent_settled","aborted":true}
		<* {"id":"x","type":"response","command":"abort","success":true}
		> {"id":"z","type":"get_state"}
		wait 1100ms
		< {"id":"z","type":"response","command":"get_state","success":true,"data":{…"isStreaming":false,…}}
		close
		< {"id":"b","type":"response","command":"set_thinking_level","success":true}
	`}})
}
