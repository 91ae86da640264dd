package jsonl

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"
)

const (
	// QueueSize is how many bytes of records may wait before Write blocks.
	QueueSize = 1 << 20

	batchSize = 64 << 10
	pieceSize = 256 << 10
	stallTime = 2 * time.Second
	// perRecord is what a waiting record costs beside its bytes.
	perRecord = 24
)

// Writer writes records to a stream through one bounded queue and one
// goroutine, which alone uses the stream. Records are written in the order of
// the calls of Write and Push. When nothing waits a record is written at
// once; when records come faster than the stream takes them, many are written
// together. All methods may be called from any goroutine.
type Writer struct {
	dst   io.Writer
	stall time.Duration

	mu       sync.Mutex
	some     sync.Cond // signalled when there is something to do for run
	room     sync.Cond // signalled when the queue has become shorter
	queue    []record  // those that wait
	size     int       // of the queue and of what is being written
	closed   bool
	err      error         // why nothing can be written any more
	progress uint64        // writes that came to an end
	done     chan struct{} // closed when run has ended
	failed   chan struct{} // closed when err is set
}

// record is one that waits: its text, or its text in parts.
type record struct {
	whole []byte
	parts [][]byte
	size  int // bytes of both
}

// NewWriter starts a writer. Its owner ends it with Close.
func NewWriter(dst io.Writer) *Writer {
	w := &Writer{dst: dst, stall: stallTime, done: make(chan struct{}), failed: make(chan struct{})}
	w.some.L, w.room.L = &w.mu, &w.mu
	go w.run()
	return w
}

// Write queues one record, a JSON value without a line end, and takes it
// over: the caller must not change it afterwards. It waits while the queue is
// full. The error is ErrClosed, or that of the stream, and means that the
// record will not be written.
func (w *Writer) Write(text []byte) error { return w.add(whole(text), true) }

// Push is Write without waiting: it is for records of which there are only as
// many as somebody asked for, from callers that must not be held up.
func (w *Writer) Push(text []byte) error { return w.add(whole(text), false) }

// PushParts is Push for one record that is the parts put together, so that a
// long list need not be copied to be written. A part with a line end in it
// must be a JSON value by itself. The list and what is in it are taken over.
func (w *Writer) PushParts(parts [][]byte) error {
	r := record{parts: parts}
	for _, part := range parts {
		r.size += len(part)
	}
	return w.add(r, false)
}

func whole(text []byte) record {
	text = oneLine(text)
	return record{whole: text, size: len(text)}
}

// Failed is closed when the stream has failed, for instance because nobody
// reads it any more.
func (w *Writer) Failed() <-chan struct{} { return w.failed }

// Close stops taking records, writes those that wait, and ends the writer. It
// gives up when ctx ends, or when the stream has taken nothing for two
// seconds; then the goroutine stays behind in a call of the stream until that
// returns. The error is that of the stream, if it failed.
func (w *Writer) Close(ctx context.Context) error {
	w.mu.Lock()
	w.closed = true
	w.some.Signal()
	w.room.Broadcast()
	w.mu.Unlock()
	for before := w.passed(); ; before = w.passed() {
		timer := time.NewTimer(w.stall)
		select {
		case <-w.done:
			timer.Stop()
			return w.failure()
		case <-ctx.Done():
			timer.Stop()
			return w.giveUp(ctx.Err())
		case <-timer.C:
			if w.passed() == before {
				return w.giveUp(context.DeadlineExceeded)
			}
		}
	}
}

func (w *Writer) add(r record, wait bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for wait && w.size > 0 && w.size+r.size+perRecord > QueueSize && !w.closed && w.err == nil {
		w.room.Wait()
	}
	if w.err != nil {
		return w.err
	}
	if w.closed {
		return ErrClosed
	}
	w.queue = append(w.queue, r)
	w.size += r.size + perRecord
	if len(w.queue) == 1 {
		w.some.Signal()
	}
	return nil
}

