package replay

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// drainLimit bounds the wait for the end of stdout once the agent has ended: a
// child that it left behind may hold the pipe.
const drainLimit = 2 * time.Second

// conversation is the log of a run, fed by the client's side and by one
// goroutine that reads the agent's stdout.
type conversation struct {
	stdout *os.File
	ended  chan struct{} // closed when stdout has ended

	mu      sync.Mutex
	lines   []Line
	answers []any        // the values of the Out lines
	used    map[int]bool // answers that a wait has taken
	mark    int          // answers there were when the client last spoke
	news    chan struct{}
}

// listen starts to read. drain ends the goroutine.
func listen(stdout *os.File) *conversation {
	c := &conversation{stdout: stdout, ended: make(chan struct{}), used: map[int]bool{}, news: make(chan struct{})}
	go c.read()
	return c
}

func (c *conversation) read() {
	defer close(c.ended)
	r := bufio.NewReaderSize(c.stdout, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			line = bytes.TrimSuffix(line, []byte{'\n'})
			c.add(Line{Out, outValue(line)})
		}
		if err != nil { // io.EOF, or os.ErrClosed from drain
			return
		}
	}
}

// outValue is the decoded line, or its text where it is no JSON.
func outValue(line []byte) any {
	v, err := decode(line)
	if err != nil {
		return strings.ToValidUTF8(string(line), "\uFFFD")
	}
	return v
}

// said logs a line of the client.
func (c *conversation) said(v any) {
	c.add(Line{In, v})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mark = len(c.answers)
}

func (c *conversation) add(l Line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, l)
	if l.Kind == Out {
		c.answers = append(c.answers, l.Value)
		close(c.news)
		c.news = make(chan struct{})
	}
}

// await returns the first line that matches and that no other wait has taken.
// When none comes within the limit, or stdout ends, it logs a timeout.
func (c *conversation) await(pattern any, fresh bool, limit time.Duration) (any, bool) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		// Whether stdout has ended must be known before looking, or the last
		// line could come in between.
		ended := isClosed(c.ended)
		got, ok, news := c.take(pattern, fresh)
		if ok {
			return got, true
		}
		if ended {
			break
		}
		select {
		case <-news:
			continue
		case <-c.ended:
			continue
		case <-timer.C:
		}
		break
	}
	c.add(Line{Timeout, pattern})
	return nil, false
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// take looks through the lines so far. news is closed by the next one.
func (c *conversation) take(pattern any, fresh bool) (got any, ok bool, news <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := 0
	if fresh {
		first = c.mark
	}
	for i := first; i < len(c.answers); i++ {
		if !c.used[i] && Matches(pattern, c.answers[i]) {
			c.used[i] = true
			return c.answers[i], true, nil
		}
	}
	return nil, false, c.news
}

// drain waits for the end of stdout and stops reading.
func (c *conversation) drain() {
	timer := time.NewTimer(drainLimit)
	defer timer.Stop()
	select {
	case <-c.ended:
	case <-timer.C:
	}
	_ = c.stdout.Close()
	<-c.ended
}

// head keeps the beginning of what is written to it.
type head struct {
	mu   sync.Mutex
	data []byte
}

const stderrLimit = 64 << 10

var _ io.Writer = (*head)(nil)

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if room := stderrLimit - len(h.data); room > 0 {
		h.data = append(h.data, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.ToValidUTF8(string(h.data), "\uFFFD")
}
