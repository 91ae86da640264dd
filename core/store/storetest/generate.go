// Package storetest writes session files for tests and benchmarks: the same
// file for the same options, of any size, with everything in it that real
// sessions have.
//
// It imports the standard library only, and only tests import it.
package storetest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
)

// Options say what a generated session is like. The zero value is a session
// without any turn.
type Options struct {
	Size   int64 // bytes to reach; the last turn is finished beyond it
	Cwd    string
	Branch bool // now and then a turn goes on from an earlier one
	// CompactEvery is how many turns lie between two compactions; 0: none.
	CompactEvery int
}

// File writes a session to a file of the test's own and gives its path.
func File(tb testing.TB, o Options) string {
	tb.Helper()
	f, err := os.Create(tb.TempDir() + "/2026-01-02T03-04-05-000Z_" + sessionID + ".jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	w := bufio.NewWriter(f)
	if err := Write(w, o); err != nil {
		tb.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	return f.Name()
}

const sessionID = "019b7d2a-0000-7000-8000-000000000001"

// Write writes a session: a header, a model, and turns of a question, an answer
// with thinking and a tool call, its result, and a last answer.
func Write(w io.Writer, o Options) error {
	g := &generator{w: w, rnd: rand.New(rand.NewPCG(1, 2)), at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	g.line(map[string]any{"type": "session", "version": 3, "id": sessionID, "timestamp": g.stamp(), "cwd": o.Cwd})
	g.entry("model_change", map[string]any{"provider": "mock", "modelId": "m1"})
	g.entry("thinking_level_change", map[string]any{"thinkingLevel": "medium"})
	var earlier []string
	for turn := 1; g.size < o.Size && g.err == nil; turn++ {
		if o.Branch && turn%10 == 0 && len(earlier) > 3 {
			g.parent = earlier[len(earlier)-3]
		}
		g.turn(turn)
		earlier = append(earlier, g.parent)
		if o.CompactEvery > 0 && turn%o.CompactEvery == 0 {
			g.entry("compaction", map[string]any{
				"summary": g.words(200), "firstKeptEntryId": g.question, "tokensBefore": 1000 * turn, "fromHook": false,
				"details": map[string]any{"readFiles": []string{"main.go"}, "modifiedFiles": []string{}},
			})
		}
	}
	return g.err
}

type generator struct {
	w        io.Writer
	rnd      *rand.Rand
	at       time.Time
	count    int
	size     int64
	parent   string
	question string // id of the last user message
	err      error
}

func (g *generator) turn(n int) {
	call := fmt.Sprintf("toolu_%08d", n)
	question := []any{text(g.words(30))}
	if n%50 == 0 {
		question = append(question, map[string]any{"type": "image", "data": strings.Repeat("iVBORw0KGgo", 500), "mimeType": "image/png"})
	}
	g.message(map[string]any{"role": "user", "content": question})
	g.question = g.parent
	g.answer("toolUse", []any{
		map[string]any{"type": "thinking", "thinking": g.words(60), "thinkingSignature": strings.Repeat("c2ln", 40)},
		text(g.words(20)),
		map[string]any{"type": "toolCall", "id": call, "name": "bash", "arguments": map[string]any{"command": "go test ./... | tail -n 40"}},
	})
	g.message(map[string]any{"role": "toolResult", "toolCallId": call, "toolName": "bash", "isError": false, "content": []any{text(g.output(40))}})
	g.answer("stop", []any{text(g.words(120))})
}

func (g *generator) answer(stop string, content []any) {
	g.message(map[string]any{
		"role": "assistant", "content": content, "api": "anthropic-messages", "provider": "mock", "model": "m1", "stopReason": stop,
		"usage": map[string]any{
			"input": 1200, "output": 340, "cacheRead": 9000, "cacheWrite": 0, "totalTokens": 10540,
			"cost": map[string]any{"input": 0.0036, "output": 0.0051, "cacheRead": 0.0027, "cacheWrite": 0, "total": 0.0114},
		},
	})
}

func (g *generator) message(m map[string]any) {
	m["timestamp"] = g.at.UnixMilli()
	g.entry("message", map[string]any{"message": m})
}

func (g *generator) entry(entryType string, members map[string]any) {
	g.count++
	g.at = g.at.Add(time.Second)
	members["type"], members["id"], members["timestamp"] = entryType, fmt.Sprintf("%08x", g.count), g.stamp()
	members["parentId"] = nil
	if g.parent != "" {
		members["parentId"] = g.parent
	}
	g.parent = members["id"].(string)
	g.line(members)
}

func (g *generator) line(members map[string]any) {
	raw, err := json.Marshal(members)
	if g.err == nil {
		g.err = err
	}
	if g.err == nil {
		_, g.err = g.w.Write(append(raw, '\n'))
		g.size += int64(len(raw)) + 1
	}
}

func (g *generator) stamp() string { return g.at.Format("2006-01-02T15:04:05.000Z") }

func text(s string) map[string]any { return map[string]any{"type": "text", "text": s} }

var vocabulary = strings.Fields(`the agent reads a file and finds that parser of records does not handle "quotes" or
	back\slashes naïve 例えば since then every test fails with an error in line so it edits function returns value`)

func (g *generator) words(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(vocabulary[g.rnd.IntN(len(vocabulary))])
	}
	return b.String()
}

func (g *generator) output(lines int) string {
	var b strings.Builder
	for range lines {
		fmt.Fprintf(&b, "ok  \texample.com/project/pkg%d\t%d.%03ds\n", g.rnd.IntN(50), g.rnd.IntN(3), g.rnd.IntN(1000))
	}
	return b.String()
}
