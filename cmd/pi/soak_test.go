package main_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed-54e836f5/pi/cmd/internal/modelserver"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

var (
	soakPrompts = flag.Int("soak", 100, "prompts of TestSoak")
	soakSeed    = flag.Uint64("soakseed", 0, "seed of TestSoak; 0: a new one")
	soakKeep    = flag.String("soakkeep", "", "folder that keeps the sessions of TestSoak, to open them with other agents")
)

// soakLives is how many processes share the work, one after the other: what
// one lived through, the next loads.
const soakLives = 4

const soakModels = `{"providers": {"mock": {"baseUrl": "SERVER", "api": "anthropic-messages", "apiKey": "x", "models": [
  {"id": "m1", "reasoning": true, "contextWindow": 16000, "maxTokens": 4000, "cost": {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0}},
  {"id": "m2", "contextWindow": 16000, "maxTokens": 4000}]}}}`

const soakSettings = `{"retry": {"baseDelayMs": 2}, "compaction": {"reserveTokens": 2000, "keepRecentTokens": 500}}`

// TestSoak leads one client through weeks of use in a few seconds: prompts with
// tools, compactions, forks, switches, retries, moves in the tree, and all that
// goes wrong on the way, at the service, on the disk and with the process.
// Whatever happens, each prompt settles once, every session file is whole, and
// a process that loads a session sends the model what the one before it would
// have sent.
//
// A failure names the seed: -soak and -soakseed play it again.
func TestSoak(t *testing.T) {
	if *soakSeed == 0 {
		*soakSeed = rand.Uint64()
	}
	t.Logf("-soak %d -soakseed %d", *soakPrompts, *soakSeed)
	s := newSoak(t)
	s.live("--session", filepath.Join(s.sessions, "first.jsonl"))
	for life := range soakLives {
		s.play(*soakPrompts * (life + 1) / soakLives)
		s.reborn(life%2 == 1)
	}
	s.end()
	s.checkFiles()
	s.report()
}

// soak is the client, and what it knows.
type soak struct {
	t        *testing.T
	home     home
	sessions string
	random   *rand.Rand

	p         *process
	file      string         // of the session that is open
	count     int            // commands and texts so far
	prompts   int            // sent so far
	runs      int            // begun by this process
	settled   int            // told of by this process
	seen      map[string]int // events of any kind, of all processes
	did       map[string]int // operations
	last      string         // the operation that is on
	compacted bool           // a compaction began since somebody looked
	rss       []int          // of the process that lives, in MiB
}

