package rpcmode

import (
	"fmt"
	"strconv"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
)

// encoder gives events their wire form in one dialect.
type encoder struct{ dialect Dialect }

// encode gives the frame of an event, in memory of its own.
func (c encoder) encode(e event.Event) ([]byte, error) {
	switch e := e.(type) {
	case *event.MessageUpdate:
		if c.dialect == XCSH && e.Partial != nil {
			return encodeFullUpdate(e)
		}
		return appendUpdate(nil, e)
	case *event.CompactionStart:
		if c.dialect == XCSH && e.Reason != event.CompactManual {
			return encodeAs("auto_compaction_start", e)
		}
	case *event.CompactionEnd:
		if c.dialect == XCSH && e.Reason != event.CompactManual {
			return encodeAs("auto_compaction_end", e)
		}
	}
	frame, err := event.Encode(e)
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.Kind(), err)
	}
	return frame, nil
}

func encodeAs(kind string, e event.Event) ([]byte, error) {
	body, err := message.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", kind, err)
	}
	return message.Splice("type", []byte(`"`+kind+`"`), body), nil
}

// appendUpdate writes a step of an answer by hand: there are as many of these
// as the model has tokens. Fields and their order are those of the struct.
func appendUpdate(dst []byte, e *event.MessageUpdate) ([]byte, error) {
	if dst == nil {
		dst = make([]byte, 0, updateSize(e))
	}
	dst = append(dst, `{"type":"message_update","assistantMessageEvent":`...)
	dst, err := appendAssistantUpdate(dst, &e.Update)
	if err != nil {
		return nil, err
	}
	if e.Usage != nil {
		usage, err := message.Marshal(e.Usage)
		if err != nil {
			return nil, fmt.Errorf("encode event message_update: %w", err)
		}
		dst = append(append(dst, `,"usage":`...), usage...)
	}
	return append(dst, '}'), nil
}

// updateSize guesses the length of a step, so that one allocation does.
func updateSize(e *event.MessageUpdate) int {
	const frame = 128
	size := frame + len(e.Update.ID) + len(e.Update.ToolName)
	for _, text := range []*string{e.Update.Delta, e.Update.Content} {
		if text != nil {
			size += len(*text) + len(*text)/8
		}
	}
	return size
}

func appendAssistantUpdate(dst []byte, u *event.AssistantUpdate) ([]byte, error) {
	dst = append(append(append(dst, `{"type":"`...), u.Type...), `","contentIndex":`...)
	dst = strconv.AppendInt(dst, int64(u.ContentIndex), 10)
	if u.ID != "" {
		dst = message.AppendString(append(dst, `,"id":`...), u.ID)
	}
	if u.ToolName != "" {
		dst = message.AppendString(append(dst, `,"toolName":`...), u.ToolName)
	}
	if u.Delta != nil {
		dst = message.AppendString(append(dst, `,"delta":`...), *u.Delta)
	}
	if u.Content != nil {
		dst = message.AppendString(append(dst, `,"content":`...), *u.Content)
	}
	if u.ToolCall != nil {
		call, err := message.Marshal(u.ToolCall)
		if err != nil {
			return nil, fmt.Errorf("encode event message_update: %w", err)
		}
		dst = append(append(dst, `,"toolCall":`...), call...)
	}
	return append(dst, '}'), nil
}

// encodeFullUpdate adds the message as far as it has come, in both places
// where clients of the xcsh dialect look for it.
func encodeFullUpdate(e *event.MessageUpdate) ([]byte, error) {
	partial, err := message.Marshal(e.Partial())
	if err != nil {
		return nil, fmt.Errorf("encode event message_update: %w", err)
	}
	frame, err := appendUpdate(make([]byte, 0, updateSize(e)+2*len(partial)), &event.MessageUpdate{Update: e.Update})
	if err != nil {
		return nil, err
	}
	frame = frame[:len(frame)-2]
	frame = append(append(frame, `,"partial":`...), partial...)
	frame = append(append(frame, `},"message":`...), partial...)
	if e.Usage != nil {
		usage, err := message.Marshal(e.Usage)
		if err != nil {
			return nil, fmt.Errorf("encode event message_update: %w", err)
		}
		frame = append(append(frame, `,"usage":`...), usage...)
	}
	return append(frame, '}'), nil
}
