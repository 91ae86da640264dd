package main_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	unreadTime = flag.Duration("unread", 2*time.Second, "how long TestClientThatDoesNotRead leaves stdout unread")
	kills      = flag.Int("kills", 20, "how often TestKilledAtAnyMoment kills a run")
	killSeed   = flag.Uint64("killseed", uint64(time.Now().UnixNano()), "seed of the moments of TestKilledAtAnyMoment")
)

func TestLineOf64MiB(t *testing.T) {
	p := newHome(t).start(t)
	padding := strings.Repeat("x", 64<<20)
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(p.stdin, io.MultiReader(
			strings.NewReader(`{"id":"long","type":"get_state","padding":"`), strings.NewReader(padding), strings.NewReader("\"}\n"),
			strings.NewReader(padding), strings.NewReader("\n"),
			strings.NewReader(`{"id":"after","type":"get_state"}`+"\n")))
		done <- err
	}()
	if f := p.response("long"); !f.Success {
		t.Errorf("a command in a line of 64 MiB: %s", f.Error)
	}
	if f := p.event("response"); f.Command != "parse" || f.Success {
		t.Errorf("a line of 64 MiB that is no JSON: got %+v", f)
	}
	if f := p.response("after"); !f.Success {
		t.Errorf("the command after it: %s", f.Error)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	p.end()
}

func TestPipelinedCommands(t *testing.T) {
	const n = 10_000
	p := newHome(t).start(t)
	done := make(chan error, 1)
	go func() {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `{"id":%d,"type":"set_session_name","name":"n%d"}`+"\n", 2*i, i)
			fmt.Fprintf(&b, `{"id":%d,"type":"get_state"}`+"\n", 2*i+1)
		}
		_, err := io.WriteString(p.stdin, b.String())
		done <- err
	}()
	// They may be answered in another order, but each once, and they take
	// effect in the order read: each state knows the name set before it.
	answered := map[any]bool{}
	for len(answered) < 2*n {
		f := p.event("response")
		if answered[f.ID] || !f.Success {
			t.Fatalf("answer %v: success is %v, and it is a second one: %v", f.ID, f.Success, answered[f.ID])
		}
		answered[f.ID] = true
		if f.Command != "get_state" {
			continue
		}
		var state struct{ SessionName string }
		if err := json.Unmarshal(f.Data, &state); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("n%d", int(f.ID.(float64))/2); state.SessionName != want {
			t.Fatalf("answer %v: the session's name is %q, not %q", f.ID, state.SessionName, want)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	p.end()
}

// TestClientThatDoesNotRead leaves stdout alone in the middle of a burst: the
// process waits for its client, without growing, and then everything comes.
func TestClientThatDoesNotRead(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("only /proc says how much memory a process has; that part is left out")
	}
	const deltas, size = 20_000, 400 // 8 MB of text, far more than any buffer
	p := newHome(t).start(t, "--no-session")
	p.send(fmt.Sprintf(`{"id":"p","type":"prompt","message":"BURST %d %d"}`, deltas, size))
	p.event("message_update") // the beginning of the text
	before := residentMiB(t, p.cmd.Process.Pid)
	<-time.After(*unreadTime)
	if after := residentMiB(t, p.cmd.Process.Pid); after > before+64 {
		t.Errorf("it grew from %d to %d MiB while nobody read", before, after)
	}
	// stdin is read meanwhile, and the answer waits its turn.
	p.send(`{"id":"s","type":"get_state"}`)
	length, answered := 0, false
	end := p.until(func(f frame) bool {
		if f.Type == "message_update" {
			length += len(f.Event.Delta)
		}
		answered = answered || f.ID == "s"
		return f.Type == "message_end"
	})
	var message struct {
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(end.Message, &message); err != nil {
		t.Fatal(err)
	}
	if length != deltas*size || len(message.Content) != 1 || len(message.Content[0].Text) != deltas*size {
		t.Errorf("of %d bytes came %d in deltas", deltas*size, length)
	}
	if !answered {
		p.response("s")
	}
	p.event("agent_settled")
	p.end()
}

// TestOutputGrowsWithTheText streams answers of one and of four sizes: what is
// written of a delta does not depend on how much came before it.
func TestOutputGrowsWithTheText(t *testing.T) {
	p := newHome(t).start(t, "--no-session")
	const size = 20
	longest := func(deltas int) (longest, all int) {
		p.send(fmt.Sprintf(`{"id":"p","type":"prompt","message":"BURST %d %d"}`, deltas, size))
		p.until(func(f frame) bool {
			all += len(f.raw)
			if f.Event.Delta != "" {
				longest = max(longest, len(f.raw)-len(f.Event.Delta))
			}
			return f.Type == "agent_settled"
		})
		return longest, all
	}
	_, some := longest(1250)
	around, all := longest(5000)
	t.Logf("%d bytes of text are written as %d, and four times as many as %d", 1250*size, some, all)
	if around > 200 {
		t.Errorf("around the text of a delta are %d bytes", around)
	}
	if all > 5*some {
		t.Errorf("four times the text takes %d bytes instead of %d", all, some)
	}
	p.end()
}

func residentMiB(t *testing.T, pid int) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kib >> 10
}

