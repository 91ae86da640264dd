package todo_test

import (
	"encoding/json"
	"testing"

	"github.com/seed-54e836f5/pi/core/todo"
)

func TestNormalize(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"nothing", `null`, `[]`},
		{"regular already",
			`[{"id":"phase-1","name":"P","tasks":[{"id":"task-1","content":"a","status":"in_progress"},{"id":"task-2","content":"b","status":"pending"}]}]`,
			`[{"id":"phase-1","name":"P","tasks":[{"id":"task-1","content":"a","status":"in_progress"},{"id":"task-2","content":"b","status":"pending"}]}]`},
		{"everything missing",
			`[{"tasks":[{"content":"a"},{"content":"b"}]},{}]`,
			`[{"id":"phase-1","name":"Phase 1","tasks":[{"id":"task-1","content":"a","status":"in_progress"},{"id":"task-2","content":"b","status":"pending"}]},{"id":"phase-2","name":"Phase 2","tasks":[]}]`},
		{"ids twice, and one that would be handed out next",
			`[{"id":"x","name":"P","tasks":[{"content":"a"},{"id":"task-1","content":"b"},{"id":"task-1","content":"c"}]},{"id":"x","name":"Q"}]`,
			`[{"id":"x","name":"P","tasks":[{"id":"task-2","content":"a","status":"in_progress"},{"id":"task-1","content":"b","status":"pending"},{"id":"task-3","content":"c","status":"pending"}]},{"id":"phase-1","name":"Q","tasks":[]}]`},
		{"several in progress",
			`[{"id":"p","name":"P","tasks":[{"id":"1","content":"a","status":"pending"},{"id":"2","content":"b","status":"in_progress"},{"id":"3","content":"c","status":"in_progress"}]}]`,
			`[{"id":"p","name":"P","tasks":[{"id":"1","content":"a","status":"pending"},{"id":"2","content":"b","status":"in_progress"},{"id":"3","content":"c","status":"pending"}]}]`},
		{"all done",
			`[{"id":"p","name":"P","tasks":[{"id":"1","content":"a","status":"completed"},{"id":"2","content":"b","status":"abandoned"}]}]`,
			`[{"id":"p","name":"P","tasks":[{"id":"1","content":"a","status":"completed"},{"id":"2","content":"b","status":"abandoned"}]}]`},
	} {
		var phases []todo.Phase
		if err := json.Unmarshal([]byte(test.in), &phases); err != nil {
			t.Fatal(err)
		}
		first := todo.Normalize(phases)
		for _, got := range [][]todo.Phase{first, todo.Normalize(first)} {
			if text, _ := json.Marshal(got); string(text) != test.want {
				t.Errorf("%s:\n got %s\nwant %s", test.name, text, test.want)
			}
		}
	}
}

func TestListKeepsItsOwnMemory(t *testing.T) {
	var list todo.List
	in := []todo.Phase{{Tasks: []todo.Task{{Content: "a"}, {Content: "b", Status: todo.Completed}}}}
	out := list.Set(in)
	in[0].Tasks[0].Content, out[0].Tasks[0].Content = "changed", "changed"
	list.Phases()[0].Tasks[0].Content = "changed"
	open, empty, before := list.Status()
	if len(open) != 1 || open[0].Content != "a" || empty {
		t.Errorf("open %v, empty %v", open, empty)
	}
	list.Set(nil)
	open, empty, after := list.Status()
	if len(open) != 0 || !empty || before == after || list.Phases() == nil {
		t.Errorf("after emptying: open %v, any %v, change %d then %d", open, empty, before, after)
	}
}
