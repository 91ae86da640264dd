package extensions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/seed-54e836f5/pi/proto"
)

var handshakeLine = regexp.MustCompile(`^\s*\d+\|\d+\|(unix|tcp)\|[^|]+(\||$)`)

// looksLikeHandshake tells the line of the handshake from what a program
// prints because its author wants to see it.
func looksLikeHandshake(line string) bool { return handshakeLine.MatchString(line) }

// checkVersion refuses a contract that this pi does not speak, in words.
func checkVersion(line string) error {
	parts := strings.Split(strings.TrimSpace(line), "|")
	if len(parts) < 5 || parts[4] != "grpc" {
		return errors.New("it does not speak gRPC: build it with pi's sdk, or see the contract in proto")
	}
	version, err := strconv.Atoi(parts[1])
	switch {
	case err != nil:
		return fmt.Errorf("its handshake is not understood: %s", clip(line, headBytes))
	case version > proto.Version:
		return fmt.Errorf("it was built for a newer pi (version %d of the contract, this pi speaks %d): update pi", version, proto.Version)
	case version < proto.Version:
		return fmt.Errorf("it was built for an older pi (version %d of the contract, this pi speaks %d): build it with the sdk of this pi", version, proto.Version)
	}
	return nil
}

// explainExec says why the system did not run a program.
func explainExec(path string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%s is no program for this system (%s/%s): it was built for another one, or is a script without a first line that names its interpreter", path, runtime.GOOS, runtime.GOARCH)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s may not be executed: chmod +x it, and see that its file system allows programs", path)
	case errors.Is(err, fs.ErrNotExist):
		if interpreter := missingInterpreter(path); interpreter != "" {
			return fmt.Errorf("%s needs the interpreter %s, which is not there: install it, or name another one in the first line", path, interpreter)
		}
		if _, statErr := os.Stat(path); statErr == nil {
			return fmt.Errorf("%s needs a program loader that is not there: it was linked for another system", path)
		}
		return fmt.Errorf("%s is not there", path)
	}
	return fmt.Errorf("run %s: %w", path, err)
}

// missingInterpreter reads the first line of a script and gives the program
// that it names, if that is missing.
func missingInterpreter(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 256)
	n, _ := f.Read(head)
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	rest, isScript := strings.CutPrefix(line, "#!")
	fields := strings.Fields(rest)
	if !isScript || len(fields) == 0 {
		return ""
	}
	if _, err := os.Stat(fields[0]); err != nil {
		return fields[0]
	}
	return ""
}

// explainSilence says what happened instead of a handshake.
func explainSilence(p *process, limit time.Duration, timedOut bool) error {
	var said []string
	if head := p.head.String(); head != "" {
		said = append(said, fmt.Sprintf("it printed %q, which is no handshake", head))
	}
	if tail := p.lines.lastLines(); tail != "" {
		said = append(said, "its last words were: "+tail)
	}
	what := fmt.Sprintf("the program did not answer within %s of its start (in the phase before the handshake)", limit)
	switch {
	case timedOut:
	case p.lines.sawPanic():
		what = "the program panicked before it answered"
	case p.endedBySignal():
		what = "the program closed its standard output without an answer"
	default:
		what = "the program " + p.status() + " before it answered"
	}
	if len(said) == 0 {
		said = append(said, "it printed nothing; an extension's main function calls sdk.Main")
	}
	return fmt.Errorf("%s; %s", what, strings.Join(said, "; "))
}

func (l *lineLog) sawPanic() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.panicking
}
