package replay

import (
	"strings"

	"github.com/seed-54e836f5/pi/cmd/internal/modelserver"
)

// describeRequests reduces each request to what must be the same whoever sends
// it: the conversation, the tools by name and schema, and the fields that the
// service's behaviour depends on. Of the system prompt the lines that the
// scenario put there stay, which it marks with the word MARK.
func describeRequests(requests []modelserver.Request) []any {
	out := make([]any, 0, len(requests))
	var before string
	for _, r := range requests {
		v, err := decode(r.Body)
		body, ok := v.(object)
		if err != nil || !ok {
			out = append(out, object{"path": r.Path, "unreadable": string(r.Body)})
			continue
		}
		described := describeRequest(body)
		described["path"] = r.Path
		tools := string(encode(described["tools"]))
		if described["tools"] != nil && tools == before {
			described["tools"] = "as before"
		}
		before = tools
		out = append(out, described)
	}
	return out
}

func describeRequest(body object) object {
	out := object{}
	fields := []string{"model", "stream", "max_tokens", "max_completion_tokens", "thinking", "reasoning_effort"}
	if body["tools"] == nil {
		// A request for a summary has no tools, and is the agent's own affair.
		fields = fields[:2]
	}
	for _, name := range fields {
		if v, ok := body[name]; ok {
			out[name] = v
		}
	}
	system := content(body["system"])
	var messages []any
	all, _ := body["messages"].([]any)
	for _, m := range all {
		if role := text(m, "role"); role == "system" || role == "developer" {
			system += content(member(m, "content"))
			continue
		}
		messages = append(messages, without(m, "cache_control"))
	}
	out["messages"] = messages
	var marked []any
	for line := range strings.SplitSeq(system, "\n") {
		if strings.Contains(line, "MARK") {
			marked = append(marked, line)
		}
	}
	out["system"] = marked
	if tools, ok := body["tools"].([]any); ok {
		described := make([]any, len(tools))
		for i, t := range tools {
			described[i] = describeTool(t)
		}
		out["tools"] = described
	}
	return out
}

// content is the text of a string or of blocks.
func content(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var texts []string
	blocks, _ := v.([]any)
	for _, b := range blocks {
		texts = append(texts, text(b, "text"))
	}
	return strings.Join(texts, "\n")
}

func describeTool(t any) object {
	if f, ok := member(t, "function").(object); ok {
		t = f
	}
	schema := member(t, "input_schema")
	if schema == nil {
		schema = member(t, "parameters")
	}
	return object{"name": member(t, "name"), "schema": withoutDescriptions(schema)}
}

// without returns v with the members of that name taken out at any depth.
func without(v any, name string) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = without(item, name)
		}
		return out
	case object:
		out := make(object, len(v))
		for k, item := range v {
			if k != name {
				out[k] = without(item, name)
			}
		}
		return out
	}
	return v
}

// withoutDescriptions takes out the members "description" that are texts: a
// property of that name is an object.
func withoutDescriptions(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withoutDescriptions(item)
		}
		return out
	case object:
		out := make(object, len(v))
		for k, item := range v {
			if _, isText := item.(string); k == "description" && isText {
				continue
			}
			out[k] = withoutDescriptions(item)
		}
		return out
	}
	return v
}
