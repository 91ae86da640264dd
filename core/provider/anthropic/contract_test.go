package anthropic_test

import (
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/anthropic"
	"github.com/seed-54e836f5/pi/core/provider/internal/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	messageStart = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m1","content":[],"usage":{"input_tokens":10,"output_tokens":1,"cache_creation_input_tokens":7,"cache_read_input_tokens":3,"cache_creation":{"ephemeral_5m_input_tokens":5,"ephemeral_1h_input_tokens":2}}}}`
	textStart    = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	textStop     = `{"type":"content_block_stop","index":0}`
	messageStop  = `{"type":"message_stop"}`
)

func textDelta(text string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`, text)
}

func messageDelta(stop string) string {
	return fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":9}}`, stop)
}

func adapter(o provider.Options) provider.Provider { return anthropic.New(o) }

var model = message.Model{ID: "m1", API: anthropic.API, Provider: "mock", Input: []string{"text", "image"}, MaxTokens: 16000}

func TestContract(t *testing.T) {
	providertest.Contract(t, providertest.Adapter{
		New:   adapter,
		Model: model,
		Begun: providertest.Events(messageStart, textStart, textDelta("partial ")),
		Whole: providertest.Events(messageStart, `{"type":"ping"}`, textStart, textDelta("Hello"), textDelta(" there."), textStop, messageDelta("end_turn"), messageStop),
		Text:  func(text string) string { return providertest.Events(textDelta(text)) },
		Failure: func(kind, text string) string {
			return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q}}`, kind, text)
		},
		Described: func(status int, kind, text string) string {
			return fmt.Sprintf(`%d {"type":"error","error":{"type":%q,"message":%q}}`, status, kind, text)
		},
	})
}
