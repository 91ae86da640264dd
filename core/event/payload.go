package event

import (
	"encoding/json"
	"fmt"

	"github.com/seed-54e836f5/pi/core/message"
)

// EncodePayload gives the fields of an event as extensions see them: those of
// the wire, without type, and those that only extensions see.
func EncodePayload(e Event) ([]byte, error) {
	switch e := e.(type) {
	case *TurnStart:
		return message.Marshal(turnStartPayload{e.TurnIndex, e.Timestamp})
	case *TurnEnd:
		return message.Marshal(turnEndPayload{e.TurnIndex, e})
	}
	return message.Marshal(e)
}

// DecodePayload makes an event of the fields that EncodePayload gave. A kind
// that extensions do not see is an error.
func DecodePayload(kind Kind, payload []byte) (Event, error) {
	info, known := Lookup(kind)
	if !known || info.Hook == Closed {
		return nil, fmt.Errorf("event: extensions do not see the kind %q", kind)
	}
	e := info.New()
	if err := json.Unmarshal(payload, e); err != nil {
		return nil, fmt.Errorf("event %s: %w", kind, err)
	}
	switch e := e.(type) {
	case *TurnStart:
		var p turnStartPayload
		if err := json.Unmarshal(payload, &p); err != nil {
			return nil, fmt.Errorf("event %s: %w", kind, err)
		}
		e.TurnIndex, e.Timestamp = p.TurnIndex, p.Timestamp
	case *TurnEnd:
		var p struct {
			TurnIndex int `json:"turnIndex"`
		}
		if err := json.Unmarshal(payload, &p); err != nil {
			return nil, fmt.Errorf("event %s: %w", kind, err)
		}
		e.TurnIndex = p.TurnIndex
	}
	return e, nil
}

type turnStartPayload struct {
	TurnIndex int   `json:"turnIndex"`
	Timestamp int64 `json:"timestamp"`
}

type turnEndPayload struct {
	TurnIndex int `json:"turnIndex"`
	*TurnEnd
}
