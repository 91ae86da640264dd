package modelserver

import (
	"encoding/json"
	"fmt"
)

// anthropic is the Anthropic Messages API, streaming.
type anthropic struct{}

type object = map[string]any

func (anthropic) read(body []byte) (conversation, error) {
	var req struct {
		Model    string            `json:"model"`
		System   content           `json:"system"`
		Tools    []json.RawMessage `json:"tools"`
		Messages json.RawMessage   `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return conversation{}, err
	}
	var messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(req.Messages, &messages); err != nil {
		return conversation{}, fmt.Errorf("messages: %w", err)
	}
	c := conversation{model: req.Model, system: string(req.System), tools: len(req.Tools), messages: req.Messages}
	for i := len(messages) - 1; i >= 0 && c.ask == ""; i-- {
		m := messages[i]
		if m.Role == "assistant" {
			c.answers++
			continue
		}
		text, results, err := anthropicBlocks(m.Content)
		if err != nil {
			return conversation{}, fmt.Errorf("messages[%d].content: %w", i, err)
		}
		c.ask = text
		if i == len(messages)-1 {
			c.results = results
		}
	}
	return c, nil
}

// anthropicBlocks returns the text of a user message and of the tool results
// in it.
func anthropicBlocks(raw json.RawMessage) (text string, results []string, err error) {
	var whole content
	if err := json.Unmarshal(raw, &whole); err != nil {
		return "", nil, err
	}
	if raw[0] != '[' {
		return string(whole), nil, nil // a plain string
	}
	var blocks []struct {
		Type    string  `json:"type"`
		Content content `json:"content"`
	}
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return "", nil, err
	}
	for _, b := range blocks {
		if b.Type == "tool_result" {
			results = append(results, string(b.Content))
		}
	}
	return string(whole), results, nil
}

func (anthropic) open(out *stream, n int, model string, inputTokens int) writer {
	w := &anthropicWriter{out: out, request: n}
	w.event("message_start", object{"message": object{
		"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
		"usage": object{"input_tokens": inputTokens, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
	}})
	out.flush()
	return w
}

type anthropicWriter struct {
	out     *stream
	request int
	index   int // of the next content block
}

func (w *anthropicWriter) think(pieces []string) {
	w.start(object{"type": "thinking", "thinking": "", "signature": ""})
	for _, p := range pieces {
		w.delta(object{"type": "thinking_delta", "thinking": p})
	}
	w.delta(object{"type": "signature_delta", "signature": "c2ln"})
	w.stop()
}

func (w *anthropicWriter) text(pieces []string) {
	w.start(object{"type": "text", "text": ""})
	for _, p := range pieces {
		w.delta(object{"type": "text_delta", "text": p})
	}
	w.stop()
}

func (w *anthropicWriter) repeat(piece string, n int) {
	w.start(object{"type": "text", "text": ""})
	event := encodeEvent("content_block_delta", w.deltaEvent(object{"type": "text_delta", "text": piece}))
	for range n {
		w.out.rawDelta(event)
	}
	w.stop()
}

func (w *anthropicWriter) begin(piece string) {
	w.start(object{"type": "text", "text": ""})
	w.delta(object{"type": "text_delta", "text": piece})
}

func (w *anthropicWriter) call(index int, name string, arguments []string) {
	id := fmt.Sprintf("toolu_%d_%d", w.request, index)
	w.start(object{"type": "tool_use", "id": id, "name": name, "input": object{}})
	for _, a := range arguments {
		w.delta(object{"type": "input_json_delta", "partial_json": a})
	}
	w.stop()
}

func (w *anthropicWriter) end(stop string, called bool) {
	if stop == "" {
		stop = "end_turn"
		if called {
			stop = "tool_use"
		}
	}
	w.event("message_delta", object{
		"delta": object{"stop_reason": stop, "stop_sequence": nil},
		"usage": object{"output_tokens": w.out.sent + 1},
	})
	w.event("message_stop", object{})
}

func (w *anthropicWriter) start(block object) {
	w.event("content_block_start", object{"index": w.index, "content_block": block})
}

func (w *anthropicWriter) stop() {
	w.event("content_block_stop", object{"index": w.index})
	w.index++
	w.out.flush()
}

func (w *anthropicWriter) delta(delta object) {
	w.out.delta("content_block_delta", w.deltaEvent(delta))
}

func (w *anthropicWriter) deltaEvent(delta object) object {
	return object{"type": "content_block_delta", "index": w.index, "delta": delta}
}

// event writes an event whose data repeats its name, as all of this API do.
func (w *anthropicWriter) event(name string, data object) {
	data["type"] = name
	w.out.event(name, data)
}
