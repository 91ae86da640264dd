package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/tool"
)

// errInterrupted ends the calls of a batch that steering may not wait for.
var errInterrupted = errors.New("not finished: a message from the user came in and takes precedence")

// noDetails is what a failure has for details, as the reference format has it.
var noDetails = json.RawMessage("{}")

// runTools carries out the tool calls of an answer: they are prepared one
// after the other, run at the same time, and recorded in source order. more
// says whether the model has to see the results.
func (r *run) runTools(answer *message.Assistant) (results []*message.ToolResult, more bool) {
	calls := answer.ToolCalls()
	if len(calls) == 0 || answer.StopReason == message.StopError || answer.StopReason == message.StopAborted {
		return nil, false
	}
	b := &batch{run: r, jobs: make([]*job, len(calls)), reports: make(chan report), last: map[string]chan struct{}{}}
	for i, call := range calls {
		b.jobs[i] = b.prepare(call, answer.StopReason == message.StopLength)
	}
	b.execute()
	for _, j := range b.jobs {
		result, ok := r.add(j.message(r)).(*message.ToolResult)
		if !ok {
			panic("agent: the sink replaced a tool result by another kind")
		}
		results = append(results, result)
		more = more || !j.outcome.Result.Terminate
	}
	return results, more
}

// batch is the tool calls of one answer.
type batch struct {
	run     *run
	jobs    []*job
	reports chan report              // from the calls' goroutines to the loop's
	last    map[string]chan struct{} // by target: closed when the last call that was started is over
}

type job struct {
	call    tool.Call
	tool    tool.Tool
	args    json.RawMessage // as the model sent them
	outcome Outcome
	ended   *Outcome      // what it came to, before that was told; nil: it still runs
	done    bool          // the outcome stands
	after   chan struct{} // closed when the call before it with the same target is over; nil: there is none
	over    chan struct{} // closed when this one is over; nil: it has no target
}

// report is one thing that a running call has to say: an update, or its end.
type report struct {
	job     *job
	partial json.RawMessage // nil: it is the end
	outcome Outcome         // the end
}

// prepare announces a call and finds out whether it may run. One that may not
// is over at once.
func (b *batch) prepare(call message.Block, cutOff bool) *job {
	j := &job{args: call.Arguments, call: tool.Call{ID: call.ID, Name: call.Name, Arguments: call.Arguments}}
	if call.Unparsed != "" {
		j.call.Arguments = json.RawMessage(call.Unparsed) // for the check to refuse and to show
	}
	b.run.Emit(&event.ToolExecutionStart{ToolCallID: call.ID, ToolName: call.Name, Args: j.args})
	if outcome, ok := b.check(j, cutOff); !ok {
		b.end(j, outcome)
	}
	return j
}

func (b *batch) check(j *job, cutOff bool) (Outcome, bool) {
	if cutOff {
		return failure(fmt.Sprintf("The call of %s was not run: the answer reached its token limit, so the arguments may be cut off. Call the tool again with complete arguments.", j.call.Name)), false
	}
	found, ok := b.run.Find(j.call.Name)
	if !ok {
		return failure(fmt.Sprintf("There is no tool named %s", j.call.Name)), false
	}
	j.tool = found
	args, err := tool.Validate(found.Spec(), j.call.Arguments)
	if err != nil {
		return failure(err.Error()), false
	}
	j.call.Arguments = args
	if b.run.ctx.Err() != nil {
		return failure(notRunAborted), false
	}
	if b.run.Check == nil {
		return Outcome{}, true
	}
	verdict := b.run.Check(b.run.ctx, j.call)
	if b.run.ctx.Err() != nil {
		return failure(notRunAborted), false
	}
	if verdict.Refused {
		refused := failure(verdict.Reason)
		refused.Result.Terminate = verdict.Terminate
		return refused, false
	}
	if verdict.Arguments != nil {
		j.call.Arguments = verdict.Arguments
	}
	return Outcome{}, true
}

// execute runs what was prepared and passes on what the calls report, until
// the last one is done. A sequential tool runs alone.
func (b *batch) execute() {
	ctx, cancel := context.WithCancelCause(b.run.ctx)
	defer cancel(nil)
	running, next := 0, 0
	exclusive := false
	for {
		for next < len(b.jobs) && !exclusive {
			j := b.jobs[next]
			if !j.done {
				sequential := j.tool.Spec().Sequential
				if sequential && running > 0 {
					break
				}
				exclusive = sequential
				running++
				b.lineUp(j)
				go b.runJob(ctx, j)
			}
			next++
		}
		if running == 0 {
			return
		}
		if b.pass(<-b.reports) {
			running--
			exclusive = false
			b.settle()
			if b.run.Interrupted != nil && b.run.Interrupted() {
				cancel(errInterrupted)
			}
		}
	}
}

// lineUp has a call wait for the one before it that changes the same thing.
func (b *batch) lineUp(j *job) {
	target := j.tool.Spec().Target
	if target == nil {
		return
	}
	name := target(j.call.Arguments)
	if name == "" {
		return
	}
	j.after, j.over = b.last[name], make(chan struct{})
	b.last[name] = j.over
}

