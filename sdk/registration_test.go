package sdk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
)

func extension() *Extension { return newExtension(slog.New(slog.DiscardHandler)) }

type empty struct{}

func TestMistakesOfRegistrationPanic(t *testing.T) {
	command := Command{Name: "c", Run: func(*CommandContext, string) error { return nil }}
	tool := func(*ToolContext, empty) (string, error) { return "", nil }
	gate := func(*Context, *ToolCallEvent) (*ToolCallResult, error) { return nil, nil }
	for want, register := range map[string]func(x *Extension){
		`two commands of the name "c"`: func(x *Extension) { x.Command(command); x.Command(command) },
		`"a b" is no name`:             func(x *Extension) { x.Command(Command{Name: "a b", Run: command.Run}) },
		"has no Run":                   func(x *Extension) { x.Command(Command{Name: "c"}) },
		`two tools of the name "t"`: func(x *Extension) {
			AddTool(x, Tool{Name: "t"}, tool)
			AddTool(x, Tool{Name: "t"}, tool)
		},
		`name: "my.tool": expected`: func(x *Extension) { AddTool(x, Tool{Name: "my.tool"}, tool) },
		"where a struct is needed": func(x *Extension) {
			AddTool(x, Tool{Name: "t"}, func(*ToolContext, string) (string, error) { return "", nil })
		},
		"schema":                          func(x *Extension) { AddTool(x, Tool{Name: "t", Schema: json.RawMessage(`{"type":7}`)}, tool) },
		`type is "strin", where "object"`: func(x *Extension) { AddTool(x, Tool{Name: "t", Schema: json.RawMessage(`{"type":"strin"}`)}, tool) },
		`/list/*: there is no type "text"`: func(x *Extension) {
			AddTool(x, Tool{Name: "t", Schema: json.RawMessage(`{"type":"object","properties":{"list":{"type":"array","items":{"type":["null","text"]}}}}`)}, tool)
		},
		"see AddTool for what": func(x *Extension) {
			AddTool(x, Tool{Name: "t"}, func(*ToolContext, struct{ C chan int }) (string, error) { return "", nil })
		},
		"the tool t has no function":        func(x *Extension) { AddTool[empty, string](x, Tool{Name: "t"}, nil) },
		"the handler of tool_call is nil":   func(x *Extension) { On(x, ToolCall, nil) },
		"the handler of the topic a is nil": func(x *Extension) { Subscribe[string](x, "a", nil) },
		"FailOpen is for ToolCall": func(x *Extension) {
			On(x, Input, func(*Context, *InputEvent) (*InputResult, error) { return nil, nil }, FailOpen())
		},
		"ForTools is for ToolCall and ToolResult": func(x *Extension) {
			On(x, TurnEnd, func(*Context, *TurnEndEvent) error { return nil }, ForTools("bash"))
		},
		"one of the descriptors": func(x *Extension) {
			On(x, Descriptor[func(*Context, *ToolCallEvent) (*ToolCallResult, error)]{}, gate)
		},
		"needs a topic":             func(x *Extension) { Subscribe(x, "", func(*Context, BusMessage, string) error { return nil }) },
		`two flags of the name "f"`: func(x *Extension) { x.BoolFlag("f", "", false); x.StringFlag("f", "", "") },
		`two providers of the name`: func(x *Extension) { x.Provider(Provider{Name: "p"}); x.Provider(Provider{Name: "p"}) },
		"On was called after":       func(x *Extension) { x.sealed = true; On(x, ToolCall, gate) },
		"both Complete and Suggest": func(x *Extension) {
			c := command
			c.Name, c.Complete = "both", func(*Context, string) ([]string, error) { return nil, nil }
			c.Suggest = func(*Context, string) ([]Completion, error) { return nil, nil }
			x.Command(c)
		},
		"see Context.Extend":               func(x *Extension) { x.sealed = true; x.Command(command) },
		"before the registration was over": func(x *Extension) { x.Background() },
	} {
		t.Run(want, func(t *testing.T) {
			failure := guard(func() error { register(extension()); return nil })
			if failure == nil || !strings.Contains(failure.GetMessage(), want) {
				t.Errorf("it gave %v", failure)
			}
		})
	}
}

type arguments struct {
	Path  string   `json:"path" jsonschema:"the file"`
	Lines int      `json:"lines,omitempty"`
	Tags  []string `json:"tags,omitempty"`
	Where struct {
		Deep string `json:"deep,omitempty"`
	} `json:"where,omitzero"`
}

func TestToolsCheckTheirArguments(t *testing.T) {
	x := extension()
	AddTool(x, Tool{Name: "t"}, func(_ *ToolContext, in arguments) (string, error) { return in.Path, nil })
	for given, want := range map[string]string{
		`{"path":"a"}`:                               "a",
		`{"path":"a","lines":3,"tags":["x"]}`:        "a",
		`{"path":"a","reason":"because"}`:            "a",
		`{"path":"a","where":{"deep":"x","more":1}}`: "a",
		`{}`:                           `error: the arguments do not fit`,
		``:                             `error: the arguments do not fit`,
		`{"path":7}`:                   `error: the arguments do not fit`,
		`{"path":"a","lines":"three"}`: `error: the arguments do not fit`,
		`[]`:                           `error: the arguments do not fit`,
		`{"path":`:                     `error: the arguments are not JSON`,
	} {
		output, err := x.tools["t"].run(&ToolContext{}, json.RawMessage(given))
		got := message.Text(output.Content)
		if err != nil {
			got = "error: " + err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s gave %q", given, got)
		}
	}
	var schema map[string]any
	if err := json.Unmarshal(x.tools["t"].wire.GetParameters(), &schema); err != nil {
		t.Fatal(err)
	}
	if schema["type"] != "object" || fmt.Sprint(schema["required"]) != "[path]" || schema["additionalProperties"] != nil {
		t.Errorf("the schema is %v", schema)
	}
}

