package event

import (
	"encoding/json"
	"fmt"

	"github.com/seed-54e836f5/pi/core/message"
)

// DecodeAs reads an event of a kind from its wire form, as Encode writes it. A
// kind that is not in the table, and data that is no object, are errors.
func DecodeAs(kind Kind, data []byte) (Event, error) {
	info, ok := Lookup(kind)
	if !ok {
		return nil, fmt.Errorf("event: kind %q is unknown", kind)
	}
	e := info.New()
	if err := json.Unmarshal(data, e); err != nil {
		return nil, fmt.Errorf("event %s: %w", kind, err)
	}
	return e, nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *TurnEnd) UnmarshalJSON(data []byte) error {
	var wire struct {
		Message     Raw          `json:"message"`
		ToolResults message.List `json:"toolResults"`
	}
	err := json.Unmarshal(data, &wire)
	if err != nil {
		return err
	}
	e.ToolResults = wire.ToolResults
	e.Message, err = message.Decode(wire.Message)
	return err
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *MessageStart) UnmarshalJSON(data []byte) (err error) {
	e.Message, err = decodeMember(data)
	return err
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *MessageEnd) UnmarshalJSON(data []byte) (err error) {
	e.Message, err = decodeMember(data)
	return err
}

func decodeMember(data []byte) (message.Message, error) {
	var wire struct {
		Message Raw `json:"message"`
	}
	if err := json.Unmarshal(data, &wire); err != nil {
		return nil, err
	}
	return message.Decode(wire.Message)
}