// pass emits what a call reported, and says whether that was its end.
func (b *batch) pass(r report) bool {
	switch {
	case r.partial == nil:
		r.job.ended = &r.outcome
		return true
	case r.job.ended != nil: // a tool that does not keep to its contract
	default:
		b.run.Emit(&event.ToolExecutionUpdate{
			ToolCallID: r.job.call.ID, ToolName: r.job.call.Name, Args: r.job.args, PartialResult: r.partial,
		})
	}
	return false
}

// settle tells of the calls that have ended: each as soon as it has, but after
// an abort in source order, since then they all end in the same moment.
func (b *batch) settle() {
	for _, j := range b.jobs {
		switch {
		case j.done:
		case j.ended != nil:
			b.end(j, *j.ended)
		case b.run.ctx.Err() != nil:
			return
		}
	}
}

// end makes an outcome the one that stands, and tells of it. What the message
// will say is then known to encode.
func (b *batch) end(j *job, outcome Outcome) {
	data, err := encodeResult(outcome.Result)
	if err != nil {
		outcome = failure(fmt.Sprintf("The result of the tool %s cannot be passed on: %v", j.call.Name, err))
		data, _ = encodeResult(outcome.Result) // a text and no details always encode
	}
	j.outcome, j.done = outcome, true
	b.run.Emit(&event.ToolExecutionEnd{ToolCallID: j.call.ID, ToolName: j.call.Name, Result: data, IsError: outcome.IsError})
}

// runJob carries out one call on its own goroutine.
func (b *batch) runJob(ctx context.Context, j *job) {
	if j.over != nil {
		defer close(j.over)
	}
	if j.after != nil {
		<-j.after // ends soon after ctx, as every call does
	}
	if err := context.Cause(ctx); err != nil {
		b.reports <- report{job: j, outcome: failure(notRun(err))}
		return
	}
	outcome := b.call(ctx, j)
	if b.run.Finish != nil {
		outcome = b.run.Finish(b.run.ctx, j.call, outcome)
	}
	b.reports <- report{job: j, outcome: outcome}
}

func (b *batch) call(ctx context.Context, j *job) (outcome Outcome) {
	over := make(chan struct{})
	defer close(over)
	defer func() {
		if p := recover(); p != nil {
			outcome = panicked(j.call.Name, p, debug.Stack())
		}
	}()
	result, err := j.tool.Run(ctx, j.call, func(partial tool.Result) { b.update(j, partial, over) })
	if err == nil {
		return Outcome{Result: result}
	}
	if errors.Is(context.Cause(ctx), errInterrupted) {
		err = errInterrupted
	}
	if !errors.Is(err, tool.ErrReported) {
		result.Content = withText(result.Content, err.Error())
	}
	if result.Details == nil {
		result.Details = noDetails
	}
	return Outcome{Result: result, IsError: true}
}

// update passes the result so far on to the loop, on the goroutine of the tool,
// whose memory it is. One that comes when the call is over is not waited for.
func (b *batch) update(j *job, partial tool.Result, over <-chan struct{}) {
	data, err := encodeResult(partial)
	if err != nil {
		return // the same result will fail as the outcome, where it is told
	}
	select {
	case b.reports <- report{job: j, partial: data}:
	case <-over:
	}
}

// withText puts an error behind what a tool had so far: in the last text
// block, after a blank line, where there is one.
func withText(content []message.Block, text string) []message.Block {
	if n := len(content); n > 0 && content[n-1].Type == message.BlockText {
		joined := content[n-1]
		joined.Text += "\n\n" + text
		return append(content[:n-1:n-1], joined)
	}
	return append(slices.Clip(content), message.TextBlock(text))
}

func (j *job) message(r *run) *message.ToolResult {
	return &message.ToolResult{
		ToolCallID: j.call.ID, ToolName: j.call.Name,
		Content: j.outcome.Result.Content, Details: j.outcome.Result.Details, Usage: j.outcome.Result.Usage,
		IsError: j.outcome.IsError, Timestamp: event.Milliseconds(r.Now()),
	}
}

func failure(text string) Outcome {
	result := tool.TextResult(text)
	result.Details = noDetails
	return Outcome{Result: result, IsError: true}
}

// panicked is the outcome of a call that brought the tool down. The stack is
// for whoever mends the tool, not for the model.
func panicked(name string, value any, stack []byte) Outcome {
	outcome := failure(fmt.Sprintf("The tool %s panicked: %v", name, value))
	details, err := message.Marshal(map[string]string{"stack": string(stack)})
	if err == nil {
		outcome.Result.Details = details
	}
	return outcome
}

const notRunAborted = "Not run: the operation was aborted"

func notRun(cause error) string {
	if errors.Is(cause, errInterrupted) {
		return "Not run: a message from the user came in and takes precedence"
	}
	return notRunAborted
}

func encodeResult(r tool.Result) (json.RawMessage, error) {
	if r.Content == nil {
		r.Content = []message.Block{}
	}
	return message.Marshal(r)
}
