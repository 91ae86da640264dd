package modelserver

import (
	"encoding/json"
	"fmt"
	"time"
)

// chat is the OpenAI chat-completions API, streaming.
type chat struct{}

func (chat) read(body []byte) (conversation, error) {
	var req struct {
		Model    string            `json:"model"`
		Tools    []json.RawMessage `json:"tools"`
		Messages json.RawMessage   `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return conversation{}, err
	}
	var messages []struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
	}
	if err := json.Unmarshal(req.Messages, &messages); err != nil {
		return conversation{}, fmt.Errorf("messages: %w", err)
	}
	c := conversation{model: req.Model, tools: len(req.Tools), messages: req.Messages}
	for _, m := range messages {
		switch m.Role {
		case "system", "developer":
			c.system += string(m.Content)
		case "user":
			c.ask, c.answers, c.results = string(m.Content), 0, nil
		case "assistant":
			c.answers++
			c.results = nil
		case "tool":
			c.results = append(c.results, string(m.Content))
		}
	}
	return c, nil
}

func (chat) open(out *stream, n int, model string, inputTokens int) writer {
	w := &chatWriter{out: out, request: n, model: model, inputTokens: inputTokens}
	w.delta(object{"role": "assistant", "content": ""})
	return w
}

type chatWriter struct {
	out         *stream
	request     int
	model       string
	inputTokens int
}

func (w *chatWriter) think(pieces []string) {
	for _, p := range pieces {
		w.delta(object{"reasoning_content": p})
	}
}

func (w *chatWriter) text(pieces []string) {
	for _, p := range pieces {
		w.delta(object{"content": p})
	}
}

func (w *chatWriter) repeat(piece string, n int) {
	event := encodeEvent("", w.chunk(object{"content": piece}, nil))
	for range n {
		w.out.rawDelta(event)
	}
}

func (w *chatWriter) begin(piece string) { w.delta(object{"content": piece}) }

func (w *chatWriter) call(index int, name string, arguments []string) {
	id := fmt.Sprintf("call_%d_%d", w.request, index)
	w.delta(object{"tool_calls": []any{object{
		"index": index, "id": id, "type": "function", "function": object{"name": name, "arguments": ""},
	}}})
	for _, a := range arguments {
		w.delta(object{"tool_calls": []any{object{"index": index, "function": object{"arguments": a}}}})
	}
}

func (w *chatWriter) end(stop string, called bool) {
	if stop == "" {
		stop = "stop"
		if called {
			stop = "tool_calls"
		}
	}
	w.out.event("", w.chunk(object{}, stop))
	usage := w.chunk(nil, nil)
	usage["choices"] = []any{}
	usage["usage"] = object{
		"prompt_tokens": w.inputTokens, "completion_tokens": w.out.sent, "total_tokens": w.inputTokens + w.out.sent,
	}
	w.out.event("", usage)
	w.out.raw([]byte("data: [DONE]\n\n"))
}

func (w *chatWriter) delta(delta object) { w.out.delta("", w.chunk(delta, nil)) }

func (w *chatWriter) chunk(delta object, finish any) object {
	return object{
		"id": fmt.Sprintf("chatcmpl-%d", w.request), "object": "chat.completion.chunk",
		"created": time.Now().Unix(), "model": w.model,
		"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}},
	}
}