func newSoak(t *testing.T) *soak {
	t.Helper()
	root := *soakKeep
	if root == "" {
		root = t.TempDir()
	}
	s := &soak{
		t: t, random: rand.New(rand.NewPCG(*soakSeed, 0)), seen: map[string]int{}, did: map[string]int{},
		home:     home{server: modelserver.Start(t), agent: filepath.Join(root, "agent"), work: filepath.Join(root, "work")},
		sessions: filepath.Join(root, "sessions"),
	}
	for _, dir := range []string{s.home.agent, s.home.work, s.sessions} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"models.json": strings.ReplaceAll(soakModels, "SERVER", s.home.server.URL), "settings.json": soakSettings} {
		if err := os.WriteFile(filepath.Join(s.home.agent, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// live starts the next process.
func (s *soak) live(args ...string) {
	s.t.Helper()
	s.p = s.home.start(s.t, append(args, "--session-dir", s.sessions, "--tools", "read,bash,edit,write")...)
	s.runs, s.settled, s.rss = 0, 0, nil
	s.whereAmI()
}

// play does one operation after the other until so many prompts were sent. Each
// kind has its turn once, before chance decides.
func (s *soak) play(prompts int) {
	s.t.Helper()
	for s.prompts < prompts && !s.t.Failed() {
		o := s.next()
		s.last = o.name
		s.did[o.name]++
		o.play(s)
		s.calm()
		if s.prompts%10 == 0 {
			s.rss = append(s.rss, residentMiB(s.t, s.p.cmd.Process.Pid))
		}
	}
	s.checkMemory()
}

func (s *soak) next() operation {
	sum := 0
	for _, o := range operations {
		if s.did[o.name] == 0 && s.prompts > 3 {
			return o
		}
		sum += o.weight
	}
	n := s.random.IntN(sum)
	for _, o := range operations {
		if n -= o.weight; n < 0 {
			return o
		}
	}
	panic("the weights do not add up")
}

// calm checks that nothing is left of an operation.
func (s *soak) calm() {
	s.t.Helper()
	var state struct {
		IsStreaming, IsCompacting bool
		PendingMessageCount       int
	}
	s.ask("get_state", nil, &state)
	if state.IsStreaming || state.IsCompacting || state.PendingMessageCount != 0 || s.settled != s.runs {
		s.t.Fatalf("after %q: %+v, %d runs settled %d times", s.last, state, s.runs, s.settled)
	}
}

// checkMemory checks that a process does not grow: from its first third on, by
// no more than a few sessions of this size take.
func (s *soak) checkMemory() {
	s.t.Helper()
	if len(s.rss) < 3 {
		return
	}
	early, late := s.rss[len(s.rss)/3], s.rss[len(s.rss)-1]
	s.t.Logf("memory of a process, in MiB: %v", s.rss)
	allowed := 8
	if raceEnabled {
		allowed *= 8
	}
	if late > early+allowed {
		s.t.Errorf("the process grew from %d to %d MiB", early, late)
	}
}

// reborn ends the process, by kill -9 or as clients do, lets another one open
// the session, and compares what the model is sent.
func (s *soak) reborn(killed bool) {
	s.t.Helper()
	s.last = "another process"
	s.ask("set_model", map[string]any{"provider": "mock", "modelId": "m1"}, nil) // as the flags of the next one say
	s.prompt("SAY the last of this process")                                     // so that the file's leaf is the session's
	s.compacted = false
	s.prompt("SAY just before the end")
	before, sent := s.conversation(), s.sent()
	var stats, again json.RawMessage
	s.ask("get_session_stats", nil, &stats)
	if killed {
		s.p.kill()
	} else {
		s.p.end()
	}
	s.live("--session", s.file)
	if after := s.conversation(); !reflect.DeepEqual(before, after) {
		s.t.Errorf("after a fresh load the conversation is another: %s", firstDifference(before, after))
	}
	s.ask("get_session_stats", nil, &again)
	if !bytes.Equal(stats, again) {
		s.t.Errorf("the statistics were %s and are %s", stats, again)
	}
	if s.compacted {
		return // at the end of the last run: what was sent before it says nothing
	}
	s.prompt("SAY just after the start")
	if s.compacted {
		return
	}
	now := s.sent()
	if len(now) < len(sent) || !reflect.DeepEqual(sent, now[:len(sent)]) {
		s.t.Errorf("after a fresh load the model is sent something else: %s", firstDifference(sent, now))
	}
}

// firstDifference says where two lists part, and how they come to that.
func firstDifference(was, is []string) string {
	at := 0
	for at < len(was) && at < len(is) && was[at] == is[at] {
		at++
	}
	show := func(list []string) string {
		return strings.Join(list[max(0, min(at-3, len(list))):min(at+2, len(list))], "\n\t\t")
	}
	return fmt.Sprintf("%d and %d messages, from the %d. on\n\twas\t%s\n\tis\t%s", len(was), len(is), at+1, show(was), show(is))
}

func (s *soak) end() {
	s.t.Helper()
	s.p.end()
}

// conversation is what the model would be sent, as the messages of the session.
func (s *soak) conversation() []string {
	s.t.Helper()
	var data struct{ Messages []json.RawMessage }
	s.ask("get_messages", nil, &data)
	var list []message.Message
	for _, raw := range data.Messages {
		m, err := message.Decode(raw)
		if err != nil {
			s.t.Fatal(err)
		}
		list = append(list, m)
	}
	var texts []string
	for _, m := range message.ForModel(list) {
		raw, err := message.Marshal(m)
		if err != nil {
			s.t.Fatal(err)
		}
		texts = append(texts, string(raw))
	}
	return texts
}

// sent is what the service got with the last request, message by message.
func (s *soak) sent() []string {
	s.t.Helper()
	requests := s.home.server.Requests()
	var body struct{ Messages []any }
	if err := json.Unmarshal(requests[len(requests)-1].Body, &body); err != nil {
		s.t.Fatal(err)
	}
	texts := make([]string, len(body.Messages))
	for i, m := range body.Messages {
		texts[i] = fmt.Sprint(withoutMarks(m))
	}
	return texts
}

// withoutMarks takes the marks for the service's cache away, which move on.
func withoutMarks(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "cache_control")
		for key := range v {
			v[key] = withoutMarks(v[key])
		}
	case []any:
		for i := range v {
			v[i] = withoutMarks(v[i])
		}
	}
	return v
}

// checkFiles reads every session that came into being.
func (s *soak) checkFiles() {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.sessions, "*.jsonl"))
	if err != nil || len(files) == 0 {
		s.t.Fatalf("%d session files: %v", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			s.t.Fatal(err)
		}
		log, err := store.Read(file)
		if err != nil {
			s.t.Error(err)
			continue
		}
		known := map[string]bool{"": true}
		for _, e := range log.Entries() {
			if known[e.ID] || !known[e.ParentID] {
				s.t.Errorf("%s: entry %s is there twice, or hangs on %q, which is not", file, e.ID, e.ParentID)
			}
			known[e.ID] = true
		}
		if lines := bytes.Count(raw, []byte("\n")); lines != len(log.Entries())+1 || !bytes.HasSuffix(raw, []byte("\n")) {
			s.t.Errorf("%s: %d lines for %d entries and a header", file, lines, len(log.Entries()))
		}
	}
	left, err := filepath.Glob(filepath.Join(s.sessions, ".*"))
	if err != nil || len(left) > 0 {
		s.t.Errorf("left behind: %q, %v", left, err)
	}
}

