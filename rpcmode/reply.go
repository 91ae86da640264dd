package rpcmode

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

// reply is how a command is answered. Its methods may be called from any
// goroutine.
type reply struct {
	server  *server
	id      json.RawMessage // nil: the command had none
	command string
}

// finish answers with data, or with the error if there is one.
func (r *reply) finish(data any, err error) {
	if err != nil {
		r.fail(err)
		return
	}
	r.succeed(data)
}

// succeed answers with data; wire.None stands for none.
func (r *reply) succeed(data any) {
	parts, err := encodeSuccess(r.id, r.command, data)
	if err != nil {
		r.fail(fmt.Errorf("encode the answer: %w", err))
		return
	}
	r.send(parts)
}

func (r *reply) fail(err error) { r.send([][]byte{encodeFailure(r.id, r.command, err)}) }

// send does not wait for room in the queue: there are only as many answers as
// the client sent commands, and whoever gives one must not be held up by a
// client that does not read.
func (r *reply) send(parts [][]byte) {
	if err := r.server.out.PushParts(parts); err != nil {
		r.server.log.Debug("an answer could not be written", "command", r.command, "error", err)
	}
}

// appender is data that writes its own, compact, JSON.
type appender interface {
	AppendJSON(dst []byte) ([]byte, error)
}

// parter is data that is so long that it writes its own, compact, JSON in
// parts.
type parter interface {
	JSONParts(head []byte) ([][]byte, error)
}

// encodeSuccess gives the frame in parts.
func encodeSuccess(id json.RawMessage, command string, data any) ([][]byte, error) {
	frame := append(appendHead(nil, id, command), `true`...)
	if _, none := data.(wire.None); none {
		return [][]byte{append(frame, '}')}, nil
	}
	frame = append(frame, `,"data":`...)
	end := []byte{'}'}
	switch data := data.(type) {
	case parter:
		parts, err := data.JSONParts(frame)
		return append(parts, end), err
	case appender:
		frame, err := data.AppendJSON(frame)
		return [][]byte{frame, end}, err
	}
	body, err := message.Marshal(data)
	return [][]byte{frame, body, end}, err
}

func encodeFailure(id json.RawMessage, command string, err error) []byte {
	frame := append(appendHead(nil, id, command), `false,"error":`...)
	return append(message.AppendString(frame, err.Error()), '}')
}

func appendHead(dst []byte, id json.RawMessage, command string) []byte {
	dst = append(dst, '{')
	if id != nil {
		var compact bytes.Buffer
		if json.Compact(&compact, id) == nil {
			dst = append(append(append(dst, `"id":`...), compact.Bytes()...), ',')
		}
	}
	dst = append(dst, `"type":"response","command":`...)
	dst = message.AppendString(dst, command)
	return append(dst, `,"success":`...)
}
