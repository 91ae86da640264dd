package store_test

import (
	"reflect"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/core/store/storetest"
)

func TestTotals(t *testing.T) {
	usage := message.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, TotalTokens: 10, Cost: message.Cost{Total: 0.5}}
	call := message.Block{Type: message.BlockToolCall, ID: "1", Name: "bash"}
	l := store.InMemory(store.CreateOptions{})
	if got := l.Totals(); !reflect.DeepEqual(got, store.Totals{}) {
		t.Errorf("an empty session: %+v", got)
	}
	must(t, l, store.ModelChange{Provider: "p", ModelID: "m"})
	q := must(t, l, said("q"))
	must(t, l, store.MessageBody{Message: &message.Assistant{Content: []message.Block{call, message.TextBlock("toolCall"), call}, Usage: usage}})
	must(t, l, store.MessageBody{Message: &message.ToolResult{ToolCallID: "1", Usage: &usage}})
	must(t, l, failed("half"))
	if got := l.Totals(); got.Messages != 4 || got.Usage.Input != 2 {
		t.Errorf("after the first turn: %+v", got)
	}
	if err := l.SetLeaf(q.ID); err != nil {
		t.Fatal(err)
	}
	must(t, l, store.BranchSummary{Summary: "s", Usage: &usage})
	must(t, l, store.Compaction{Summary: "s", Usage: &usage})
	must(t, l, store.CustomMessage{CustomType: "x"})
	must(t, l, store.MessageBody{Message: &message.BashExecution{Command: "ls"}})
	want := store.Totals{
		Messages: 5, UserMessages: 1, AssistantMessages: 2, ToolCalls: 2, ToolResults: 1,
		Usage: message.Usage{Input: 4, Output: 8, CacheRead: 12, CacheWrite: 16, TotalTokens: 40, Cost: message.Cost{Total: 2}},
	}
	for range 2 {
		if got := l.Totals(); !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
}

func TestTotalsOfOddEntries(t *testing.T) {
	l := open(t, write(t, header,
		other("usage", "1", "", `,"usage":{"input":5}`), other("compaction", "2", "1", `,"usage":7`),
		other("message", "3", "2", `,"message":{"role":"assistant","content":"text","usage":null}`),
		other("message", "4", "3", `,"message":{"role":"assistant","content":[1,{"type":"toolCall"},{"type":5}],"usage":{"input":"x"}}`),
		other("message", "5", "4", `,"message":7`)))
	want := store.Totals{Messages: 2, AssistantMessages: 2, ToolCalls: 1, Usage: message.Usage{Input: 5}}
	if got := l.Totals(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func BenchmarkTotals32MiB(b *testing.B) {
	path := storetest.File(b, storetest.Options{Size: large})
	b.SetBytes(large)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		l, err := store.Read(path)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if l.Totals().Messages == 0 {
			b.Fatal("nothing counted")
		}
	}
}