// TestKilledAtAnyMoment kills a session again and again, and opens it again:
// at most what was being written is missing, and the conversation goes on.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Logf("-killseed %d", *killSeed)
	random := rand.New(rand.NewPCG(*killSeed, 0))
	h := newHome(t)
	const session = "killed.jsonl"
	length := timeOfRun(t, h)
	kept := 0
	for i := range *kills {
		p := h.start(t, "--session", session)
		p.send(killedPrompt(i))
		moment := time.Duration(random.Int64N(int64(length + length/2)))
		timer := time.AfterFunc(moment, func() { _ = p.cmd.Process.Kill() })
		ended := readEnded(p)
		timer.Stop()
		p.kill()
		kept = checkKilled(t, h, session, kept, ended)
		if t.Failed() {
			t.Fatalf("killed for the %d. time, after %v", i+1, moment)
		}
	}
	p := h.start(t, "--session", session)
	p.send(`{"id":"p","type":"prompt","message":"SAY still here"}`)
	if f := p.response("p"); !f.Success {
		t.Error(f.Error)
	}
	p.event("agent_settled")
	p.end()
}

// killedPrompt scripts a run with two tool calls and some text.
func killedPrompt(i int) string {
	text := fmt.Sprintf("SLOW 2\nSAY round %d\nTOOL bash {\"command\": \"echo one\"}\nTHEN\nTOOL bash {\"command\": \"echo two\"}\nTHEN\nSAY a b c d e f", i)
	line, err := json.Marshal(map[string]any{"id": "p", "type": "prompt", "message": text})
	if err != nil {
		panic(err)
	}
	return string(line)
}

// timeOfRun is how long start and run take when nobody interferes.
func timeOfRun(t *testing.T, h home) time.Duration {
	t.Helper()
	begun := time.Now()
	p := h.start(t, "--no-session")
	p.send(killedPrompt(0))
	p.event("agent_settled")
	took := time.Since(begun)
	p.end()
	return took
}

// readEnded counts the messages that the client saw end before the run or the
// process did.
func readEnded(p *process) int {
	ended := 0
	for {
		f, err := p.next()
		if err != nil || f.Type == "agent_settled" {
			return ended
		}
		if f.Type == "message_end" {
			ended++
		}
	}
}

// checkKilled opens the session and returns how many messages it has. There
// were kept before, and the client saw ended more.
func checkKilled(t *testing.T, h home, session string, kept, ended int) int {
	t.Helper()
	p := h.start(t, "--session", session)
	p.send(`{"id":"e","type":"get_entries"}`)
	f := p.response("e")
	if !f.Success {
		t.Fatalf("the session does not open: %s", f.Error)
	}
	var data struct {
		Entries []struct {
			ID       string
			ParentID *string
			Type     string
		}
	}
	if err := json.Unmarshal(f.Data, &data); err != nil {
		t.Fatal(err)
	}
	messages, known := 0, map[string]bool{}
	for _, e := range data.Entries {
		if e.ParentID != nil && !known[*e.ParentID] {
			t.Errorf("entry %s hangs on %s, which is not there", e.ID, *e.ParentID)
		}
		known[e.ID] = true
		if e.Type == "message" {
			messages++
		}
	}
	// The client may have seen the end of the one message that was being
	// written.
	if messages < kept+ended-1 || messages < kept {
		t.Errorf("%d messages are left of %d and %d more that ended", messages, kept, ended)
	}
	p.end()
	return messages
}
