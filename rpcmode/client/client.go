package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/ui"
	"github.com/seed-54e836f5/pi/rpcmode/jsonl"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

// ErrClosed is the error of calls that the end of the connection cut off, and
// of those made later. It comes wrapped with what ended the connection.
var ErrClosed = errors.New("the connection to the agent has ended")

// CommandError is an answer that says no.
type CommandError struct {
	Command string
	Message string // the agent's own words
}

// Error implements error.
func (e *CommandError) Error() string { return e.Command + ": " + e.Message }

// Options say what to do with what the agent sends by itself. Functions are
// called from goroutines of the client and may call its methods.
type Options struct {
	// OnEvent is called with every event, one after the other; nil: nobody
	// is. A slow function makes events wait in memory, and nothing else.
	OnEvent func(event.Event)
	// OnNotice is called with every notice, in order with the events; nil:
	// notices are dropped.
	OnNotice func(ui.Notice)
	// OnDialog answers a dialog, each on a goroutine of its own. ctx ends when
	// the answer is not waited for any more. Nil: dialogs are dismissed.
	OnDialog func(ctx context.Context, d ui.Dialog) ui.Answer
}

// Client is a connection to one agent. Its methods may be called from any
// goroutine.
//
// A method that sends a command returns when the agent has answered it. Where
// the agent says no, the error wraps a *CommandError; when the connection ends,
// ErrClosed; and when ctx ends first, its error: the agent carries the command
// out all the same.
type Client struct {
	options Options
	out     *jsonl.Writer
	closeIn func() error // ends the agent's input
	process *process     // nil: the streams are somebody else's

	life    context.Context // of handlers
	end     context.CancelFunc
	own     sync.WaitGroup // of handlers
	done    chan struct{}  // closed when nothing comes any more
	deliver *Subscription  // what OnEvent and OnNotice are given

	mu            sync.Mutex
	last          int
	waiting       map[string]*pending
	subscriptions map[*Subscription]struct{}
	dialogs       map[string]context.CancelFunc
	tools         map[string]HostTool
	calls         map[string]context.CancelFunc
	err           error // why the connection has ended
}

// pending is a call that waits for its answer.
type pending struct {
	number  int
	command string
	answers chan<- answer // gets one
}

// answer is a response as it came.
type answer struct {
	success bool
	data    json.RawMessage
	message string
	err     error
}

// Attach speaks to an agent over a pair of streams. Close closes in when it
// can be.
func Attach(out io.Reader, in io.Writer, o Options) *Client {
	closeIn := func() error { return nil }
	if closer, ok := in.(io.Closer); ok {
		closeIn = closer.Close
	}
	return connect(out, in, closeIn, nil, o)
}

func connect(out io.Reader, in io.Writer, closeIn func() error, p *process, o Options) *Client {
	c := &Client{
		options: o, out: jsonl.NewWriter(in), closeIn: closeIn, process: p, done: make(chan struct{}),
		waiting: map[string]*pending{}, subscriptions: map[*Subscription]struct{}{},
		dialogs: map[string]context.CancelFunc{}, tools: map[string]HostTool{}, calls: map[string]context.CancelFunc{},
	}
	c.life, c.end = context.WithCancel(context.Background())
	c.deliver = c.Subscribe()
	c.own.Go(func() {
		for frame := range c.deliver.frames() {
			c.dispatch(frame)
		}
	})
	go c.read(out)
	return c
}

// Done is closed when the agent sends nothing any more.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err says why the connection has ended: ErrClosed, wrapped with the reason;
// nil while it has not.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// closeTime is how long Close waits for the agent to end by itself.
const closeTime = 5 * time.Second

// Close ends the agent's input, which makes it abort what runs and end, and
// waits for that and for all handlers. An agent that was spawned and does not
// end in time is killed. The error is that of a process that failed, with what
// kept the rest of the commands from it.
func (c *Client) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	err := errors.Join(c.out.Close(ctx), c.closeIn())
	if c.process != nil {
		err = errors.Join(c.process.end(ctx), err)
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		c.fail(errors.New("the agent did not end in time"))
	}
	c.end()
	c.own.Wait()
	return err
}

// call sends a command and waits for its answer, and decodes the data. What
// ends ctx ends the wait; the agent carries the command out all the same.
func call[D any](ctx context.Context, c *Client, command string, fields any) (data D, err error) {
	raw, err := c.send(ctx, command, fields)
	if err != nil || len(raw) == 0 {
		return data, err
	}
	if err := json.Unmarshal(raw, &data); err != nil {
		return data, fmt.Errorf("%s: read the answer: %w", command, err)
	}
	return data, nil
}

// Do sends a command that may have no method here, and gives the data of its
// answer as it came; fields is anything that becomes a JSON object, nil for
// none.
func (c *Client) Do(ctx context.Context, command string, fields any) (json.RawMessage, error) {
	return c.send(ctx, command, fields)
}

