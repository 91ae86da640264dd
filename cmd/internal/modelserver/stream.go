package modelserver

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// flushEvery is how many unpaced deltas go out together.
const flushEvery = 64

// stream writes server-sent events at the ordered pace. Once the client has
// left, writing does nothing.
type stream struct {
	ctx   context.Context
	buf   *bufio.Writer
	http  http.Flusher
	pause time.Duration
	since int // deltas since the last flush
	sent  int // deltas in all, which stands for output tokens
}

func newStream(ctx context.Context, w http.ResponseWriter, pause time.Duration) *stream {
	return &stream{ctx: ctx, buf: bufio.NewWriterSize(w, 64<<10), http: w.(http.Flusher), pause: pause}
}

// event writes one event; name is "" for services whose events have none.
func (s *stream) event(name string, data any) { s.raw(encodeEvent(name, data)) }

// delta writes one event that carries a piece of content, and waits the
// ordered pause.
func (s *stream) delta(name string, data any) { s.rawDelta(encodeEvent(name, data)) }

func (s *stream) rawDelta(event []byte) {
	if s.ctx.Err() != nil {
		return
	}
	s.raw(event)
	s.sent++
	s.since++
	if s.pause > 0 {
		s.flush()
		s.wait(s.pause)
		return
	}
	if s.since >= flushEvery {
		s.flush()
	}
}

func (s *stream) raw(event []byte) { _, _ = s.buf.Write(event) } // an error shows in ctx

func (s *stream) flush() {
	s.since = 0
	if s.buf.Flush() == nil {
		s.http.Flush()
	}
}

// wait returns false when the client left meanwhile.
func (s *stream) wait(d time.Duration) bool {
	if d <= 0 {
		return s.ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.ctx.Done():
		return false
	}
}

func encodeEvent(name string, data any) []byte {
	body, err := json.Marshal(data)
	if err != nil {
		panic(err) // the values are the services' own maps
	}
	var out []byte
	if name != "" {
		out = append(out, "event: "+name+"\n"...)
	}
	out = append(out, "data: "...)
	out = append(out, body...)
	return append(out, "\n\n"...)
}
