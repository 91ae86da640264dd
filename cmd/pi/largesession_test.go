package main_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	sessionMiB     = flag.Int("sessionmib", 16, "size of the session of TestLargeSession")
	sessionPrompts = flag.Int("sessionprompts", 100, "how many prompts TestLargeSession adds to it")
)

// TestLargeSession goes on with a session that has grown for weeks: it costs
// its bytes once, at the start, and then a prompt costs what it does in one
// that was compacted to the same conversation yesterday.
func TestLargeSession(t *testing.T) {
	small := prompted(t, 0, *sessionPrompts)
	large := prompted(t, *sessionMiB<<20, *sessionPrompts)
	t.Logf("a small session: %s", small)
	t.Logf("one of %d MiB: %s", *sessionMiB, large)
	if raceEnabled {
		t.Log("the race detector takes time and memory of its own: only without it they are held against limits")
		return
	}
	// A busy machine is given time; work that grows faster than the file takes
	// more.
	if limit := small.start + 2*time.Second + time.Duration(*sessionMiB)*20*time.Millisecond; large.start > limit {
		t.Errorf("it took %s to start, want %s at most", large.start, limit)
	}
	if limit := 3*small.prompt + 10*time.Millisecond; large.prompt > limit {
		t.Errorf("a prompt took %s, want %s at most", large.prompt, limit)
	}
	if limit := small.memory + *sessionMiB*3/2 + 32; large.memory > limit {
		t.Errorf("it took %d MiB, want %d at most", large.memory, limit)
	}
	// Go lets garbage grow to the size of what is in use before it collects.
	if limit := small.grown + *sessionMiB*2 + 64; large.grown > limit {
		t.Errorf("after %d prompts it took %d MiB, want %d at most", *sessionPrompts, large.grown, limit)
	}
}

// cost is what a session took.
type cost struct {
	start         time.Duration // until the first answer
	prompt        time.Duration // half of them took less
	memory, grown int           // MiB, before and after the prompts
}

func (c cost) String() string {
	return fmt.Sprintf("start %s, prompt %s, memory %d MiB and then %d", c.start, c.prompt, c.memory, c.grown)
}

// prompted goes on with a session of a size.
func prompted(t *testing.T, size, prompts int) cost {
	h := newHome(t)
	writeSession(t, filepath.Join(h.work, "s.jsonl"), h.work, size)
	begun := time.Now()
	p := h.start(t, "--session", "s.jsonl")
	p.ask("g", `{"type":"get_state"}`)
	c := cost{start: time.Since(begun), memory: residentMiB(t, p.cmd.Process.Pid)}
	var took []time.Duration
	for n := range prompts {
		begun := time.Now()
		p.prompt(fmt.Sprintf("SAY answer %d", n))
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	c.prompt, c.grown = took[len(took)/2], residentMiB(t, p.cmd.Process.Pid)
	p.end()
	return c
}

// writeSession makes a session of a size whose last entry is a compaction of
// all but the last message.
func writeSession(t *testing.T, path, cwd string, size int) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := bufio.NewWriterSize(file, 1<<20)
	parent, count, written := "null", 0, 0
	put := func(kind, fields string) {
		count++
		n, _ := fmt.Fprintf(w, `{"type":%q,"id":"%08x","parentId":%s,"timestamp":"2025-01-02T03:04:05.000Z",%s}`+"\n", kind, count, parent, fields)
		written, parent = written+n, fmt.Sprintf(`"%08x"`, count)
	}
	_, _ = fmt.Fprintf(w, `{"type":"session","version":3,"id":"large","timestamp":"2025-01-02T03:04:05.000Z","cwd":%q}`+"\n", cwd)
	text, err := json.Marshal(strings.Repeat("Much was said \"here\".\n", 200))
	if err != nil {
		t.Fatal(err)
	}
	for written < size || count == 0 {
		put("message", fmt.Sprintf(`"message":{"role":"user","content":%s,"timestamp":1}`, text))
		put("message", fmt.Sprintf(`"message":{"role":"assistant","content":[{"type":"text","text":%s}],"api":"anthropic-messages","provider":"mock","model":"m1","usage":{"input":9,"output":9,"cacheRead":0,"cacheWrite":0,"totalTokens":18,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":2}`, text))
	}
	put("compaction", fmt.Sprintf(`"summary":"Much was said.","firstKeptEntryId":%s,"tokensBefore":100`, parent))
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}