func (c *Client) send(ctx context.Context, command string, fields any) (json.RawMessage, error) {
	body := []byte("{}")
	if fields != nil {
		var err error
		if body, err = message.Marshal(fields); err != nil {
			return nil, fmt.Errorf("%s: encode the command: %w", command, err)
		}
	}
	answers := make(chan answer, 1)
	id, err := c.expect(command, answers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	defer c.forget(id)
	name, err := message.Marshal(command)
	if err != nil {
		return nil, fmt.Errorf("%s: encode the command: %w", command, err)
	}
	frame := message.Splice("id", []byte(`"`+id+`"`), message.Splice("type", name, body))
	if err := c.out.Write(frame); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", command, ErrClosed, err)
	}
	select {
	case a := <-answers:
		switch {
		case a.err != nil:
			return nil, fmt.Errorf("%s: %w", command, a.err)
		case !a.success:
			return nil, &CommandError{Command: command, Message: a.message}
		}
		return a.data, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: wait for the answer: %w", command, ctx.Err())
	}
}

func (c *Client) expect(command string, answers chan<- answer) (id string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return "", c.err
	}
	c.last++
	id = fmt.Sprintf("req_%d", c.last)
	c.waiting[id] = &pending{number: c.last, command: command, answers: answers}
	return id, nil
}

// take gives the call that a response is for. The xcsh dialect answers an
// unknown command without the id: that is for the first call of its name.
func (c *Client) take(id, command string, success bool) *pending {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id == "" && !success {
		for each, p := range c.waiting {
			if p.command == command && (id == "" || p.number < c.waiting[id].number) {
				id = each
			}
		}
	}
	p := c.waiting[id]
	delete(c.waiting, id)
	return p
}

func (c *Client) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// read takes frames until the agent's output ends.
func (c *Client) read(out io.Reader) {
	defer close(c.done)
	for lines := jsonl.NewReader(out); ; {
		line, err := lines.Next()
		if errors.Is(err, jsonl.ErrTooLong) {
			continue
		}
		if err != nil {
			c.fail(c.reason(err))
			return
		}
		if err := c.receive(line); err != nil {
			c.publish(frame{event: &BadFrame{Line: string(line), Reason: err.Error()}})
		}
	}
}

// reason says why the output ended: what the process has to say, or the error
// of the stream.
func (c *Client) reason(err error) error {
	if c.process != nil {
		return c.process.reason()
	}
	return err
}

func (c *Client) receive(line []byte) error {
	members, err := splitObject(line)
	if err != nil {
		return err
	}
	var kind string
	if err := json.Unmarshal(members["type"], &kind); err != nil {
		return fmt.Errorf("the frame has no type: %w", err)
	}
	switch kind {
	case wire.TypeResponse:
		return c.answered(members)
	case wire.TypeUIRequest:
		return c.shown(line)
	case wire.TypeHostToolCall:
		return c.called(line)
	case wire.TypeHostToolCancel:
		return c.cancelled(line)
	case wire.TypeReady:
		return nil
	}
	e, err := decodeEvent(kind, line)
	if err != nil {
		return err
	}
	c.publish(frame{event: e})
	return nil
}

// answered hands a response to whoever waits for it. A failure that nobody
// waits for is an event: a prompt of the xcsh dialect may fail after it was
// acknowledged.
func (c *Client) answered(members map[string]json.RawMessage) error {
	var r struct {
		id, command, message string
		success              bool
	}
	for name, target := range map[string]any{"command": &r.command, "success": &r.success, "error": &r.message, "id": &r.id} {
		if raw, there := members[name]; there {
			if err := json.Unmarshal(raw, target); err != nil && name != "id" {
				return fmt.Errorf("the response's %s: %w", name, err)
			}
		}
	}
	p := c.take(r.id, r.command, r.success)
	switch {
	case p != nil:
		p.answers <- answer{success: r.success, data: append(json.RawMessage(nil), members["data"]...), message: r.message}
	case !r.success:
		c.publish(frame{event: &LateFailure{ID: r.id, Command: r.command, Message: r.message}})
	}
	return nil
}

// fail ends the connection: calls that wait get the reason, subscriptions and
// handlers end.
func (c *Client) fail(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = ErrClosed
	if reason != nil && !errors.Is(reason, io.EOF) {
		c.err = fmt.Errorf("%w: %w", ErrClosed, reason)
	}
	for id, p := range c.waiting {
		p.answers <- answer{err: c.err}
		delete(c.waiting, id)
	}
	for s := range c.subscriptions {
		s.finish()
	}
	c.end()
}

// handle runs a handler on a goroutine that Close waits for.
func (c *Client) handle(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.own.Go(f)
	}
}

// write sends a frame that nobody answers. That it could not be sent shows in
// the end of the connection.
func (c *Client) write(v any) {
	if data, err := message.Marshal(v); err == nil {
		_ = c.out.Write(data)
	}
}
