package extensions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/proto"
)

func newSession(ctx context.Context, s Session, a proto.NewSessionArgs) (any, error) {
	var setup []store.Body
	for n, raw := range a.Setup {
		body, err := setupEntry(raw)
		if err != nil {
			return nil, invalidError{fmt.Errorf("field setup, item %d: %w", n, err)}
		}
		setup = append(setup, body)
	}
	return changed(s, s.NewSession(ctx, a.ParentSession, setup...))
}

// setupEntries read the entries that a new session may be set up with.
var setupEntries = map[string]func(raw json.RawMessage) (store.Body, error){
	store.TypeMessage:       setupMessage,
	store.TypeSessionInfo:   setupBody[store.SessionInfo],
	store.TypeCustom:        setupCustom[store.Custom],
	store.TypeCustomMessage: setupCustom[store.CustomMessage],
}

func setupEntry(raw json.RawMessage) (store.Body, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, err
	}
	read, known := setupEntries[head.Type]
	if !known {
		return nil, fmt.Errorf("type %q: a session is set up with entries of the types message, custom, custom_message and session_info", head.Type)
	}
	return read(raw)
}

func setupMessage(raw json.RawMessage) (store.Body, error) {
	var entry struct {
		Message json.RawMessage `json:"message"`
	}
	if err := json.Unmarshal(raw, &entry); err != nil {
		return nil, err
	}
	m, err := message.Decode(entry.Message)
	if err != nil {
		return nil, fmt.Errorf("field message: %w", err)
	}
	switch m.Role() {
	case message.RoleUser, message.RoleAssistant, message.RoleToolResult, message.RoleBashExecution:
		return store.MessageBody{Message: m}, nil
	}
	return nil, fmt.Errorf("field message: a message of role %q has an entry type of its own, or cannot be set up", m.Role())
}

func setupBody[B store.Body](raw json.RawMessage) (store.Body, error) {
	var body B
	err := json.Unmarshal(raw, &body)
	return body, err
}

func setupCustom[B store.Body](raw json.RawMessage) (store.Body, error) {
	var named struct {
		CustomType string `json:"customType"`
	}
	if err := json.Unmarshal(raw, &named); err != nil {
		return nil, err
	}
	if named.CustomType == "" {
		return nil, errors.New("field customType is missing")
	}
	return setupBody[B](raw)
}
