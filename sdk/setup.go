package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/proto"
)

// Setup is something that a new session holds before it starts; see
// CommandContext.NewSession. Nil is none.
type Setup func() (entry any, err error)

// SetupMessage puts a message into the conversation: a *User, an *Assistant, a
// *ToolResultMessage or a *BashExecution. The model sees it with the first
// prompt.
func SetupMessage(m Message) Setup {
	return func() (any, error) {
		if m == nil {
			return nil, errors.New("SetupMessage was given no message")
		}
		encoded, err := message.Marshal(m)
		return struct {
			Type    string          `json:"type"`
			Message json.RawMessage `json:"message"`
		}{"message", encoded}, err
	}
}

// SetupCustomMessage puts a message of the extension's own type into the
// conversation.
func SetupCustomMessage(m CustomMessage) Setup {
	return func() (any, error) {
		return struct {
			Type string `json:"type"`
			CustomMessage
		}{"custom_message", m}, nil
	}
}

// SetupEntry keeps data in the session file, as Session.AppendEntry does.
func SetupEntry(customType string, data any) Setup {
	return func() (any, error) {
		encoded, err := message.Marshal(data)
		return struct {
			Type       string          `json:"type"`
			CustomType string          `json:"customType"`
			Data       json.RawMessage `json:"data"`
		}{"custom", customType, encoded}, err
	}
}

// SetupName names the session.
func SetupName(name string) Setup {
	return func() (any, error) {
		return struct {
			Type string `json:"type"`
			Name string `json:"name"`
		}{"session_info", name}, nil
	}
}

// setupEntries are the wire form of what a session is set up with.
func (c *CommandContext) setupEntries(setup []Setup) ([]json.RawMessage, error) {
	var list []json.RawMessage
	for n, each := range setup {
		if each == nil {
			continue
		}
		entry, err := each()
		if err != nil {
			return nil, fmt.Errorf("%s: setup %d: %w", proto.MethodNewSession, n, err)
		}
		encoded, err := message.Marshal(entry)
		if err != nil {
			return nil, fmt.Errorf("%s: setup %d: %w", proto.MethodNewSession, n, err)
		}
		list = append(list, encoded)
	}
	if len(list) > 0 && !slices.Contains(c.host.capabilities, proto.CapabilitySetup) {
		return nil, &hostError{text: proto.MethodNewSession + ": this version of pi cannot set a session up: update pi", kind: ErrUnavailable}
	}
	return list, nil
}
