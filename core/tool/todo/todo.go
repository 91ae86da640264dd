// Package todo is the tool with which the model keeps the list of tasks.
//
// It imports the standard library, core/message, core/tool and core/todo only.
package todo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/todo"
	"github.com/seed-54e836f5/pi/core/tool"
)

// Name is what the model calls the tool.
const Name = "todo_write"

// New makes the tool on a list, which others may read and set meanwhile.
func New(list *todo.List) tool.Tool { return &writer{list: list} }

type writer struct{ list *todo.List }

// Spec implements tool.Tool.
func (*writer) Spec() tool.Spec {
	return tool.Spec{
		Name:  Name,
		Label: "Todo",
		Description: "Keep the list of tasks of this session. Lay it out with phases when work has several steps, " +
			"and update a task's status as soon as that changes. One task is in progress at a time.",
		Parameters: parameters,
		Snippet:    "keep the list of tasks",
		Guidelines: []string{"Use " + Name + " for work of three steps or more; leave no task open that is done."},
		Sequential: true,
	}
}

var parameters = json.RawMessage(`{
  "type": "object",
  "properties": {
    "phases": {
      "type": "array",
      "description": "Replaces the whole list",
      "items": {
        "type": "object",
        "properties": {
          "name": {"type": "string"},
          "tasks": {"type": "array", "items": {"type": "object", "properties": {
            "content": {"type": "string"},
            "status": {"type": "string", "enum": ["pending", "in_progress", "completed", "abandoned"]}
          }, "required": ["content"]}}
        },
        "required": ["name", "tasks"]
      }
    },
    "update": {
      "type": "array",
      "description": "Changes tasks by their ids",
      "items": {"type": "object", "properties": {
        "id": {"type": "string"},
        "content": {"type": "string"},
        "status": {"type": "string", "enum": ["pending", "in_progress", "completed", "abandoned"]}
      }, "required": ["id"]}
    },
    "add": {
      "type": "array",
      "description": "Adds tasks to a phase, given by its id or name; an unknown name makes a new phase",
      "items": {"type": "object", "properties": {
        "phase": {"type": "string"},
        "content": {"type": "string"}
      }, "required": ["phase", "content"]}
    },
    "remove": {"type": "array", "description": "Removes tasks by their ids", "items": {"type": "string"}}
  }
}`)

type arguments struct {
	Phases []todo.Phase `json:"phases"`
	Update []todo.Task  `json:"update"`
	Add    []struct {
		Phase   string `json:"phase"`
		Content string `json:"content"`
	} `json:"add"`
	Remove []string `json:"remove"`
}

// Run implements tool.Tool. A call that names an unknown task changes
// nothing.
func (w *writer) Run(_ context.Context, call tool.Call, _ func(tool.Result)) (tool.Result, error) {
	var args arguments
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return tool.Result{}, fmt.Errorf("read the arguments: %w", err)
	}
	if args.Phases == nil && len(args.Update)+len(args.Add)+len(args.Remove) == 0 {
		return tool.Result{}, errors.New("nothing to do: give phases, update, add or remove")
	}
	phases := w.list.Phases()
	if args.Phases != nil {
		phases = todo.Normalize(args.Phases)
	}
	phases, err := args.apply(phases)
	if err != nil {
		return tool.Result{}, err
	}
	phases = w.list.Set(phases)
	details, err := message.Marshal(struct {
		Phases []todo.Phase `json:"phases"`
	}{phases})
	if err != nil {
		return tool.Result{}, fmt.Errorf("encode the list: %w", err)
	}
	result := tool.TextResult(Text(phases))
	result.Details = details
	return result, nil
}

func (a *arguments) apply(phases []todo.Phase) ([]todo.Phase, error) {
	for _, change := range a.Update {
		task := find(phases, change.ID)
		if task == nil {
			return nil, unknownTask(change.ID)
		}
		if change.Content != "" {
			task.Content = change.Content
		}
		if change.Status == todo.InProgress {
			demote(phases)
		}
		if change.Status != "" {
			task.Status = change.Status
		}
	}
	for _, add := range a.Add {
		i := slices.IndexFunc(phases, func(p todo.Phase) bool { return p.ID == add.Phase || p.Name == add.Phase })
		if i < 0 {
			phases = append(phases, todo.Phase{Name: add.Phase})
			i = len(phases) - 1
		}
		phases[i].Tasks = append(phases[i].Tasks, todo.Task{Content: add.Content})
	}
	for _, id := range a.Remove {
		if find(phases, id) == nil {
			return nil, unknownTask(id)
		}
		for i := range phases {
			phases[i].Tasks = slices.DeleteFunc(phases[i].Tasks, func(t todo.Task) bool { return t.ID == id })
		}
	}
	return phases, nil
}

// demote makes room for another task in progress.
func demote(phases []todo.Phase) {
	for i := range phases {
		for j, task := range phases[i].Tasks {
			if task.Status == todo.InProgress {
				phases[i].Tasks[j].Status = todo.Pending
			}
		}
	}
}

func find(phases []todo.Phase, id string) *todo.Task {
	for i := range phases {
		for j := range phases[i].Tasks {
			if phases[i].Tasks[j].ID == id {
				return &phases[i].Tasks[j]
			}
		}
	}
	return nil
}

func unknownTask(id string) error {
	return fmt.Errorf("no task has the id %q; the list was not changed", id)
}

// Text gives the list as the model reads it.
func Text(phases []todo.Phase) string {
	if len(phases) == 0 {
		return "The list is empty."
	}
	var b strings.Builder
	for i, phase := range phases {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s (%s)\n", phase.Name, phase.ID)
		for _, task := range phase.Tasks {
			fmt.Fprintf(&b, "- [%s] %s (%s)\n", mark[task.Status], task.Content, task.ID)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

var mark = map[todo.Status]string{todo.Pending: " ", todo.InProgress: ">", todo.Completed: "x", todo.Abandoned: "-"}