func (w *Writer) run() {
	defer close(w.done)
	var out batch
	var records []record
	for {
		records = w.take(records)
		if len(records) == 0 {
			return
		}
		for i, r := range records {
			records[i] = record{}
			if !w.put(&out, r) {
				return
			}
		}
		if !w.flush(&out) {
			return
		}
	}
}

// put adds a record to what is written in one go, and writes that when it is
// enough.
func (w *Writer) put(out *batch, r record) bool {
	ok := w.putText(out, r.whole)
	for _, part := range r.parts {
		ok = ok && w.putText(out, oneLine(part))
	}
	out.data = append(out.data, lineFeed)
	out.cost += perRecord
	return ok
}

func (w *Writer) putText(out *batch, text []byte) bool {
	if len(out.data)+len(text) >= batchSize && !w.flush(out) {
		return false
	}
	if len(text) >= batchSize {
		return w.send(text, len(text))
	}
	out.data = append(out.data, text...)
	out.cost += len(text)
	return true
}

// batch is what is written in one go.
type batch struct {
	data []byte
	cost int // what it counts for in the queue's size
}

// take waits for records and exchanges them for the emptied slice of the last
// round. It gives nothing when the writer is closed and everything written.
func (w *Writer) take(emptied []record) []record {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) == 0 && !w.closed && w.err == nil {
		w.some.Wait()
	}
	if w.err != nil {
		return nil
	}
	records := w.queue
	w.queue = emptied[:0]
	if cap(w.queue) > batchSize {
		w.queue = nil
	}
	return records
}

func (w *Writer) flush(out *batch) bool {
	ok := len(out.data) == 0 || w.send(out.data, out.cost)
	out.data, out.cost = out.data[:0], 0
	return ok
}

// send writes data, in pieces so that Close sees a slow stream move. What is
// written no longer counts as waiting, so that the queue opens while a long
// list of records is on its way.
func (w *Writer) send(data []byte, cost int) bool {
	for len(data) > 0 {
		piece := data[:min(len(data), pieceSize)]
		data = data[len(piece):]
		_, err := w.dst.Write(piece)
		if !w.wrote(err) {
			return false
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.size -= cost
	w.room.Broadcast()
	return true
}

func (w *Writer) wrote(err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.progress++
	if err != nil && w.err == nil {
		w.fail(err)
	}
	return w.err == nil
}

func (w *Writer) fail(err error) {
	w.err = err
	w.queue = nil
	close(w.failed)
	w.room.Broadcast()
	w.some.Signal()
}

// giveUp leaves the rest unwritten. A stream that can be told to stop waiting
// is told.
func (w *Writer) giveUp(err error) error {
	w.mu.Lock()
	if w.err == nil {
		w.fail(err)
	}
	w.mu.Unlock()
	if stream, ok := w.dst.(interface{ SetWriteDeadline(time.Time) error }); ok {
		if stream.SetWriteDeadline(time.Now()) == nil {
			<-w.done
		}
	}
	return err
}

func (w *Writer) passed() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.progress
}

func (w *Writer) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// oneLine gives the record in a form that no reader can split: without line
// ends, which JSON allows between its tokens, and with U+2028 and U+2029
// escaped, which some readers take for line ends.
func oneLine(record []byte) []byte {
	if bytes.IndexByte(record, lineFeed) >= 0 || bytes.IndexByte(record, carriage) >= 0 {
		var flat bytes.Buffer
		if json.Compact(&flat, record) == nil {
			record = flat.Bytes()
		}
	}
	return escapeSeparators(record)
}

var separatorLead = []byte("\u2028")[:2]

func escapeSeparators(record []byte) []byte {
	if !bytes.Contains(record, separatorLead) {
		return record
	}
	out := make([]byte, 0, len(record)+16)
	for {
		i := bytes.Index(record, separatorLead)
		if i < 0 || i+2 >= len(record) {
			return append(out, record...)
		}
		out = append(out, record[:i]...)
		switch last := record[i+2]; last {
		case 0xa8:
			out = append(out, `\u2028`...)
		case 0xa9:
			out = append(out, `\u2029`...)
		default:
			out = append(out, record[i:i+3]...)
		}
		record = record[i+3:]
	}
}
