package jsonl

import (
	"bytes"
	"io"
	"unicode/utf8"
)

const (
	readSize   = 64 << 10
	maxPiece   = 4 << 20
	carriage   = '\r'
	lineFeed   = '\n'
	badUTF8    = string(utf8.RuneError)
	firstPiece = 2 * readSize
)

// Reader cuts a stream into lines. It is for one goroutine.
type Reader struct {
	// Limit is the length in bytes of the longest line given; zero means
	// MaxLine. It is set before the first call of Next.
	Limit int

	src        io.Reader
	buf        []byte
	start, end int // the part of buf that was read and not given yet
	err        error
}

// NewReader reads lines from src. It reads ahead, so nobody else should.
func NewReader(src io.Reader) *Reader {
	return &Reader{src: src, buf: make([]byte, readSize)}
}

// Next gives the next line without its end, which is a line feed, or a
// carriage return and a line feed. Bytes that are not UTF-8 are each replaced
// by U+FFFD. What stands behind the last line feed is a line too, unless it
// is empty. The slice is valid until the next call.
//
// At the end of the stream it gives io.EOF, and at a failure of the source
// that failure; for a line above the limit ErrTooLong, after which it may be
// called again.
func (r *Reader) Next() ([]byte, error) {
	if i := bytes.IndexByte(r.buf[r.start:r.end], lineFeed); i >= 0 {
		line := r.buf[r.start : r.start+i]
		r.start += i + 1
		return r.finish(line)
	}
	line, err := r.nextAcrossReads()
	if err != nil {
		return nil, err
	}
	return r.finish(line)
}

// nextAcrossReads collects a line that is not in the buffer as a whole. Short
// ones are moved to the front of the buffer; long ones are gathered in pieces
// that are joined once, so that no more than twice the line is held, and
// nothing of it is kept for the next one.
func (r *Reader) nextAcrossReads() ([]byte, error) {
	var long pieces
	for {
		if r.start > 0 {
			copy(r.buf, r.buf[r.start:r.end])
			r.start, r.end = 0, r.end-r.start
		}
		if r.end == len(r.buf) {
			long.add(r.buf, r.limit())
			r.end = 0
		}
		seen := r.end
		if err := r.fill(); err != nil {
			if r.end == 0 && long.size == 0 {
				return nil, err
			}
			long.add(r.buf[:r.end], r.limit())
			r.start, r.end = 0, 0
			return long.join()
		}
		if i := bytes.IndexByte(r.buf[seen:r.end], lineFeed); i >= 0 {
			line := r.buf[:seen+i]
			r.start = seen + i + 1
			if long.size == 0 {
				return line, nil
			}
			long.add(line, r.limit())
			return long.join()
		}
	}
}

// fill reads more behind what is there. It gives an error only when nothing
// came.
func (r *Reader) fill() error {
	for tries := 0; r.err == nil; tries++ {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		r.err = err
		if n > 0 {
			return nil
		}
		if err == nil && tries == 100 {
			r.err = io.ErrNoProgress
		}
	}
	return r.err
}

func (r *Reader) limit() int {
	if r.Limit > 0 {
		return r.Limit
	}
	return MaxLine
}

func (r *Reader) finish(line []byte) ([]byte, error) {
	line = bytes.TrimSuffix(line, []byte{carriage})
	if len(line) > r.limit() {
		return nil, ErrTooLong
	}
	if !utf8.Valid(line) {
		line = replaceBadUTF8(line)
	}
	return line, nil
}

func replaceBadUTF8(line []byte) []byte {
	out := make([]byte, 0, len(line)+len(line)/8)
	for len(line) > 0 {
		c, size := utf8.DecodeRune(line)
		if c == utf8.RuneError && size == 1 {
			out = append(out, badUTF8...)
		} else {
			out = append(out, line[:size]...)
		}
		line = line[size:]
	}
	return out
}

// pieces is a line that is longer than the buffer. Above the limit it counts
// and keeps nothing.
type pieces struct {
	full []([]byte)
	size int
	over bool
}

func (p *pieces) add(data []byte, limit int) {
	// One byte over may still be the carriage return of the line end.
	if p.over || p.size+len(data) > limit+1 {
		p.full, p.over = nil, true
		p.size += len(data)
		return
	}
	p.size += len(data)
	for len(data) > 0 {
		last := len(p.full) - 1
		if last < 0 || len(p.full[last]) == cap(p.full[last]) {
			p.full = append(p.full, make([]byte, 0, p.nextPiece(len(data))))
			last++
		}
		piece := p.full[last]
		n := min(len(data), cap(piece)-len(piece))
		p.full[last] = append(piece, data[:n]...)
		data = data[n:]
	}
}

func (p *pieces) nextPiece(atLeast int) int {
	next := firstPiece
	if n := len(p.full); n > 0 {
		next = min(2*cap(p.full[n-1]), maxPiece)
	}
	return max(next, atLeast)
}

func (p *pieces) join() ([]byte, error) {
	if p.over {
		return nil, ErrTooLong
	}
	if len(p.full) == 1 {
		return p.full[0], nil
	}
	return bytes.Join(p.full, nil), nil
}
