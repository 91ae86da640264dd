package rpcmode

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/rpcmode/jsonl"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

// readInput takes lines until the input ends. It carries nothing out itself
// and waits for nothing but the next line, so that an answer to a dialog is
// always taken, whatever the commands do.
func (s *server) readInput() {
	defer close(s.inputEnded)
	for lines := jsonl.NewReader(s.options.In); ; {
		line, err := lines.Next()
		switch {
		case errors.Is(err, jsonl.ErrTooLong):
			s.refuseLine(fmt.Errorf("the line is longer than %d MiB", jsonl.MaxLine>>20))
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			s.inputErr = fmt.Errorf("read from the client: %w", err)
			return
		default:
			s.receive(line)
		}
	}
}

// receive takes one line: an answer goes to whoever waits for it, a command
// into the lane.
func (s *server) receive(line []byte) {
	members, kind, err := parseFrame(line)
	if err != nil {
		s.refuseLine(err)
		return
	}
	switch kind {
	case wire.TypeUIResponse:
		s.refuseAnswer(kind, members, s.ui.answer(members))
	case wire.TypeHostToolUpdate, wire.TypeHostToolResult:
		s.refuseAnswer(kind, members, s.host.answer(kind, members))
	default:
		s.command(kind, members)
	}
}

// parseFrame reads a line as an object with a type.
func parseFrame(line []byte) (members map[string]json.RawMessage, kind string, err error) {
	if !json.Valid(line) {
		var nothing any
		return nil, "", json.Unmarshal(line, &nothing)
	}
	if err := json.Unmarshal(line, &members); err != nil || members == nil {
		return nil, "", errors.New("expected a JSON object")
	}
	raw, there := members["type"]
	if !there {
		return nil, "", errors.New("type: missing, expected a string")
	}
	if jsonType(raw) != "string" {
		return nil, "", fmt.Errorf("type: expected a string, got %s", withArticle(jsonType(raw)))
	}
	err = json.Unmarshal(raw, &kind)
	return members, kind, err
}

// refuseLine answers a line that is no command, in the order of the input.
func (s *server) refuseLine(err error) {
	r := &reply{server: s, command: "parse"}
	s.enter(r, &job{run: func() { r.fail(fmt.Errorf("Failed to parse command: %w", err)) }}) //nolint:staticcheck // clients know these words
}

// refuseAnswer says what was wrong with an answer, if anything.
func (s *server) refuseAnswer(kind string, members map[string]json.RawMessage, err error) {
	if err != nil {
		r := &reply{server: s, id: members["id"], command: kind}
		s.enter(r, &job{run: func() { r.fail(err) }})
	}
}

// command puts a command into the lane.
func (s *server) command(kind string, members map[string]json.RawMessage) {
	r := &reply{server: s, id: members["id"], command: kind}
	known := byName[kind]
	if known == nil {
		if s.dialect == XCSH {
			r.id = nil
		}
		s.enter(r, &job{run: func() { r.fail(unknownCommand(kind)) }})
		return
	}
	j := &job{
		run:      func() { known.run(s.ctx, s, members, r) },
		patience: known.patience, begins: known.begins, stops: known.stops,
	}
	if known.withdrawn != nil {
		j.withdraw = func() { known.withdrawn(r) }
	}
	s.enter(r, j)
}

// errEnding refuses what comes after the end has begun.
var errEnding = errors.New("the process is about to end")

func (s *server) enter(r *reply, j *job) {
	if !s.lane.push(j) {
		r.fail(errEnding)
	}
}

// publish writes an event. It waits while the client does not read, and so
// holds up what the event comes from.
func (s *server) publish(e event.Event) {
	if settled, ok := e.(*event.AgentSettled); ok {
		if due := s.todos.settled(settled); due != nil {
			s.write(due)
		}
	}
	s.write(e)
}

func (s *server) write(e event.Event) {
	frame, err := s.encoder.encode(e)
	if err != nil {
		s.log.Error("an event could not be encoded", "event", e.Kind(), "error", err)
		return
	}
	if err := s.out.Write(frame); err != nil {
		s.log.Debug("an event could not be written", "event", e.Kind(), "error", err)
	}
}
