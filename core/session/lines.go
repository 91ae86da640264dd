package session

import (
	"context"
	"slices"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
)

// lane is one of the two queues.
type lane int

const (
	steering lane = iota
	followUps
	lanes
)

// queue holds what waits to enter the conversation. Session.mu guards it.
type queue struct {
	entering []*admission // on their way through the gate, in order
	lines    [lanes][]*waiting
	leaving  [lanes][]*waiting // taken by the loop, not announced yet
	nextTurn []message.Message
	tail     chan struct{} // closed when the newest waiting in hooks is through; nil: none
}

// waiting is one queued message.
type waiting struct {
	text   string // as clients see it
	value  message.Message
	hidden bool // not listed to clients: a message of an extension
	inHook bool // input hooks have it still
	gone   bool // cleared while the hooks had it

	dismiss context.CancelFunc // ends what its hooks wait for; nil: they are not at it
}

// take gives the first message of a line, nil when there is none or hooks
// have it still: what stands behind it waits too.
func (q *queue) take(l lane) *waiting {
	if len(q.lines[l]) == 0 || q.lines[l][0].inHook {
		return nil
	}
	w := q.lines[l][0]
	q.lines[l] = q.lines[l][1:]
	q.leaving[l] = append(q.leaving[l], w)
	return w
}

// reset empties the queue for another session, where its messages would be
// out of place, and gives those of extensions, of which clients do not know.
// What hooks still have is given up when it comes back.
func (q *queue) reset() (hidden []message.Message) {
	for l := range lanes {
		for _, w := range q.lines[l] {
			w.gone = true
			if w.hidden {
				hidden = append(hidden, w.value)
			}
		}
		q.lines[l], q.leaving[l] = nil, nil
	}
	hidden = append(hidden, q.nextTurn...)
	q.nextTurn = nil
	return hidden
}

// leave takes an admission that came through the gate off the list.
func (q *queue) leave(a *admission) {
	q.entering = slices.DeleteFunc(q.entering, func(other *admission) bool { return other == a })
}

// promptsEnter says whether a prompt is on its way. Others may wait for the
// gate: nothing that an abort ends comes of them.
func (q *queue) promptsEnter() bool {
	return slices.ContainsFunc(q.entering, func(a *admission) bool { return a.to == nil })
}

// dismissDialogs ends what hooks of queued messages wait for.
func (q *queue) dismissDialogs() {
	for l := range lanes {
		for _, w := range q.lines[l] {
			if w.dismiss != nil {
				w.dismiss()
			}
		}
	}
}

func (q *queue) remove(w *waiting) {
	for l := range lanes {
		q.lines[l] = slices.DeleteFunc(q.lines[l], func(other *waiting) bool { return other == w })
	}
}

// deliverable says whether a run could take something off the queue now.
func (q *queue) deliverable() bool {
	for l := range lanes {
		if len(q.lines[l]) > 0 && !q.lines[l][0].inHook {
			return true
		}
	}
	return false
}

// update makes the event that lists what waits, with what the loop has taken
// and not announced yet.
func (q *queue) update() *event.QueueUpdate {
	return &event.QueueUpdate{Steering: q.texts(steering), FollowUp: q.texts(followUps)}
}

func (q *queue) texts(l lane) []string {
	texts := []string{}
	for _, w := range slices.Concat(q.leaving[l], q.lines[l]) {
		if !w.hidden && !w.inHook {
			texts = append(texts, w.text)
		}
	}
	return texts
}

func (q *queue) count() int {
	n := 0
	for l := range lanes {
		n += len(q.texts(l))
	}
	return n
}
