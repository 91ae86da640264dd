package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Transcript is what was said and done in one run.
type Transcript struct {
	Lines []Line
	// Requests are what reached the model service (see requests.go).
	Requests []any
	// Work holds the files in the working directory, by path.
	Work object
	// Exit is the exit code, the negative number of the signal that ended the
	// agent, or "killed" where it had to be.
	Exit   any
	Stderr string
	// Sessions are the session files, oldest first: {"path", "lines"}.
	Sessions []any
}

// Line is one line of the conversation, or what the player saw between lines.
type Line struct {
	Kind  LineKind
	Value any
}

// LineKind says what a Line is; it is the line's key in the file.
type LineKind string

// The kinds of lines. The value of a Timeout is the pattern that did not come,
// or "exit"; that of Exited the exit code.
const (
	In      LineKind = "in"
	Out     LineKind = "out"
	Timeout LineKind = "timeout"
	Exited  LineKind = "exited"
)

// Write writes the transcript in the form of a recording.
func (t *Transcript) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, v := range t.values() {
		b.Write(encode(v))
		b.WriteByte('\n')
	}
	return b.Flush()
}

func (t *Transcript) values() []object {
	var out []object
	for _, l := range t.Lines {
		out = append(out, object{string(l.Kind): l.Value})
	}
	return append(out,
		object{"requests": t.Requests},
		object{"work": t.Work},
		object{"exit": t.Exit, "stderr": t.Stderr, "sessions": t.Sessions})
}

// readTranscript reads the values of a recording.
func readTranscript(values []object) (*Transcript, error) {
	t := &Transcript{}
	for i, v := range values {
		if err := t.read(v); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return t, nil
}

func (t *Transcript) read(v object) error {
	if exit, ok := v["exit"]; ok {
		t.Exit, t.Stderr = exit, text(v, "stderr")
		t.Sessions, _ = v["sessions"].([]any)
		return nil
	}
	if len(v) != 1 {
		return errors.New("one member expected")
	}
	for name, value := range v {
		switch name {
		case "requests":
			t.Requests, _ = value.([]any)
		case "work":
			t.Work, _ = value.(object)
		case string(In), string(Out), string(Timeout), string(Exited):
			t.Lines = append(t.Lines, Line{LineKind(name), value})
		default:
			return fmt.Errorf("unknown member %q", name)
		}
	}
	return nil
}

// decodeLines reads one JSON object from every line.
func decodeLines(data []byte) ([]object, error) {
	var out []object
	for line := range bytes.Lines(data) {
		v, err := decode(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(out)+1, err)
		}
		o, ok := v.(object)
		if !ok {
			return nil, fmt.Errorf("line %d: an object expected", len(out)+1)
		}
		out = append(out, o)
	}
	return out, nil
}

// integer is n as decoded JSON has it.
func integer(n int) json.Number { return json.Number(fmt.Sprint(n)) }
