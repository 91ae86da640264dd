package extensions

import (
	"slices"
	"strings"
	"sync"

	"github.com/seed-54e836f5/pi/core/event"
)

// encoder remembers the last event, which goes to one extension after the
// other.
type encoder struct {
	mu      sync.Mutex
	event   event.Event
	payload []byte
}

// encode gives the payload of an event. Those that are only told do not
// change, and are encoded once for all extensions.
func (h *Host) encode(e event.Event) ([]byte, error) {
	if headers, ok := e.(*event.BeforeProviderHeaders); ok {
		return event.EncodePayload(hideKeys(headers))
	}
	if info, _ := event.Lookup(e.Kind()); info.Hook != event.Observe {
		return event.EncodePayload(e)
	}
	if payload := h.encoder.last(e); payload != nil {
		return payload, nil
	}
	payload, err := event.EncodePayload(e)
	if err == nil && len(payload) <= maxRemembered {
		h.encoder.remember(e, payload)
	}
	return payload, err
}

// maxRemembered is the size of payloads that are kept until the next one.
const maxRemembered = 1 << 20

func (n *encoder) last(e event.Event) []byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.event != e {
		return nil
	}
	return n.payload
}

func (n *encoder) remember(e event.Event, payload []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.event, n.payload = e, payload
}

// secretHeaders carry keys of model services. Handlers see that they are
// there and may replace them.
var secretHeaders = []string{"authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"}

const hiddenHeader = "(hidden)"

func hideKeys(e *event.BeforeProviderHeaders) *event.BeforeProviderHeaders {
	shown := make(map[string]string, len(e.Headers))
	for name, value := range e.Headers {
		if slices.Contains(secretHeaders, strings.ToLower(name)) {
			value = hiddenHeader
		}
		shown[name] = value
	}
	return &event.BeforeProviderHeaders{Headers: shown}
}
