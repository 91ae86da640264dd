package sdk

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/tool"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// Tool says what the model and the user are told about a tool.
type Tool struct {
	// Name is what the model calls it: letters, digits, _ and -.
	Name        string
	Label       string // for people; empty: the name
	Description string
	// Snippet is the tool's line in the system prompt's list; empty: it is not
	// listed there.
	Snippet string
	// Guidelines are sentences for the system prompt, there while the tool is
	// active. They stand alone, so each names the tool.
	Guidelines []string
	// Sequential tools do not run at the same time as others.
	Sequential bool
	// Schema is the JSON Schema of the arguments, an object; nil: it is made
	// from the type of the arguments.
	Schema json.RawMessage
}

// ToolOutput is a result with everything in it. A tool that gives another
// type shows the model a text, or JSON.
type ToolOutput = tool.Result

// TextOutput makes a result of one text.
func TextOutput(text string) ToolOutput { return tool.TextResult(text) }

// ToolContext is the context of a tool call. It ends when the run is aborted.
type ToolContext struct {
	*Context
	// CallID is the model's id of the call.
	CallID string
	update func(ToolOutput) error
}

// Update shows the result so far, all of it each time. It must not be called
// after the tool has returned, nor from two goroutines at once.
func (c *ToolContext) Update(output ToolOutput) error { return c.update(output) }

// UpdateText is Update with one text.
func (c *ToolContext) UpdateText(text string) error { return c.Update(TextOutput(text)) }

type toolEntry struct {
	wire *pb.Tool
	run  func(ctx *ToolContext, arguments json.RawMessage) (ToolOutput, error)
}

// AddTool adds a tool that the model may call. In is the type of its
// arguments, a struct: fields are named by their json tags, described by their
// jsonschema tags (the whole tag is the description), and required unless they
// are omitempty or omitzero. Arguments that do not fit never reach run; the
// model is told what is wrong.
//
//	type Input struct {
//		Path string `json:"path" jsonschema:"the file to read"`
//		Min  int    `json:"min,omitempty" jsonschema:"leave out shorter words"`
//	}
//
// Relative paths are those of Context.Cwd: the program runs where the session
// was when it was started, and that may be elsewhere by now. run returns soon
// when ctx ends, as it does when the run is aborted.
//
// Out is ToolOutput, string, or anything that can be written as JSON, which is
// shown to the model and kept as the details of the result. An error is told
// to the model as the failure of the call; a ToolOutput beside it is shown
// too.
func AddTool[In, Out any](x *Extension, t Tool, run func(ctx *ToolContext, in In) (Out, error)) {
	x.mustTakeMore("AddTool")
	claim("tool", t.Name, x.tools)
	if run == nil {
		panic(fmt.Sprintf("sdk: the tool %s has no function", t.Name))
	}
	schema, err := inputSchema[In](t.Schema)
	if err != nil {
		panic(fmt.Sprintf("sdk: the tool %s: %v", t.Name, err))
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		panic(fmt.Sprintf("sdk: the schema of the tool %s: %v", t.Name, err))
	}
	parameters, err := message.Marshal(schema)
	if err != nil {
		panic(fmt.Sprintf("sdk: the schema of the tool %s: %v", t.Name, err))
	}
	if _, err := tool.Offered(tool.Spec{Name: t.Name, Parameters: parameters}); err != nil {
		panic(fmt.Sprintf("sdk: no service takes the tool %s: %v", t.Name, err))
	}
	x.order.tools = append(x.order.tools, t.Name)
	x.tools[t.Name] = &toolEntry{
		wire: &pb.Tool{
			Name: t.Name, Label: t.Label, Description: t.Description, Parameters: parameters,
			Snippet: t.Snippet, Guidelines: t.Guidelines, Sequential: t.Sequential,
		},
		run: func(ctx *ToolContext, arguments json.RawMessage) (ToolOutput, error) {
			in, err := decodeInput[In](resolved, arguments)
			if err != nil {
				return ToolOutput{}, err
			}
			out, err := run(ctx, in)
			output, encodeErr := toolOutput(out, err != nil)
			if err == nil {
				err = encodeErr
			}
			return output, err
		},
	}
}

func inputSchema[In any](given json.RawMessage) (*jsonschema.Schema, error) {
	if given != nil {
		var s jsonschema.Schema
		if err := json.Unmarshal(given, &s); err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
		if s.Type != "object" {
			return nil, fmt.Errorf("schema: its type is %q, where \"object\" is needed", s.Type)
		}
		return &s, checkTypes("", &s)
	}
	s, err := jsonschema.For[In](nil)
	if err != nil {
		return nil, fmt.Errorf("%w; see AddTool for what the fields and tags of its arguments may be", err)
	}
	if s.Type != "object" {
		return nil, fmt.Errorf("its arguments have type %s, where a struct is needed", reflect.TypeFor[In]())
	}
	acceptMore(s)
	return s, nil
}

// checkTypes finds types that are misspelt, which a model service would refuse
// with every prompt.
func checkTypes(path string, s *jsonschema.Schema) error {
	if s == nil {
		return nil
	}
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	for _, t := range types {
		if !slices.Contains([]string{"object", "array", "string", "number", "integer", "boolean", "null"}, t) {
			return fmt.Errorf("schema: %s: there is no type %q", path, t)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if err := checkTypes(path+"/"+name, s.Properties[name]); err != nil {
			return err
		}
	}
	for _, inner := range slices.Concat([]*jsonschema.Schema{s.Items, s.AdditionalProperties}, s.PrefixItems, s.AnyOf, s.OneOf, s.AllOf) {
		if err := checkTypes(path+"/*", inner); err != nil {
			return err
		}
	}
	return nil
}

// acceptMore lets objects have members that nobody asked for: models like to
// add some, and a call is better carried out than refused for them.
func acceptMore(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Properties) > 0 || s.Type == "object" {
		if s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil {
			s.AdditionalProperties = nil
		}
	}
	for _, property := range s.Properties {
		acceptMore(property)
	}
	acceptMore(s.Items)
	acceptMore(s.AdditionalProperties)
}

func decodeInput[In any](schema *jsonschema.Resolved, arguments json.RawMessage) (in In, err error) {
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	var value any
	if err := json.Unmarshal(arguments, &value); err != nil {
		return in, fmt.Errorf("the arguments are not JSON: %w", err)
	}
	if err := schema.Validate(value); err != nil {
		return in, fmt.Errorf("the arguments do not fit: %w", err)
	}
	if err := json.Unmarshal(arguments, &in); err != nil {
		return in, fmt.Errorf("the arguments do not fit: %w", err)
	}
	return in, nil
}

// toolOutput makes a result of what a tool returned. Beside an error only a
// ToolOutput counts.
func toolOutput(out any, failed bool) (ToolOutput, error) {
	switch out := out.(type) {
	case ToolOutput:
		return out, nil
	case *ToolOutput:
		if out != nil {
			return *out, nil
		}
		return ToolOutput{}, nil
	case string:
		if failed && out == "" {
			return ToolOutput{}, nil
		}
		return TextOutput(out), nil
	}
	if failed {
		return ToolOutput{}, nil
	}
	encoded, err := message.Marshal(out)
	if err != nil {
		return ToolOutput{}, fmt.Errorf("encode the result: %w", err)
	}
	output := TextOutput(string(encoded))
	output.Details = encoded
	return output, nil
}