func TestToolOutputs(t *testing.T) {
	for name, test := range map[string]struct {
		out    any
		failed bool
		want   string
	}{
		"text":            {"hello", false, `{"content":[{"type":"text","text":"hello"}]}`},
		"no text, failed": {"", true, `{"content":null}`},
		"output":          {TextOutput("x"), true, `{"content":[{"type":"text","text":"x"}]}`},
		"pointer":         {&ToolOutput{Terminate: true}, false, `{"content":null,"terminate":true}`},
		"nil":             {(*ToolOutput)(nil), false, `{"content":null}`},
		"value":           {map[string]int{"n": 1}, false, `{"content":[{"type":"text","text":"{\"n\":1}"}],"details":{"n":1}}`},
		"value, failed":   {map[string]int{"n": 1}, true, `{"content":null}`},
	} {
		output, err := toolOutput(test.out, test.failed)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if encoded, err := message.Marshal(output); err != nil || string(encoded) != test.want {
			t.Errorf("%s became %s, %v", name, encoded, err)
		}
	}
	if _, err := toolOutput(func() {}, false); err == nil {
		t.Error("a function was written as JSON")
	}
}

// TestEveryKindHasADescriptor compares the variables with the table.
func TestEveryKindHasADescriptor(t *testing.T) {
	described := map[string]bool{}
	for _, kind := range []string{
		ProjectTrust.Kind(), ResourcesDiscover.Kind(), SessionBeforeSwitch.Kind(), SessionBeforeFork.Kind(), SessionBeforeCompact.Kind(),
		SessionBeforeTree.Kind(), Input.Kind(), BeforeAgentStart.Kind(), ContextMessages.Kind(), BeforeProviderHeaders.Kind(),
		BeforeProviderRequest.Kind(), ToolCall.Kind(), ToolResult.Kind(), UserBash.Kind(), MessageEnd.Kind(),
		SessionStart.Kind(), SessionInfoChanged.Kind(), SessionCompact.Kind(), SessionCompactFailed.Kind(), SessionTree.Kind(),
		SessionShutdown.Kind(), AgentStart.Kind(), AgentEnd.Kind(), AgentSettled.Kind(), UIPromptStart.Kind(), UIPromptEnd.Kind(),
		TurnStart.Kind(), TurnEnd.Kind(), MessageStart.Kind(), MessageUpdate.Kind(), ToolExecutionStart.Kind(), ToolExecutionUpdate.Kind(),
		ToolExecutionEnd.Kind(), AfterProviderResponse.Kind(), ModelSelect.Kind(), ThinkingLevelSelect.Kind(), RulesTriggered.Kind(),
	} {
		described[kind] = true
	}
	for _, info := range event.Table() {
		if described[string(info.Kind)] != (info.Hook != event.Closed) {
			t.Errorf("%s: the table says %v, there is a descriptor: %t", info.Kind, info.Hook, described[string(info.Kind)])
		}
	}
}

func TestStartedByHand(t *testing.T) {
	var out bytes.Buffer
	code := explain(&out, func(x *Extension) {
		x.Info("weather", "2.1")
		x.Command(Command{Name: "rain", Description: "Tell whether it rains", Run: func(*CommandContext, string) error { return nil }})
		AddTool(x, Tool{Name: "forecast", Description: "Look ahead"}, func(*ToolContext, empty) (string, error) { return "", nil })
		On(x, ToolCall, func(*Context, *ToolCallEvent) (*ToolCallResult, error) { return nil, nil }, ForTools("bash"))
	})
	for _, want := range []string{"weather 2.1 is an extension of pi", "/rain  Tell whether", "forecast  Look", "tool_call  bash", `"message":"/rain"`, "-e /", ".pi/extensions", "pi trust", "sdktest", "PI_EXTENSION_DEBUG"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, out.String())
		}
	}
	if code != 0 {
		t.Errorf("it exits with %d", code)
	}
	out.Reset()
	explain(&out, func(x *Extension) {
		AddTool(x, Tool{Name: "forecast"}, func(*ToolContext, empty) (string, error) { return "", nil })
	})
	if !strings.Contains(out.String(), "'call forecast {}'") {
		t.Errorf("it does not say how to call the tool:\n%s", out.String())
	}
	out.Reset()
	if code := explain(&out, func(*Extension) { panic("no luck") }); code == 0 || !strings.Contains(out.String(), "no luck") {
		t.Errorf("a panic gives %d and %s", code, out.String())
	}
}

func TestNegotiation(t *testing.T) {
	for offered, ok := range map[string]bool{"": true, "1": true, "2,1": true, "2": false, "11": false} {
		if _, err := negotiate(offered); (err == nil) != ok {
			t.Errorf("%q gave %v", offered, err)
		}
	}
}

func TestEntriesAreReadWhole(t *testing.T) {
	raw := `{"type":"message","id":"1","parentId":null,"timestamp":"t","message":{"role":"user","content":"hi","timestamp":1},"more":true}`
	var e Entry
	if err := json.Unmarshal([]byte(raw), &e); err != nil {
		t.Fatal(err)
	}
	if TextOf(e.Message) != "hi" || e.ParentID != nil || string(e.Raw) != raw {
		t.Errorf("it is %+v", e)
	}
	if err := json.Unmarshal([]byte(`{"type":"message","id":"1","message":7}`), &e); err == nil {
		t.Error("a message that is none was read")
	}
}
