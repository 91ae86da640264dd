package grep

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/seed-54e836f5/pi/core/tool/internal/walk"
)

// search is one call of the tool.
type search struct {
	pattern *pattern
	filter  walk.Filter
	root    string // absolute
	base    string // ignore files above it do not count
	context int
	limit   int
}

// file is a file that is searched, and what was found in it.
type file struct {
	path, rel string
	named     bool          // by the model: it is searched whatever is in it
	done      chan struct{} // closed when the search of it is over

	lines []line
	more  bool // it has more matches than the limit
	err   error
}

// folder searches all files below the root. Several are searched at once;
// what they have comes in the order of the walk, and the search ends with the
// first match beyond the limit.
func (s *search) folder(ctx context.Context) (findings, error) {
	inner, stop := context.WithCancel(ctx)
	workers := min(runtime.GOMAXPROCS(0), 8)
	found := make(chan *file, 16*workers)  // in order, for the one who collects
	waiting := make(chan *file, 2*workers) // for the workers

	var owned sync.WaitGroup
	var unread []string
	owned.Go(func() {
		defer close(found)
		defer close(waiting)
		unread, _ = walk.Tree(inner, s.root, s.base, func(e walk.Entry) (goOn, enter bool) {
			if e.Type.IsDir() {
				return true, s.filter.Enters(e.Rel)
			}
			if !e.Type.IsRegular() || !s.filter.Picks(e.Rel) {
				return true, false
			}
			f := &file{path: e.Path, rel: e.Rel, done: make(chan struct{})}
			return send(inner, found, f) && send(inner, waiting, f), false
		})
	})
	for range workers {
		owned.Go(func() {
			var m memory
			for f := range waiting {
				s.file(inner, f, &m)
				close(f.done)
			}
		})
	}
	all := s.collect(inner, found)
	stop()
	owned.Wait()
	all.unread = append(unread, all.unread...)
	if ctx.Err() != nil {
		return findings{}, context.Cause(ctx)
	}
	return all, nil
}

// send is false where nobody wants the file any more.
func send(ctx context.Context, to chan<- *file, f *file) bool {
	select {
	case to <- f:
		return true
	case <-ctx.Done():
		return false
	}
}

// collect puts together what is found, until the limit is passed.
func (s *search) collect(ctx context.Context, found <-chan *file) findings {
	var all findings
	for f := range found {
		select {
		case <-f.done:
		case <-ctx.Done():
			return all
		}
		if !all.add(f, s.limit, s.context) {
			return all
		}
	}
	return all
}

// memory is what the search of one file leaves to that of the next.
type memory struct{ buf, scratch []byte }

// file searches one file.
func (s *search) file(ctx context.Context, f *file, m *memory) {
	in, err := os.Open(f.path)
	if err != nil {
		f.err = err
		return
	}
	defer func() { _ = in.Close() }() // only read
	sc := scanner{
		pattern: s.pattern, around: s.context, limit: s.limit, binary: f.named,
		in: reader{ctx, in}, buf: m.buf[:0], scratch: m.scratch,
	}
	err = sc.scan()
	m.buf, m.scratch = sc.buf, sc.scratch
	switch {
	case errors.Is(err, errBinary) || ctx.Err() != nil:
		return
	case err != nil:
		f.err = err
	}
	f.lines, f.more = sc.lines, sc.more
}

// reader ends with its context.
type reader struct {
	ctx context.Context
	in  io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(p)
}
