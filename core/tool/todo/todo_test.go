package todo_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	list "github.com/seed-54e836f5/pi/core/todo"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/tool/todo"
)

func TestToolKeepsTheList(t *testing.T) {
	var tasks list.List
	write := todo.New(&tasks)
	for _, step := range []struct{ args, text, failure string }{
		{args: `{"phases":[{"name":"Build","tasks":[{"content":"plan"},{"content":"write"}]}]}`,
			text: "Build (phase-1)\n- [>] plan (task-1)\n- [ ] write (task-2)"},
		{args: `{"update":[{"id":"task-1","status":"completed"}],"add":[{"phase":"Build","content":"test"},{"phase":"Ship","content":"tag"}]}`,
			text: "Build (phase-1)\n- [x] plan (task-1)\n- [>] write (task-2)\n- [ ] test (task-3)\n\nShip (phase-2)\n- [ ] tag (task-4)"},
		{args: `{"update":[{"id":"task-4","status":"in_progress"},{"id":"task-3","content":"test it","status":"abandoned"}]}`,
			text: "Build (phase-1)\n- [x] plan (task-1)\n- [ ] write (task-2)\n- [-] test it (task-3)\n\nShip (phase-2)\n- [>] tag (task-4)"},
		{args: `{"remove":["task-2"],"update":[{"id":"nope"}]}`, failure: `"nope"`},
		{args: `{"remove":["task-2","task-2"]}`, failure: `"task-2"`},
		{args: `{}`, failure: "phases, update, add or remove"},
		{args: `{"remove":["task-2","task-3"]}`, text: "Build (phase-1)\n- [x] plan (task-1)\n\nShip (phase-2)\n- [>] tag (task-4)"},
		{args: `{"phases":[]}`, text: "The list is empty."},
	} {
		before := todo.Text(tasks.Phases())
		result, err := write.Run(t.Context(), tool.Call{Arguments: json.RawMessage(step.args)}, nil)
		if step.failure != "" {
			if err == nil || !strings.Contains(err.Error(), step.failure) || todo.Text(tasks.Phases()) != before {
				t.Errorf("%s: got %v, list %q", step.args, err, todo.Text(tasks.Phases()))
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", step.args, err)
		}
		var details struct{ Phases []list.Phase }
		if err := json.Unmarshal(result.Details, &details); err != nil {
			t.Fatal(err)
		}
		if got := result.Content[0].Text; got != step.text || todo.Text(details.Phases) != step.text {
			t.Errorf("%s:\n got %q\nwant %q", step.args, got, step.text)
		}
	}
}

func TestParametersAreASchema(t *testing.T) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(todo.New(new(list.List)).Spec().Parameters, &schema); err != nil {
		t.Fatal(err)
	}
	if _, err := schema.Resolve(nil); err != nil {
		t.Fatal(err)
	}
}
