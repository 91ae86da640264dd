// Package todo is the list of tasks that a host lays out before the first
// prompt and that the model ticks off: phases, each with its tasks.
//
// It imports the standard library only.
package todo

import (
	"fmt"
	"slices"
	"sync"
)

// Status says how far a task is.
type Status string

// The statuses of a task. The values are the wire's.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Abandoned  Status = "abandoned"
)

// Phase is a named group of tasks, in the form that set_todos and get_state
// have on the wire.
type Phase struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Tasks []Task `json:"tasks"`
}

// Task is one thing to do.
type Task struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	Status  Status `json:"status"`
}

// Open says whether the task still has to be done.
func (t Task) Open() bool { return t.Status == Pending || t.Status == InProgress }

// Normalize gives the list its regular form, in new memory: everything has an
// id that nothing else has, a phase has a name, a task a status, and exactly
// one task is in progress as long as any is open: the first that says so, or
// the first that is pending.
func Normalize(phases []Phase) []Phase {
	phaseIDs, taskIDs := ids{prefix: "phase"}, ids{prefix: "task"}
	for _, phase := range phases {
		phaseIDs.see(phase.ID)
		for _, task := range phase.Tasks {
			taskIDs.see(task.ID)
		}
	}
	out := make([]Phase, 0, len(phases))
	for i, phase := range phases {
		phase.ID = phaseIDs.give(phase.ID)
		if phase.Name == "" {
			phase.Name = fmt.Sprintf("Phase %d", i+1)
		}
		phase.Tasks = slices.Clone(phase.Tasks)
		if phase.Tasks == nil {
			phase.Tasks = []Task{}
		}
		for j := range phase.Tasks {
			phase.Tasks[j].ID = taskIDs.give(phase.Tasks[j].ID)
			if phase.Tasks[j].Status == "" {
				phase.Tasks[j].Status = Pending
			}
		}
		out = append(out, phase)
	}
	oneInProgress(out)
	return out
}

func oneInProgress(phases []Phase) {
	var current, firstPending *Task
	for i := range phases {
		for j := range phases[i].Tasks {
			switch task := &phases[i].Tasks[j]; {
			case task.Status == InProgress && current == nil:
				current = task
			case task.Status == InProgress:
				task.Status = Pending
			case task.Status == Pending && firstPending == nil:
				firstPending = task
			}
		}
	}
	if current == nil && firstPending != nil {
		firstPending.Status = InProgress
	}
}

// ids hands out ids: the one asked for unless it is empty or was given
// already, else the next free number.
type ids struct {
	prefix string
	asked  map[string]bool
	given  map[string]bool
	last   int
}

func (s *ids) see(id string) {
	if s.asked == nil {
		s.asked, s.given = map[string]bool{}, map[string]bool{}
	}
	s.asked[id] = true
}

func (s *ids) give(id string) string {
	for id == "" || s.given[id] {
		s.last++
		if next := fmt.Sprintf("%s-%d", s.prefix, s.last); !s.asked[next] && !s.given[next] {
			id = next
		}
	}
	s.given[id] = true
	return id
}

// List holds the tasks of one session. The zero value is an empty list. Its
// methods may be called from any goroutine.
type List struct {
	mu     sync.Mutex
	phases []Phase
	change uint64
}

// Set replaces the list and gives it back in regular form.
func (l *List) Set(phases []Phase) []Phase {
	phases = Normalize(phases)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.phases = phases
	l.change++
	return clone(phases)
}

// Phases gives a copy of the list; never nil.
func (l *List) Phases() []Phase {
	l.mu.Lock()
	defer l.mu.Unlock()
	return clone(l.phases)
}

// Status tells what is open, in order, whether there are no tasks at all, and
// a number that is another one after each change.
func (l *List) Status() (open []Task, empty bool, change uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	empty = true
	for _, phase := range l.phases {
		for _, task := range phase.Tasks {
			empty = false
			if task.Open() {
				open = append(open, task)
			}
		}
	}
	return open, empty, l.change
}

func clone(phases []Phase) []Phase {
	out := make([]Phase, len(phases))
	for i, phase := range phases {
		phase.Tasks = append(make([]Task, 0, len(phase.Tasks)), phase.Tasks...)
		out[i] = phase
	}
	return out
}
