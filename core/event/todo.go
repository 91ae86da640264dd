package event

// TodoReminder says that a run has ended while tasks of the todo list are
// still open.
type TodoReminder struct {
	Todos       Raw `json:"todos" doc:"those that are open: {id, content, status}[]"`
	Attempt     int `json:"attempt" doc:"from 1, counted since the list last changed"`
	MaxAttempts int `json:"maxAttempts"`
}

// TodoAutoClear says that every task of the todo list is done and that the
// list was emptied.
type TodoAutoClear struct{}

// Kind implements Event.
func (*TodoReminder) Kind() Kind { return KindTodoReminder }

// Kind implements Event.
func (*TodoAutoClear) Kind() Kind { return KindTodoAutoClear }
