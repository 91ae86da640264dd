// Package sse reads a stream of server-sent events.
//
// It imports the standard library only.
package sse

import (
	"bytes"
	"errors"
	"io"
)

// MaxEvent limits the bytes of one line, and of one event's data. No service
// comes near it; a server that never ends a line meets it.
const MaxEvent = 64 << 20

// ErrTooLong says that a line or an event is longer than MaxEvent.
var ErrTooLong = errors.New("an event of the stream is longer than 64 MiB")

const (
	firstBuffer = 32 << 10
	// maxEmptyReads is how often a source may give neither bytes nor an error.
	maxEmptyReads = 100
)

// Event is one event of a stream.
type Event struct {
	Name string // the event field; empty: there was none
	// Data is the data field, several joined by a newline. It is valid until
	// the next call of Next.
	Data []byte
}

// Reader reads events. Lines end at LF, CR LF or CR. Comments, ids and retry
// times are skipped; so are events without data. It is for one goroutine.
type Reader struct {
	source io.Reader
	buf    []byte
	start  int // of what was not yet read as a line
	end    int
	// skipLF: the last line ended at CR, and an LF right behind it belongs to
	// that line's end. Waiting for it would hold back the event.
	skipLF bool
	begun  bool // the place for a byte order mark is behind us
	failed error

	names map[string]string // field values seen, so that a name costs no allocation
	name  string
	data  []byte
	some  bool // data was given, if only an empty one
}

// NewReader makes a reader of a source, which it does not close.
func NewReader(source io.Reader) *Reader {
	return &Reader{source: source, buf: make([]byte, firstBuffer), names: map[string]string{}}
}

// Next gives the next event. It returns io.EOF at the end of the stream, and
// any other error of the source as it is; both again at each further call. An
// event that the end of the stream cuts off is given as far as it came, since
// servers forget the blank line behind the last one.
func (r *Reader) Next() (Event, error) {
	r.name, r.data, r.some = "", r.data[:0], false
	for {
		line, err := r.line()
		if err != nil {
			if errors.Is(err, io.EOF) && r.some {
				return Event{Name: r.name, Data: r.data}, nil
			}
			return Event{}, err
		}
		if len(line) > 0 {
			if err := r.field(line); err != nil {
				return Event{}, err
			}
			continue
		}
		if r.some {
			return Event{Name: r.name, Data: r.data}, nil
		}
		r.name = "" // an event without data is none
	}
}

// Peek gives the first byte of the stream that is no white space, without
// taking it. It is called before Next.
func (r *Reader) Peek() (byte, error) {
	for {
		for _, c := range r.buf[r.start:r.end] {
			switch c {
			case ' ', '\t', '\r', '\n':
			default:
				return c, nil
			}
		}
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
}

// Rest gives the bytes that no event was made of yet, up to a limit.
func (r *Reader) Rest(limit int) ([]byte, error) {
	rest := io.MultiReader(bytes.NewReader(r.buf[r.start:r.end]), r.source)
	out, err := io.ReadAll(io.LimitReader(rest, int64(limit)))
	r.start, r.end = 0, 0
	return out, err
}

func (r *Reader) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		if len(r.data)+len(value) >= MaxEvent {
			r.failed = ErrTooLong
			return ErrTooLong
		}
		if r.some {
			r.data = append(r.data, '\n')
		}
		r.data, r.some = append(r.data, value...), true
	case "event":
		r.name = r.intern(value)
	}
	return nil
}

// maxNames bounds what a server that invents names can make us keep.
const maxNames = 64

func (r *Reader) intern(value []byte) string {
	if name, ok := r.names[string(value)]; ok {
		return name
	}
	name := string(value)
	if len(r.names) < maxNames && len(name) < 128 {
		r.names[name] = name
	}
	return name
}

// line gives the next line without its end. At the end of the stream, an
// unfinished line is a line.
func (r *Reader) line() ([]byte, error) {
	searched := 0 // bytes behind start without an end of line
	for {
		r.dropLF()
		if end := lineEnd(r.buf[r.start+searched : r.end]); end >= 0 {
			end += r.start + searched
			line := r.buf[r.start:end]
			r.skipLF = r.buf[end] == '\r'
			r.start = end + 1
			return r.withoutMark(line), nil
		}
		searched = r.end - r.start
		if err := r.fill(); err != nil {
			if errors.Is(err, io.EOF) && r.end > r.start {
				line := r.buf[r.start:r.end]
				r.start = r.end
				return r.withoutMark(line), nil
			}
			return nil, err
		}
	}
}

func (r *Reader) dropLF() {
	if r.skipLF && r.start < r.end {
		r.skipLF = false
		if r.buf[r.start] == '\n' {
			r.start++
		}
	}
}

func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

func (r *Reader) withoutMark(line []byte) []byte {
	if !r.begun {
		r.begun = true
		return bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return line
}

// fill reads more bytes behind those there are.
func (r *Reader) fill() error {
	if r.failed != nil {
		return r.failed
	}
	if r.start > 0 {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	if r.end == len(r.buf) {
		if len(r.buf) >= MaxEvent {
			r.failed = ErrTooLong
			return r.failed
		}
		grown := make([]byte, 2*len(r.buf))
		copy(grown, r.buf)
		r.buf = grown
	}
	for range maxEmptyReads {
		n, err := r.source.Read(r.buf[r.end:])
		r.end += n
		if err != nil {
			r.failed = err
		}
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	r.failed = io.ErrNoProgress
	return r.failed
}
