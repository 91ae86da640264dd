package rpcmode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/rpcmode/jsonl"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

var hostToolRows = []row{
	{name: "set_host_tools", origin: xcshOnly, handler: answers(setHostTools),
		doc: "Replaces the tools that the host runs itself; in force from the next model call."},
}

func setHostTools(_ context.Context, s *server, p wire.SetHostTools) (wire.ToolNames, error) {
	names := make([]string, 0, len(p.Tools))
	tools := make([]tool.Tool, 0, len(p.Tools))
	seen := map[string]bool{}
	for i, t := range p.Tools {
		at := fmt.Sprintf("tools[%d].", i)
		spec, err := tool.Offered(tool.Spec{
			Name: t.Name, Label: t.Label, Description: t.Description, Parameters: t.Parameters, Hidden: t.Hidden,
		})
		var wrong *tool.SpecError
		if errors.As(err, &wrong) {
			return wire.ToolNames{}, &fieldError{at + wrong.Field, wrong.Problem}
		}
		if seen[t.Name] {
			return wire.ToolNames{}, &fieldError{at + "name", fmt.Sprintf("%q is there already; every tool needs a name of its own", t.Name)}
		}
		seen[t.Name] = true
		names = append(names, t.Name)
		tools = append(tools, &hostTool{host: s.host, spec: spec})
	}
	s.session.SetHostTools(tools)
	return wire.ToolNames{ToolNames: names}, nil
}

// errHostGone is why a call fails whose host has closed its end.
var errHostGone = errors.New("the host that runs this tool has gone")

// host keeps the calls of host tools that are on their way. Its methods may
// be called from any goroutine.
type host struct {
	out *jsonl.Writer

	mu    sync.Mutex
	calls map[string]*hostCall
	last  int
	gone  chan struct{} // closed when nobody can answer any more
}

// hostCall is one call until it has its result.
type hostCall struct {
	news chan struct{} // has a value when there is something to take
	got  []hostNews    // guarded by host.mu
}

// hostNews is an update, or with end the result.
type hostNews struct {
	result  tool.Result
	end     bool
	isError bool
	err     error // the host's frame made no sense
}

func newHost(out *jsonl.Writer) *host {
	return &host{out: out, calls: map[string]*hostCall{}, gone: make(chan struct{})}
}

// disconnect ends the calls that are on their way, and those to come.
func (h *host) disconnect() {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.gone:
	default:
		close(h.gone)
	}
}

func (h *host) begin(call tool.Call) (id string, c *hostCall, err error) {
	h.mu.Lock()
	h.last++
	id = fmt.Sprintf("host_%d", h.last)
	c = &hostCall{news: make(chan struct{}, 1)}
	h.calls[id] = c
	h.mu.Unlock()
	return id, c, h.send(wire.HostToolCall{
		Type: wire.TypeHostToolCall, ID: id, ToolCallID: call.ID, ToolName: call.Name, Arguments: call.Arguments,
	})
}

// end forgets a call. What the host still says of it is ignored.
func (h *host) end(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.calls, id)
}

func (h *host) take(c *hostCall) []hostNews {
	h.mu.Lock()
	defer h.mu.Unlock()
	got := c.got
	c.got = nil
	return got
}

func (h *host) cancel(id string) error {
	h.mu.Lock()
	h.last++
	own := fmt.Sprintf("host_cancel_%d", h.last)
	h.mu.Unlock()
	return h.send(wire.HostToolCancel{Type: wire.TypeHostToolCancel, ID: own, TargetID: id})
}

// send does not wait for room: a call must end when its context does.
func (h *host) send(frame any) error {
	data, err := message.Marshal(frame)
	if err != nil {
		return fmt.Errorf("encode the call of a host tool: %w", err)
	}
	return h.out.Push(data)
}

// answer hands what the host says to the call that it names. Frames without a
// call are ignored. One that makes no sense is an error; if it should have
// been the result, it ends its call as well.
func (h *host) answer(kind string, members map[string]json.RawMessage) error {
	var id string
	if jsonType(members["id"]) != "string" || json.Unmarshal(members["id"], &id) != nil {
		return nil
	}
	news := readHostNews(kind, members)
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.calls[id]
	if c == nil {
		return nil
	}
	if news.err != nil && !news.end {
		return news.err
	}
	if news.end {
		delete(h.calls, id)
	}
	c.got = append(c.got, news)
	select {
	case c.news <- struct{}{}:
	default:
	}
	return news.err
}

func readHostNews(kind string, members map[string]json.RawMessage) hostNews {
	if kind == wire.TypeHostToolUpdate {
		var frame wire.HostToolUpdate
		if err := decodeFields(members, &frame); err != nil {
			return hostNews{err: err}
		}
		result, err := toolResult("partialResult", frame.PartialResult)
		return hostNews{result: result, err: err}
	}
	var frame wire.HostToolResult
	if err := decodeFields(members, &frame); err != nil {
		return hostNews{end: true, err: err}
	}
	result, err := toolResult("result", frame.Result)
	return hostNews{result: result, end: true, isError: frame.IsError, err: err}
}

// toolResult lets no picture through that services would refuse with every
// request from then on.
func toolResult(field string, o wire.HostToolOutput) (tool.Result, error) {
	result := tool.Result{Content: make([]message.Block, 0, len(o.Content)), Details: o.Details}
	for i, b := range o.Content {
		switch {
		case b.Type != "image":
			result.Content = append(result.Content, message.TextBlock(b.Text))
		case b.Data == "" || b.MimeType == "":
			return tool.Result{}, &fieldError{fmt.Sprintf("%s.content[%d]", field, i), "an image needs data and mimeType"}
		default:
			result.Content = append(result.Content, message.ImageBlock(b.Data, b.MimeType))
		}
	}
	return result, nil
}

// hostTool is a tool whose calls go to the client.
type hostTool struct {
	host *host
	spec tool.Spec
}

// Spec implements tool.Tool.
func (t *hostTool) Spec() tool.Spec { return t.spec }

// Run implements tool.Tool.
func (t *hostTool) Run(ctx context.Context, call tool.Call, update func(tool.Result)) (tool.Result, error) {
	id, c, err := t.host.begin(call)
	defer t.host.end(id)
	if err != nil {
		return tool.Result{}, errHostGone
	}
	var sofar tool.Result
	for {
		select {
		case <-c.news:
		case <-ctx.Done():
			return sofar, t.withdraw(ctx, id)
		case <-t.host.gone:
			if ctx.Err() != nil {
				return sofar, t.withdraw(ctx, id)
			}
			return sofar, errHostGone
		}
		for _, news := range t.host.take(c) {
			switch {
			case news.err != nil:
				return sofar, fmt.Errorf("the host's answer makes no sense: %w", news.err)
			case news.isError:
				return news.result, tool.ErrReported
			case news.end:
				return news.result, nil
			}
			sofar = news.result
			if update != nil {
				update(sofar)
			}
		}
	}
}

// withdraw tells the host that its answer is not waited for any more, and
// gives the reason.
func (t *hostTool) withdraw(ctx context.Context, id string) error {
	if err := t.host.cancel(id); err != nil {
		return errHostGone
	}
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return fmt.Errorf("the host's answer was not waited for: %w", cause)
	}
	return tool.ErrAborted
}
