package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

// Script is what the service says, request by request. As a file it is JSON:
//
//	{
//	  "pace": "5ms",
//	  "turns": [
//	    {"steps": [
//	      {"thinking": "The user wants to see the folder."},
//	      {"text": "Let me look."},
//	      {"toolCall": {"name": "ls", "arguments": {"path": "."}}}
//	    ]},
//	    {"steps": [{"error": {"status": 529, "message": "Overloaded"}}]},
//	    {"steps": [{"text": "A "}, {"delay": "1s"}, {"text": "slow answer."}, {"stop": {"reason": "length"}}]},
//	    {"steps": [{"text": "Stop me."}, {"waitForAbort": true}]}
//	  ]
//	}
//
// Each request takes the next turn, also the request for a summary and the
// one that a retry makes. A member that is not known is an error.
type Script struct {
	Turns []Turn `json:"turns"` // at least one
	// Pace is the time between two words of a text; 0: none.
	Pace Duration `json:"pace,omitempty"`
	// Repeat begins with the first turn again behind the last. Without it, a
	// request more than there are turns fails.
	Repeat bool `json:"repeat,omitempty"`
}

// Turn is one answer. It ends with its last step; where that is no stop, the
// answer ends with toolUse if it calls tools, and else with stop.
type Turn struct {
	Steps []Step `json:"steps"`
}

// Step is one thing that happens in an answer. Exactly one field is set.
// Texts and thoughts that follow each other are one block.
type Step struct {
	Thinking *string `json:"thinking,omitempty"`
	// Text is streamed word by word.
	Text     *string   `json:"text,omitempty"`
	ToolCall *ToolCall `json:"toolCall,omitempty"`
	Delay    *Duration `json:"delay,omitempty"`
	// Usage replaces the numbers of tokens that are told, which are an
	// estimate.
	Usage *Usage `json:"usage,omitempty"`
	Stop  *Stop  `json:"stop,omitempty"`  // the last step
	Error *Fault `json:"error,omitempty"` // the last step
	// WaitForAbort waits until the request is given up; the last step. Only
	// true means anything.
	WaitForAbort bool `json:"waitForAbort,omitempty"`
}

// ToolCall asks for a tool.
type ToolCall struct {
	ID   string `json:"id,omitempty"` // empty: call_<request>_<number>
	Name string `json:"name"`
	// Arguments is a JSON object; nil: {}.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// ArgumentsText stands in for Arguments where they are to be broken.
	ArgumentsText string `json:"argumentsText,omitempty"`
}

// Usage is a number of tokens of each kind.
type Usage struct {
	Input      int64 `json:"input,omitempty"`
	Output     int64 `json:"output,omitempty"`
	CacheRead  int64 `json:"cacheRead,omitempty"`
	CacheWrite int64 `json:"cacheWrite,omitempty"`
}

// Stop says how an answer ends.
type Stop struct {
	Reason  message.StopReason `json:"reason"`            // stop, length, toolUse or error
	Raw     string             `json:"raw,omitempty"`     // the service's word; empty: the reason
	Message string             `json:"message,omitempty"` // with error
}

// Fault makes the request fail, before anything was said if it is the first
// step.
type Fault struct {
	// Class is one of provider.Class; empty: that of the status and message.
	Class      provider.Class `json:"class,omitempty"`
	Status     int            `json:"status,omitempty"` // 0: none
	Message    string         `json:"message"`
	RetryAfter Duration       `json:"retryAfter,omitempty"`
}

// Duration is a time.Duration that is written like "1.5s" in JSON.
type Duration time.Duration

// MarshalJSON implements json.Marshaler.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON implements json.Unmarshaler.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return errors.New(`a time is written like "1.5s"`)
	}
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf(`a time is written like "1.5s": %w`, err)
	}
	*d = Duration(parsed)
	return nil
}

// longestScript bounds the file.
const longestScript = 16 << 20

// Load reads a script from a file and validates it.
func Load(path string) (Script, error) {
	file, err := os.Open(path)
	if err != nil {
		return Script{}, err
	}
	defer func() { _ = file.Close() }() // it is only read
	data, err := io.ReadAll(io.LimitReader(file, longestScript+1))
	if err != nil {
		return Script{}, err
	}
	if len(data) > longestScript {
		return Script{}, fmt.Errorf("%s: longer than %d bytes", path, longestScript)
	}
	script, err := Parse(data)
	if err != nil {
		return Script{}, fmt.Errorf("%s: %w", path, err)
	}
	return script, nil
}

