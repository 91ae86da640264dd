package proc

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/seed-54e836f5/pi/core/limit"
)

// Capture keeps the end of a command's output in memory: as much as a model is
// given of it. The moment that this is not all, everything goes to a file.
//
// One goroutine writes (Run, when the capture is given to it); Output may be
// called from any. A Capture is for one command.
type Capture struct {
	// dir, file and spillErr belong to the writing goroutine, so that no lock
	// is held while it writes to disk.
	dir      string
	file     *os.File
	room     int // bytes that the file may still grow by
	spillErr error

	mu       sync.Mutex
	tail     []byte // the last bytes, at least keep of them where there are so many
	newlines int
	bytes    int
	line     int // bytes of the last line
	path     string
	failure  error
}

// keep is how many bytes TailOf wants to see: the limit, the newline at the
// end, and enough before to know whether a line begins there.
const keep = limit.Bytes + 2

// maxLog bounds the file, so that a command that never stops printing does not
// fill the disk.
const maxLog = 1 << 30

// NewCapture makes a capture that puts output which is too long into a file in
// dir; an empty dir is the system's temporary folder.
func NewCapture(dir string) *Capture {
	if dir == "" {
		dir = os.TempDir()
	}
	return &Capture{dir: dir, room: maxLog}
}

// Output is what a capture holds at one moment.
type Output struct {
	// Text is the whole output, or the end of it where Truncation says so. The
	// end has no newline behind it.
	Text string
	// Truncation is nil where Text is all there was.
	Truncation *limit.Truncation
	// FullOutputPath is the file with the whole output; empty unless truncated.
	FullOutputPath string
	// SpillError says why that file is missing or not whole; nil: it is.
	SpillError error

	lastLine int // bytes of the last line, for the notice
}

// Notice says in one sentence what Text leaves out, and where the rest is. It
// is empty where nothing is left out.
func (o Output) Notice() string {
	t := o.Truncation
	if t == nil {
		return ""
	}
	first := t.TotalLines - t.OutputLines + 1
	var shown string
	switch {
	case t.LastLinePartial:
		shown = fmt.Sprintf("These are the last %s of line %d, which is %s long.", limit.Size(t.OutputBytes), t.TotalLines, limit.Size(o.lastLine))
	case t.TruncatedBy == limit.ByBytes:
		shown = fmt.Sprintf("These are lines %d-%d of %d (limit of %s).", first, t.TotalLines, t.TotalLines, limit.Size(t.MaxBytes))
	default:
		shown = fmt.Sprintf("These are lines %d-%d of %d.", first, t.TotalLines, t.TotalLines)
	}
	if o.SpillError != nil {
		return fmt.Sprintf("%s The whole output could not be kept: %v", shown, o.SpillError)
	}
	return shown + " The whole output is in " + o.FullOutputPath
}

// Output gives what has been captured so far.
func (c *Capture) Output() Output {
	c.mu.Lock()
	tail, newlines, bytes, line := string(c.tail), c.newlines, c.bytes, c.line
	path, failure := c.path, c.failure
	c.mu.Unlock()

	o := Output{lastLine: line}
	o.Text, o.Truncation = limit.TailOf(tail, lines(newlines, tail), bytes, limit.Lines, limit.Bytes)
	if o.Truncation != nil {
		o.FullOutputPath, o.SpillError = path, failure
	}
	return o
}

// lines is the number of lines of a text that has so many newlines, and this
// end.
func lines(newlines int, tail string) int {
	if tail != "" && !strings.HasSuffix(tail, "\n") {
		return newlines + 1
	}
	return newlines
}

// Write takes the next piece of text.
func (c *Capture) Write(text string) {
	if text == "" {
		return
	}
	// Only this goroutine changes what is read here, so no lock is needed yet.
	newlines := c.newlines + strings.Count(text, "\n")
	if lines(newlines, text) > limit.Lines || c.bytes+len(text) > limit.Bytes {
		c.spill(text)
	}
	line := lastLine(text)
	if !strings.Contains(strings.TrimSuffix(text, "\n"), "\n") && c.openLine() {
		line += c.line
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	c.tail = append(c.tail, text...)
	if len(c.tail) > 2*keep {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-keep:]...)
	}
	c.newlines, c.line = newlines, line
	c.bytes += len(text)
	if c.file != nil {
		c.path = c.file.Name()
	}
	c.failure = c.spillErr
}

// openLine says whether the last line goes on with the next text.
func (c *Capture) openLine() bool {
	return len(c.tail) > 0 && c.tail[len(c.tail)-1] != '\n'
}

// lastLine is the number of bytes of a text's last line, its newline not
// counted.
func lastLine(text string) int {
	text = strings.TrimSuffix(text, "\n")
	return len(text) - strings.LastIndexByte(text, '\n') - 1
}

// spill writes the text to the file; the first time also everything before it,
// which is all still in memory then.
func (c *Capture) spill(text string) {
	if c.spillErr != nil {
		return
	}
	if c.file == nil {
		if c.file, c.spillErr = createLog(c.dir); c.spillErr != nil {
			return
		}
		text = string(c.tail) + text
	}
	if len(text) > c.room {
		c.spillErr = fmt.Errorf("there is more than %s of it; its beginning is in %s", limit.Size(maxLog), c.file.Name())
		return
	}
	c.room -= len(text)
	_, c.spillErr = c.file.WriteString(text)
}

// close ends the file, if there is one. Output still works.
func (c *Capture) close() {
	if c.file == nil {
		return
	}
	err := c.file.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure == nil {
		c.failure = err
	}
}

// createLog makes a file whose name nobody can guess, for its owner only: a
// command's output may hold secrets.
func createLog(dir string) (*os.File, error) {
	var name [8]byte
	if _, err := rand.Read(name[:]); err != nil {
		return nil, fmt.Errorf("name for the output file: %w", err)
	}
	path := filepath.Join(dir, "pi-bash-"+hex.EncodeToString(name[:])+".log")
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}
