package rpcmode

import (
	"context"
	"sync"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/todo"
	"github.com/seed-54e836f5/pi/core/tool"
	todotool "github.com/seed-54e836f5/pi/core/tool/todo"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

var todoRows = []row{
	{name: "set_todos", origin: xcshOnly, handler: answers(setTodos),
		doc: "Replaces the list of tasks of this session, and gives it back in its regular form."},
}

func setTodos(_ context.Context, s *server, p wire.SetTodos) (wire.Todos, error) {
	phases := make([]todo.Phase, len(p.Phases))
	for i, phase := range p.Phases {
		phases[i] = todo.Phase{ID: phase.ID, Name: phase.Name}
		for _, task := range phase.Tasks {
			phases[i].Tasks = append(phases[i].Tasks, todo.Task{ID: task.ID, Content: task.Content, Status: task.Status})
		}
	}
	s.todos.offerTool()
	return wire.Todos{TodoPhases: s.session.Todos().Set(phases)}, nil
}

// maxReminders is how often one state of the list is reminded of.
const maxReminders = 3

// todos offers the session's list of tasks to the model, and reminds of what
// is open. Its methods may be called from any goroutine.
type todos struct {
	session *session.Session

	mu       sync.Mutex
	offered  bool
	reminded uint64 // state of the list that attempts counts for
	attempts int
}

// offerTool lets the model keep the list, from the next model call on.
func (t *todos) offerTool() {
	t.mu.Lock()
	first := !t.offered
	t.offered = true
	t.mu.Unlock()
	if first {
		t.session.RegisterTools("<todo>", []tool.Tool{todotool.New(t.session.Todos())})
	}
}

// settled gives the event that is due before agent_settled, if any.
func (t *todos) settled(e *event.AgentSettled) event.Event {
	list := t.session.Todos()
	open, empty, change := list.Status()
	if empty || e.Aborted {
		return nil
	}
	if len(open) == 0 {
		list.Set(nil)
		return &event.TodoAutoClear{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reminded != change {
		t.reminded, t.attempts = change, 0
	}
	if t.attempts == maxReminders {
		return nil
	}
	t.attempts++
	tasks, err := message.Marshal(open)
	if err != nil {
		return nil // strings alone cannot fail to encode
	}
	return &event.TodoReminder{Todos: tasks, Attempt: t.attempts, MaxAttempts: maxReminders}
}