// Parse reads a script from its JSON form and validates it.
func Parse(data []byte) (Script, error) {
	var script Script
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&script); err != nil {
		return Script{}, fmt.Errorf("not a script: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return Script{}, errors.New("not a script: something follows the JSON object")
	}
	return script, script.Validate()
}

// Validate checks a script; its error names the step.
func (s Script) Validate() error {
	if len(s.Turns) == 0 {
		return errors.New("turns: there is none")
	}
	if s.Pace < 0 {
		return errors.New("pace: a time before now")
	}
	for i, turn := range s.Turns {
		for j, step := range turn.Steps {
			if err := step.validate(j == len(turn.Steps)-1); err != nil {
				return fmt.Errorf("turns[%d].steps[%d]%w", i, j, err)
			}
		}
	}
	return nil
}

func (s Step) validate(last bool) error {
	set := 0
	for _, is := range []bool{s.Thinking != nil, s.Text != nil, s.ToolCall != nil, s.Delay != nil, s.Usage != nil, s.Stop != nil, s.Error != nil, s.WaitForAbort} {
		if is {
			set++
		}
	}
	if set != 1 {
		return errors.New(": a step has one of thinking, text, toolCall, delay, usage, stop, error and waitForAbort")
	}
	if (s.Stop != nil || s.Error != nil || s.WaitForAbort) && !last {
		return errors.New(": nothing can follow a stop, an error or waitForAbort")
	}
	switch {
	case s.ToolCall != nil:
		return s.ToolCall.validate()
	case s.Delay != nil && *s.Delay < 0:
		return errors.New(".delay: a time before now")
	case s.Usage != nil && min(s.Usage.Input, s.Usage.Output, s.Usage.CacheRead, s.Usage.CacheWrite) < 0:
		return errors.New(".usage: less than nothing")
	case s.Stop != nil:
		return s.Stop.validate()
	case s.Error != nil:
		return s.Error.validate()
	}
	return nil
}

func (c *ToolCall) validate() error {
	switch {
	case c.Name == "":
		return errors.New(".toolCall.name: missing")
	case len(c.Arguments) > 0 && c.ArgumentsText != "":
		return errors.New(".toolCall: arguments and argumentsText cannot both be given")
	case len(c.Arguments) > 0 && !isObject(c.Arguments):
		return errors.New(".toolCall.arguments: not a JSON object; argumentsText takes anything")
	}
	return nil
}

func isObject(raw json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(raw, &object) == nil && object != nil
}

func (s *Stop) validate() error {
	switch s.Reason {
	case message.StopStop, message.StopLength, message.StopToolUse:
		return nil
	case message.StopError:
		if s.Message == "" {
			return errors.New(".stop.message: missing with reason error")
		}
		return nil
	}
	return fmt.Errorf(".stop.reason: %q is none of stop, length, toolUse, error", s.Reason)
}

func (f *Fault) validate() error {
	switch f.Class {
	case "", provider.Retryable, provider.Overflow, provider.Quota, provider.Auth, provider.Invalid:
	default:
		return fmt.Errorf(".error.class: %q is none of retryable, overflow, quota, auth, invalid", f.Class)
	}
	switch {
	case f.Message == "":
		return errors.New(".error.message: missing")
	case f.Status != 0 && (f.Status < 400 || f.Status > 599):
		return errors.New(".error.status: not between 400 and 599")
	case f.RetryAfter < 0:
		return errors.New(".error.retryAfter: a time before now")
	}
	return nil
}

// turn gives the turn for a request, which are numbered from 1.
func (s *Script) turn(request int) (Turn, error) {
	n := request - 1
	if s.Repeat {
		n %= len(s.Turns)
	}
	if n >= len(s.Turns) {
		return Turn{}, provider.Errorf(provider.Invalid, "the script of the demo provider has %d turns, and this is request %d; add a turn, or set repeat", len(s.Turns), request)
	}
	return s.Turns[n], nil
}

// status is that of the response that begins the turn.
func (t Turn) status() int {
	if len(t.Steps) > 0 && t.Steps[0].Error != nil && t.Steps[0].Error.Status != 0 {
		return t.Steps[0].Error.Status
	}
	return http.StatusOK
}
