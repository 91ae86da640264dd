package extensions_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/message"
)

// BenchmarkHookRoundTrip is one tool_call through the chain to an extension
// and back.
func BenchmarkHookRoundTrip(b *testing.B) {
	k := startKit(b, actor(b, "tool_call=nothing", nil))
	e := &event.ToolCall{ToolName: "bash", ToolCallID: "1", Input: event.Raw(`{"command":"ls -l"}`)}
	samples := make([]time.Duration, 0, b.N)
	for b.Loop() {
		started := time.Now()
		if hook.Decide[event.ToolCallResult](b.Context(), k.hooks, e).Block {
			b.Fatal("the call is blocked")
		}
		samples = append(samples, time.Since(started))
	}
	percentiles(b, samples)
}

// BenchmarkCallbackRoundTrip is a hook whose handler calls pi back once.
func BenchmarkCallbackRoundTrip(b *testing.B) {
	k := startKit(b, actor(b, "tool_call=note", nil))
	e := &event.ToolCall{ToolName: "bash", ToolCallID: "1", Input: event.Raw(`{"command":"ls -l"}`)}
	samples := make([]time.Duration, 0, b.N)
	for b.Loop() {
		started := time.Now()
		hook.Decide[event.ToolCallResult](b.Context(), k.hooks, e)
		samples = append(samples, time.Since(started))
	}
	percentiles(b, samples)
}

func percentiles(b *testing.B, samples []time.Duration) {
	slices.Sort(samples)
	at := func(percent int) float64 {
		return float64(samples[(len(samples)-1)*percent/100].Microseconds()) / 1000
	}
	b.ReportMetric(at(50), "p50-ms")
	b.ReportMetric(at(99), "p99-ms")
}

// BenchmarkBurst tells 20 000 deltas to an extension that subscribes, and to
// none, until the last one is handled.
func BenchmarkBurst(b *testing.B) {
	for name, on := range map[string]string{"subscribed": "message_update=count", "unsubscribed": ""} {
		b.Run(name, func(b *testing.B) {
			const count = 20000
			k := startKit(b, actor(b, on, nil))
			delta := "word "
			var told time.Duration
			for b.Loop() {
				started := time.Now()
				for range count {
					k.hooks.Tell(b.Context(), &event.MessageUpdate{Update: event.AssistantUpdate{Type: event.TextDelta, Delta: &delta}})
				}
				told = time.Since(started)
				k.hooks.Tell(b.Context(), &event.MessageEnd{Message: message.NewUser("x", nil, 1)})
			}
			b.ReportMetric(float64(count*b.N)/b.Elapsed().Seconds(), "deltas/s")
			b.ReportMetric(float64(told.Nanoseconds())/count, "ns/delta-in-run")
		})
	}
}

// BenchmarkStart starts extensions side by side, and reports what one adds to
// memory.
func BenchmarkStart(b *testing.B) {
	for _, count := range []int{1, 10} {
		b.Run(fmt.Sprintf("extensions=%d", count), func(b *testing.B) {
			var paths []string
			for n := range count {
				paths = append(paths, folder(b, fmt.Sprintf("hello%d", n), map[string]any{"command": []string{fixture("hello")}}))
			}
			var memory int64
			for b.Loop() {
				k := startKit(b, paths...)
				b.StopTimer()
				for _, info := range k.host.Infos() {
					memory = max(memory, info.Memory)
				}
				_ = k.host.Close(context.Background())
				b.StartTimer()
			}
			b.ReportMetric(float64(memory)/(1<<20), "MiB/extension")
		})
	}
}
