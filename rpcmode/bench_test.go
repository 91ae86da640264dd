package rpcmode_test

import (
	"context"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/rpcmode"
	"github.com/seed-54e836f5/pi/rpcmode/internal/scripted"
)

// BenchmarkServeDeltas streams answers of 20 000 deltas to a client that
// reads at full speed.
func BenchmarkServeDeltas(b *testing.B) {
	const deltas = 20000
	in, input := io.Pipe()
	fromAgent, out := io.Pipe()
	s := session.New(scripted.Config(b.TempDir(), &scripted.Model{}))
	served := make(chan error, 1)
	go func() {
		served <- rpcmode.Serve(context.Background(), rpcmode.Options{In: in, Out: out, Session: s})
		_ = out.Close()
	}()
	settled := make(chan struct{}, 1)
	go func() {
		lines := newLines(fromAgent)
		for line, ok := lines(); ok; line, ok = lines() {
			if strings.HasPrefix(line, `{"type":"agent_settled"`) {
				settled <- struct{}{}
			}
		}
		close(settled)
	}()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := io.WriteString(input, `{"type":"prompt","message":"BURST `+strconv.Itoa(deltas)+`"}`+"\n"); err != nil {
			b.Fatal(err)
		}
		<-settled
	}
	b.ReportMetric(float64(deltas*b.N)/b.Elapsed().Seconds(), "deltas/s")
	_ = input.Close()
	if err := <-served; err != nil {
		b.Fatal(err)
	}
	<-settled
}
