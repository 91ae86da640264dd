// Package agent is the loop: it asks the model, runs the tool calls of each
// answer, and takes in what was queued meanwhile, until nothing is left to
// do. It knows no files, no session, no user interface and no extensions:
// all that comes in through Config and goes out through one ordered sink.
//
// It imports the standard library, core/event, core/message, core/provider and
// core/tool only.
package agent

import (
	"context"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/tool"
)

// Config is what a run works with. The functions are called on the goroutine
// of Run, except where they say otherwise.
type Config struct {
	// Next prepares the next model call from the conversation as it is then.
	// Its error becomes a failed answer.
	Next func(ctx context.Context) (Call, error)

	// Model says who would answer now, for answers that fail before Next gave a
	// call. Nil: such answers name nobody.
	Model func() message.Model

	// Find gives an active tool; false: the model named one that is not there.
	Find func(name string) (tool.Tool, bool)

	// Check looks at a call that is about to run, after its arguments were
	// found to fit, and may change or refuse it. Nil: everything runs as it is.
	Check func(ctx context.Context, call tool.Call) Verdict

	// Finish looks at the outcome of a call that ran, and may change it. It is
	// called on the call's own goroutine. Nil: outcomes stay as they are.
	Finish func(ctx context.Context, call tool.Call, o Outcome) Outcome

	// Steering takes the next steering message off the queue; taken says how
	// many this turn took already. Nil: there is never one.
	Steering func(taken int) (Queued, bool)

	// FollowUp is the same for follow-ups, asked for when the run would end.
	FollowUp func(taken int) (Queued, bool)

	// Interrupted says that the calls of the running batch that are not done
	// should be given up, because steering waits and may not. Nil: never.
	Interrupted func() bool

	// BetweenTurns is called before each model call but the first, when the
	// messages of the turn before are complete. Nil: nothing is done.
	BetweenTurns func(ctx context.Context)

	// WillRetry says whether the caller is going to run again because of how
	// this run ended; clients are told in agent_end. Nil: no.
	WillRetry func(Result) bool

	// Watch looks at each step of an answer right after it was emitted. Its
	// error ends the answer there, as an aborted one that says why; it is the
	// error of the result then. Nil: answers are let through.
	Watch func(*event.MessageUpdate) error

	// Emit is the sink: every event of the run, in order, from Run's
	// goroutine. It may replace the message of a MessageEnd, and the loop goes
	// on with that.
	Emit func(event.Event)

	// Now is the clock for messages; nil: the real one.
	Now func() time.Time
}

// Call is one prepared model call.
type Call struct {
	Model  message.Model
	Stream func(ctx context.Context, sink func(provider.Delta) error) error
}

// Queued is a message that is about to enter the conversation. Announce tells
// that it left a queue; the loop calls it just before the message enters, and
// every message taken does enter. Nil: it comes from no queue.
type Queued struct {
	Message  message.Message
	Announce func()
}

// Verdict is what Check says of a call.
type Verdict struct {
	Arguments []byte // what to run with
	Refused   bool
	Reason    string // told to the model when refused
	Terminate bool   // with Refused: end the run as a terminating tool would
}

// Outcome is what came of a tool call.
type Outcome struct {
	Result  tool.Result
	IsError bool
}

// Result is how a run ended.
type Result struct {
	Messages []message.Message // all that the run added, in order
	Last     *message.Assistant
	// Err is why the last answer failed: an error of Next or of the stream,
	// nil for one that came to its end (also with a stop reason that is an
	// error, such as a refusal).
	Err error
}

// Run takes prompts, if any, into the conversation and loops until the model has
// nothing more to do, an answer fails, or ctx ends. With ctx ended it still
// completes what it began: the prompts enter, every tool call gets its result,
// and where the model would have gone on, the last message is an assistant's
// with stop reason aborted. It returns when all its goroutines have ended.
func Run(ctx context.Context, config Config, prompts []Queued) Result {
	r := &run{Config: config, ctx: ctx}
	if r.Now == nil {
		r.Now = time.Now
	}
	r.Emit(&event.AgentStart{})
	r.loop(prompts)
	end := &event.AgentEnd{Messages: r.result.Messages}
	if r.WillRetry != nil {
		end.WillRetry = r.WillRetry(r.result)
	}
	r.Emit(end)
	return r.result
}

type run struct {
	Config
	ctx    context.Context
	result Result
	turn   int
}

// loop is the whole policy: turns while there are tool calls or steering,
// then follow-ups, then the end.
func (r *run) loop(prompts []Queued) {
	r.startTurn()
	r.deliver(prompts)
	r.deliver(r.take(r.Steering, fromQueue(prompts)))
	for {
		more := r.finishTurn(r.answer())
		if r.result.Last.StopReason == message.StopError || r.result.Last.StopReason == message.StopAborted {
			return
		}
		queued := r.waiting(more)
		if !more && len(queued) == 0 {
			return
		}
		if r.BetweenTurns != nil && r.ctx.Err() == nil {
			r.BetweenTurns(r.ctx)
		}
		r.startTurn()
		r.deliver(queued)
	}
}

// waiting takes what is queued for the next turn: steering always, follow-ups
// only where the run would end otherwise. An aborted run leaves the queue
// alone.
func (r *run) waiting(more bool) []Queued {
	if r.ctx.Err() != nil {
		return nil
	}
	queued := r.take(r.Steering, 0)
	if len(queued) == 0 && !more {
		queued = r.take(r.FollowUp, 0)
	}
	return queued
}

// fromQueue counts the prompts that the caller took off a queue: they are part
// of what a turn may take.
func fromQueue(prompts []Queued) int {
	n := 0
	for _, p := range prompts {
		if p.Announce != nil {
			n++
		}
	}
	return n
}

func (r *run) take(from func(int) (Queued, bool), taken int) []Queued {
	var queued []Queued
	for from != nil {
		q, ok := from(taken + len(queued))
		if !ok {
			break
		}
		queued = append(queued, q)
	}
	return queued
}

func (r *run) deliver(queued []Queued) {
	for _, q := range queued {
		if q.Announce != nil {
			q.Announce()
		}
		r.add(q.Message)
	}
}

func (r *run) startTurn() {
	r.Emit(&event.TurnStart{TurnIndex: r.turn, Timestamp: event.Milliseconds(r.Now())})
}

// finishTurn runs the tool calls of an answer and ends the turn. It says
// whether the model has to see the results.
func (r *run) finishTurn(answer *message.Assistant) bool {
	results, more := r.runTools(answer)
	end := &event.TurnEnd{TurnIndex: r.turn, Message: answer, ToolResults: message.List{}}
	for _, result := range results {
		end.ToolResults = append(end.ToolResults, result)
	}
	r.Emit(end)
	r.turn++
	return more
}

// add puts a message that is complete already into the conversation.
func (r *run) add(m message.Message) message.Message {
	r.Emit(&event.MessageStart{Message: m})
	return r.end(m)
}

func (r *run) end(m message.Message) message.Message {
	e := &event.MessageEnd{Message: m}
	r.Emit(e)
	r.result.Messages = append(r.result.Messages, e.Message)
	return e.Message
}