func (s *soak) report() {
	s.t.Logf("%d prompts; operations: %v; events: %v", s.prompts, s.did, s.seen)
	for _, o := range operations {
		if s.did[o.name] == 0 {
			s.t.Errorf("%q was never done: the test is too short", o.name)
		}
	}
	for _, kind := range []string{"auto_retry_start", "auto_retry_end", "compaction_start", "compaction_end", "summarization_retry_scheduled", "queue_update", "storage_error"} {
		if s.seen[kind] == 0 {
			s.t.Errorf("there was no %s", kind)
		}
	}
}

// read reads the next frame and keeps count.
func (s *soak) read() frame {
	s.t.Helper()
	f, err := s.p.next()
	if err != nil {
		s.t.Fatalf("after %q: %v; stderr: %s", s.last, err, s.p.stderr.String())
	}
	switch f.Type {
	case "response":
	case "agent_settled":
		s.settled++
		fallthrough
	default:
		s.seen[f.Type]++
	}
	s.compacted = s.compacted || f.Type == "compaction_start"
	return f
}

// await reads until each of some frames has come: the name of an event, or =
// and the id of a response. It gives the responses by their ids.
func (s *soak) await(frames ...string) map[string]frame {
	s.t.Helper()
	missing := map[string]bool{}
	for _, name := range frames {
		missing[name] = true
	}
	responses := map[string]frame{}
	late := time.AfterFunc(time.Minute, func() { _ = s.p.cmd.Process.Kill() })
	defer late.Stop()
	for len(missing) > 0 {
		f := s.read()
		if id, ok := f.ID.(string); ok && f.Type == "response" {
			responses[id] = f
			delete(missing, "="+id)
		}
		delete(missing, f.Type)
	}
	return responses
}

// send sends a command and gives its id.
func (s *soak) send(command string, fields map[string]any) string {
	s.t.Helper()
	s.count++
	id := fmt.Sprintf("c%d", s.count)
	line := map[string]any{"id": id, "type": command}
	for name, value := range fields {
		line[name] = value
	}
	raw, err := json.Marshal(line)
	if err != nil {
		s.t.Fatal(err)
	}
	s.p.send(string(raw))
	return id
}

// ask sends a command that must succeed, and reads its data.
func (s *soak) ask(command string, fields map[string]any, data any) {
	s.t.Helper()
	id := s.send(command, fields)
	f := s.await("=" + id)[id]
	if !f.Success {
		s.t.Fatalf("after %q: %s: %s", s.last, command, f.Error)
	}
	if data != nil {
		if err := json.Unmarshal(f.Data, data); err != nil {
			s.t.Fatal(err)
		}
	}
}

// begin sends a prompt that begins a run.
func (s *soak) begin(text string) string {
	s.t.Helper()
	s.prompts++
	s.runs++
	return s.send("prompt", map[string]any{"message": text})
}

// prompt sends a prompt and waits until it has settled.
func (s *soak) prompt(text string) {
	s.t.Helper()
	id := s.begin(text)
	if f := s.await("="+id, "agent_settled")[id]; !f.Success {
		s.t.Fatalf("prompt %q: %s", text, f.Error)
	}
}

// whereAmI asks for the session's file.
func (s *soak) whereAmI() {
	s.t.Helper()
	var state struct{ SessionFile string }
	s.ask("get_state", nil, &state)
	s.file = state.SessionFile
}
