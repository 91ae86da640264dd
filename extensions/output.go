package extensions

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// Limits of what is kept of the output. Reading itself has none: a pipe that
// nobody reads stops the process at its other end.
const (
	maxLine   = 16 << 10 // bytes of one line that go to the log
	tailLines = 20       // last lines for the report of a death
	tailLine  = 400      // bytes of each
	headBytes = 200      // first bytes of standard output for the report of a failed start
)

// lineLog writes what a process says to the log, line by line, and remembers
// the last lines. Several readers may write to it at the same time.
type lineLog struct {
	log *slog.Logger

	mu        sync.Mutex
	tail      []string
	panicking bool
}

// read logs lines until r ends. stream is a note for the log; empty: none.
func (l *lineLog) read(r io.Reader, stream string) {
	eachLine(r, func(line string, cut int) { l.write(line, cut, stream) })
}

// readUntil offers lines to take until it takes one; all others are logged.
func (l *lineLog) readUntil(r io.Reader, take func(line string) bool) {
	taken := false
	eachLine(r, func(line string, cut int) {
		if !taken && cut == 0 && take(line) {
			taken = true
			return
		}
		l.write(line, cut, "stdout")
	})
}

// Write logs output that came over the connection, for programs that send it
// that way. It implements io.Writer.
func (l *lineLog) Write(p []byte) (int, error) {
	l.read(strings.NewReader(string(p)), "stdout")
	return len(p), nil
}

// eachLine gives the lines of r without their ends. Of a long line it gives
// the beginning, and how many bytes were cut off.
func eachLine(r io.Reader, line func(text string, cut int)) {
	reader := bufio.NewReaderSize(r, maxLine)
	var start []byte
	cut, open := 0, false
	flush := func() {
		if open {
			line(strings.TrimRight(string(start), "\r\n"), cut)
		}
		start, cut, open = start[:0], 0, false
	}
	for {
		piece, err := reader.ReadSlice('\n')
		if len(piece) > 0 {
			open = true
			keep := min(len(piece), maxLine-len(start))
			start = append(start, piece[:keep]...)
			cut += len(piece) - keep
		}
		switch {
		case err == nil:
			flush()
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			flush()
			return
		}
	}
}

func (l *lineLog) write(line string, cut int, stream string) {
	if line == "" {
		return
	}
	level, message, attrs := slog.LevelInfo, line, []slog.Attr(nil)
	if cut == 0 && line[0] == '{' {
		if parsed, ok := parseRecord(line); ok {
			level, message, attrs = parsed.level, parsed.message, parsed.attrs
		}
	}
	if cut > 0 {
		attrs = append(attrs, slog.Int("bytesCut", cut))
	}
	if stream != "" {
		attrs = append(attrs, slog.String("stream", stream))
	}
	l.mu.Lock()
	if isPanic(line) {
		l.panicking = true
	}
	if l.panicking {
		level = slog.LevelError
	}
	if len(l.tail) == tailLines {
		l.tail = append(l.tail[:0], l.tail[1:]...)
	}
	l.tail = append(l.tail, clip(message, tailLine))
	l.mu.Unlock()
	l.log.LogAttrs(context.Background(), level, message, attrs...)
}

// isPanic knows how the Go runtime begins its last words. What follows is part
// of them.
func isPanic(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
}

// lastLines are the last lines that were written, and of a panic its text
// rather than the end of its stack.
func (l *lineLog) lastLines() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.tail
	for i, line := range lines {
		if isPanic(line) {
			lines = lines[i:min(i+8, len(lines))]
			break
		}
	}
	return clip(strings.Join(lines, "\n"), 2000)
}

// record is a line of a structured log: slog's, hclog's, or any other's that
// calls its fields level and msg.
type record struct {
	level   slog.Level
	message string
	attrs   []slog.Attr
}

func parseRecord(line string) (record, bool) {
	var fields map[string]any
	if json.Unmarshal([]byte(line), &fields) != nil {
		return record{}, false
	}
	r := record{}
	levelText, ok := takeText(fields, "level", "@level")
	if !ok {
		return record{}, false
	}
	if r.message, ok = takeText(fields, "msg", "@message", "message"); !ok {
		return record{}, false
	}
	if strings.EqualFold(levelText, "trace") {
		r.level = slog.LevelDebug
	} else if r.level.UnmarshalText([]byte(levelText)) != nil {
		return record{}, false
	}
	delete(fields, "time")
	delete(fields, "@timestamp")
	for name, value := range fields {
		r.attrs = append(r.attrs, slog.Any(name, value))
	}
	return r, true
}

func takeText(fields map[string]any, names ...string) (string, bool) {
	for _, name := range names {
		if text, ok := fields[name].(string); ok {
			delete(fields, name)
			return text, true
		}
	}
	return "", false
}

// headCatcher keeps the first bytes of standard output.
type headCatcher struct {
	mu   sync.Mutex
	text string
}

func (h *headCatcher) add(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.text) < headBytes {
		h.text = clip(strings.TrimSpace(h.text+"\n"+line), headBytes)
	}
}

func (h *headCatcher) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text
}

// clip shortens a text without cutting a character in two.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "..."
}
