// Todo gives the model a list of things to do. The list lives in the session:
// it is there again after a restart, and each branch has its own.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() { sdk.Main(register) }

// entryType marks our entries among those of other extensions.
const entryType = "example-todo"

// Task is one thing to do.
type Task struct {
	ID   int    `json:"id"`
	Text string `json:"text"`
	Done bool   `json:"done"`
}

// list is the state. Handlers run at the same time, so it has a mutex.
type list struct {
	mu    sync.Mutex
	tasks []Task
}

// Arguments are what the model says to the tool.
type Arguments struct {
	Action string `json:"action" jsonschema:"add, done, or list"`
	Text   string `json:"text,omitempty" jsonschema:"what to do, for add"`
	ID     int    `json:"id,omitempty" jsonschema:"which task, for done"`
}

func register(x *sdk.Extension) {
	x.Info("todo", "1.0.0")
	l := &list{}
	sdk.AddTool(x, sdk.Tool{
		Name: "todo", Description: "Keep a list of things to do: add tasks, mark them as done, list them.", Snippet: "keep a list of things to do",
		Guidelines: []string{"Use todo for work of more than two steps."}, Sequential: true,
	}, l.tool)
	x.Command(sdk.Command{Name: "todos", Description: "Show the things to do", Run: func(ctx *sdk.CommandContext, _ string) error {
		return ctx.UI.Notify(l.text(), sdk.Info)
	}})
	// Whatever brought this branch of the session up, its entries have the
	// list as it was there.
	sdk.On(x, sdk.SessionStart, func(ctx *sdk.Context, _ *sdk.SessionStartEvent) error { return l.restore(ctx) })
	sdk.On(x, sdk.SessionTree, func(ctx *sdk.Context, _ *sdk.SessionTreeEvent) error { return l.restore(ctx) })
}

func (l *list) restore(ctx *sdk.Context) error {
	entries, err := ctx.Session.Branch()
	if err != nil {
		return err
	}
	var tasks []Task
	for _, e := range entries {
		if e.CustomType == entryType {
			tasks = nil
			if err := json.Unmarshal(e.Data, &tasks); err != nil {
				return fmt.Errorf("read the list of entry %s: %w", e.ID, err)
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tasks = tasks
	return nil
}

func (l *list) tool(ctx *sdk.ToolContext, in Arguments) (sdk.ToolOutput, error) {
	tasks, err := l.change(in)
	if err != nil {
		return sdk.ToolOutput{}, err
	}
	if in.Action != "list" {
		if _, err := ctx.Session.AppendEntry(entryType, tasks); err != nil {
			return sdk.ToolOutput{}, fmt.Errorf("keep the list: %w", err)
		}
	}
	details, err := json.Marshal(map[string]any{"tasks": tasks})
	if err != nil {
		return sdk.ToolOutput{}, err
	}
	out := sdk.TextOutput(l.text())
	out.Details = details
	return out, nil
}

func (l *list) change(in Arguments) ([]Task, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch in.Action {
	case "list":
	case "add":
		if strings.TrimSpace(in.Text) == "" {
			return nil, errors.New("add needs a text")
		}
		l.tasks = append(l.tasks, Task{ID: len(l.tasks) + 1, Text: in.Text})
	case "done":
		if in.ID < 1 || in.ID > len(l.tasks) {
			return nil, fmt.Errorf("there is no task %d", in.ID)
		}
		l.tasks[in.ID-1].Done = true
	default:
		return nil, fmt.Errorf("unknown action %q: use add, done or list", in.Action)
	}
	return append([]Task{}, l.tasks...), nil
}

func (l *list) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tasks) == 0 {
		return "Nothing to do"
	}
	var out strings.Builder
	for _, t := range l.tasks {
		mark := " "
		if t.Done {
			mark = "x"
		}
		fmt.Fprintf(&out, "[%s] %d. %s\n", mark, t.ID, t.Text)
	}
	return out.String()
}
