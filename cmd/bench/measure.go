package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// measure is one thing that is done to an agent, and the values it gives.
type measure struct {
	name      string
	values    []value
	extension bool // needs -extension
	piOnly    bool
	take      func(ctx context.Context, a *agent) ([]float64, error)
}

// value says what a number is. Of most a smaller number is better.
type value struct {
	name   string
	unit   string
	larger bool // is better
	goal   string
}

var measures = []measure{
	{
		name:   "start",
		values: []value{{name: "spawn to the first answer", unit: "ms", goal: "1/25"}},
		take:   func(ctx context.Context, a *agent) ([]float64, error) { return startUp(ctx, a) },
	},
	{
		name:      "start with an extension",
		values:    []value{{name: "spawn to the first answer, one extension", unit: "ms"}, {name: "spawn to its command, one extension", unit: "ms"}},
		extension: true,
		take:      startUpWithExtension,
	},
	{
		name:   "memory",
		values: []value{{name: "memory at rest, all processes", unit: "MiB", goal: "1/6"}},
		take:   func(ctx context.Context, a *agent) ([]float64, error) { return memoryAtRest(ctx, a) },
	},
	{
		name:      "memory with an extension",
		values:    []value{{name: "memory at rest, one extension", unit: "MiB"}},
		extension: true,
		take: func(ctx context.Context, a *agent) ([]float64, error) {
			return memoryAtRest(ctx, a, "--extension", a.extension())
		},
	},
	{
		name:   "prompt",
		values: []value{{name: "short prompt to settled", unit: "ms", goal: "1/4"}},
		take:   shortPrompt,
	},
	{
		name: "deltas",
		values: []value{
			{name: "streamed deltas", unit: "/s", larger: true, goal: "3"},
			{name: "processor time of the stream", unit: "ms", goal: "1/3"},
		},
		take: func(ctx context.Context, a *agent) ([]float64, error) { return streamedDeltas(ctx, a) },
	},
	{
		name: "deltas with an extension",
		values: []value{
			{name: "streamed deltas, an extension sees them", unit: "/s", larger: true},
			{name: "that rate, as a part of the one without", unit: "(goal 0.80)", larger: true},
			{name: "processor time of that stream, with the extension's", unit: "ms"},
		},
		piOnly: true,
		take:   watchedDeltas,
	},
	{
		name: "session",
		values: []value{
			{name: "open a large session", unit: "ms", goal: "1/8"},
			{name: "its get_entries", unit: "ms", goal: "1/10"},
			{name: "peak memory of opening it", unit: "MiB", goal: "1/3"},
		},
		take: largeSession,
	},
}

// withSession starts the agent, waits for its first answer, and ends it.
func (a *agent) withSession(ctx context.Context, use func(s *session) error, args ...string) error {
	s, err := a.start(ctx, args...)
	if err != nil {
		return err
	}
	if _, err := s.ask("get_state"); err != nil {
		return s.drop(err)
	}
	if err := use(s); err != nil {
		return s.drop(err)
	}
	return s.end()
}

func (a *agent) extension() string {
	path, err := filepath.Abs(a.options.extension)
	if err != nil {
		return a.options.extension
	}
	return path
}

func startUp(ctx context.Context, a *agent, args ...string) ([]float64, error) {
	var took time.Duration
	err := a.withSession(ctx, func(s *session) error {
		took = time.Since(s.begun)
		return nil
	}, args...)
	return []float64{milliseconds(took)}, err
}

// startUpWithExtension takes the time to the first answer, and to the first
// answer that needs the extension.
func startUpWithExtension(ctx context.Context, a *agent) ([]float64, error) {
	var first, ready time.Duration
	err := a.withSession(ctx, func(s *session) error {
		first = time.Since(s.begun)
		for {
			n, err := s.ask("get_commands")
			if err != nil {
				return err
			}
			if n > len(`{"id":"bench-get_commands","type":"response","command":"get_commands","success":true,"data":{"commands":[]}}`)+1 {
				break
			}
		}
		ready = time.Since(s.begun)
		return nil
	}, "--extension", a.extension())
	return []float64{milliseconds(first), milliseconds(ready)}, err
}

// restTime is how long an agent is left alone before its memory is read.
const restTime = 500 * time.Millisecond

func memoryAtRest(ctx context.Context, a *agent, args ...string) ([]float64, error) {
	var bytes int64
	err := a.withSession(ctx, func(s *session) (err error) {
		select {
		case <-time.After(restTime):
		case <-ctx.Done():
			return ctx.Err()
		}
		bytes, err = residentBytes(s.cmd.Process.Pid)
		return err
	}, args...)
	return []float64{mebibytes(bytes)}, err
}

// shortPrompt takes the second prompt of a session: the first also loads what
// the service needs.
func shortPrompt(ctx context.Context, a *agent) ([]float64, error) {
	var took time.Duration
	err := a.withSession(ctx, func(s *session) error {
		if err := s.prompt("SAY warm"); err != nil {
			return err
		}
		begun := time.Now()
		err := s.prompt("SAY hi")
		took = time.Since(begun)
		return err
	})
	return []float64{milliseconds(took)}, err
}

func streamedDeltas(ctx context.Context, a *agent, args ...string) ([]float64, error) {
	var took, processor time.Duration
	err := a.withSession(ctx, func(s *session) error {
		if err := s.prompt("SAY warm"); err != nil {
			return err
		}
		before, err := processorTime(s.cmd.Process.Pid)
		if err != nil {
			return err
		}
		begun := time.Now()
		if err := s.prompt(fmt.Sprintf("BURST %d 5", a.options.deltas)); err != nil {
			return err
		}
		took = time.Since(begun)
		after, err := processorTime(s.cmd.Process.Pid)
		processor = after - before
		return err
	}, args...)
	return []float64{float64(a.options.deltas) / took.Seconds(), milliseconds(processor)}, err
}

// watchedDeltas compares a stream that an extension is told of with one that
// nobody else sees, taken right after it. It ends when the extension has
// handled the last delta.
func watchedDeltas(ctx context.Context, a *agent) ([]float64, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	watched, err := streamedDeltas(ctx, a, "--extension", self)
	if err != nil {
		return nil, err
	}
	alone, err := streamedDeltas(ctx, a)
	if err != nil {
		return nil, err
	}
	return []float64{watched[0], watched[0] / alone[0], watched[1]}, nil
}

func largeSession(ctx context.Context, a *agent) ([]float64, error) {
	var opened, entries time.Duration
	var peak int64
	err := a.withSession(ctx, func(s *session) (err error) {
		opened = time.Since(s.begun)
		if peak, err = peakBytes(s.cmd.Process.Pid); err != nil {
			return err
		}
		begun := time.Now()
		n, err := s.ask("get_entries")
		entries = time.Since(begun)
		if err == nil && int64(n) < a.options.session/2 {
			err = fmt.Errorf("get_entries gave only %d bytes", n)
		}
		return err
	}, "--session", a.largeSession())
	return []float64{milliseconds(opened), milliseconds(entries), mebibytes(peak)}, err
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }
