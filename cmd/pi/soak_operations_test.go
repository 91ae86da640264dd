package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// operation is one thing that a client, or the world, does in TestSoak.
type operation struct {
	name   string
	weight int // of 1 for rare things to 10 for what people do all day; 0: once
	play   func(*soak)
}

var operations = []operation{
	{"say", 10, func(s *soak) { s.prompt(s.unique("SAY " + s.words(30))) }},
	{"think", 3, func(s *soak) { s.prompt(s.unique("THINK " + s.words(20) + "\nSAY " + s.words(5))) }},
	{"tools", 8, (*soak).useTools},
	{"burst", 3, func(s *soak) { s.prompt(s.unique("BURST 100 40")) }},
	{"cut off at the limit", 2, func(s *soak) { s.prompt(s.unique("SAY " + s.words(10) + "\nSTOP max_tokens")) }},
	{"steer and follow up", 4, (*soak).queue},
	{"bash", 3, (*soak).bash},

	{"busy once", 3, func(s *soak) { s.prompt(s.unique("FAIL 529 1\nSAY recovered")) }},
	{"busy for good", 1, func(s *soak) { s.prompt(s.unique("FAIL 503 9\nSAY never")) }},
	{"refused", 1, func(s *soak) { s.prompt(s.unique("FAIL 400 1\nFAILMSG no such thing\nSAY never")) }},
	{"too long", 2, func(s *soak) { s.prompt(s.unique("FAIL 400 1\nSAY it fits")) }},
	{"cut stream", 1, func(s *soak) { s.prompt(s.unique("CUT")) }},
	{"silent service", 2, (*soak).abortSilence},
	{"abort of a wait", 2, (*soak).abortWait},

	{"over the threshold", 2, func(s *soak) { s.prompt(s.unique("USAGE 15000\nSAY full")) }},
	{"compact", 2, (*soak).compact},
	{"abort of a compaction", 1, (*soak).abortCompaction},
	{"busy for a summary", 2, func(s *soak) { s.failingSummary(1) }},
	{"busy for all summaries", 1, func(s *soak) { s.failingSummary(4) }},

	{"new session", 1, func(s *soak) { s.change("new_session", nil) }},
	{"fork", 2, (*soak).fork},
	{"clone", 1, func(s *soak) { s.prompt(s.unique("SAY clone")); s.change("clone", nil) }},
	{"switch", 3, (*soak).switchSession},
	{"navigate", 3, func(s *soak) { s.navigate(false) }},
	{"navigate with a summary", 2, func(s *soak) { s.navigate(true) }},

	{"name and label", 1, (*soak).label},
	{"model and level", 2, (*soak).model},
	{"full disk", 2, (*soak).diskTrouble},
	{"killed", 0, (*soak).killed}, // each life of a process ends like that or well
}

// unique makes a text that no other prompt has, so that the model server counts
// failures for it alone.
func (s *soak) unique(text string) string {
	s.count++
	return fmt.Sprintf("%s\nno %d", text, s.count)
}

func (s *soak) words(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = strings.Repeat(string(rune('a'+s.random.IntN(26))), 1+s.random.IntN(9))
	}
	return strings.Join(words, " ")
}

func (s *soak) useTools() {
	file := fmt.Sprintf("f%d.txt", s.random.IntN(5))
	s.prompt(s.unique(fmt.Sprintf(`TOOL write {"path": %q, "content": "one\ntwo\n"}
THEN
TOOL edit {"path": %q, "edits": [{"oldText": "two", "newText": %q}]}
TOOL bash {"command": "seq 1 %d"}
THEN
TOOL read {"path": %q}
TOOL nonesuch {}
THEN
SAY done`, file, file, s.words(2), 1+s.random.IntN(100), file)))
}

// queue steers and follows up while an answer streams.
func (s *soak) queue() {
	s.begin(s.unique("SLOW 2\nSAY " + s.words(20)))
	s.await("message_update")
	steer := s.send("steer", map[string]any{"message": s.unique("SAY steered")})
	follow := s.send("follow_up", map[string]any{"message": s.unique("SAY followed")})
	for id, f := range s.await("="+steer, "="+follow, "agent_settled") {
		if !f.Success {
			s.t.Errorf("%s: %s", id, f.Error)
		}
	}
}

func (s *soak) bash() {
	s.ask("bash", map[string]any{"command": fmt.Sprintf("seq 1 %d; exit %d", s.random.IntN(50), s.random.IntN(2)), "excludeFromContext": s.random.IntN(3) == 0}, nil)
}

// abortSilence aborts a run whose answer does not go on.
func (s *soak) abortSilence() {
	s.begin(s.unique("HANG"))
	s.await("message_update")
	abort := s.send("abort", nil)
	s.await("="+abort, "agent_settled")
}

// abortWait ends the wait before a retry, which the service made long.
func (s *soak) abortWait() {
	s.begin(s.unique("FAIL 429 9\nRETRYAFTER 30\nSAY never"))
	s.await("auto_retry_start")
	command := []string{"abort", "abort_retry"}[s.random.IntN(2)]
	id := s.send(command, nil)
	s.await("="+id, "auto_retry_end", "agent_settled")
}

// compact compacts, if there is enough.
func (s *soak) compact() {
	s.prompt(s.unique("BURST 20 200"))
	id := s.send("compact", map[string]any{"customInstructions": s.words(3)})
	s.mayBeSmall(s.await("=" + id)[id])
}

func (s *soak) mayBeSmall(f frame) {
	if !f.Success && !strings.Contains(f.Error, "nothing to compact") {
		s.t.Errorf("compact: %s", f.Error)
	}
}

func (s *soak) abortCompaction() {
	s.prompt(s.unique("BURST 20 200\nSUMSLOW 200"))
	compact := s.send("compact", nil)
	s.await("compaction_start")
	abort := s.send("abort", nil)
	s.await("="+compact, "="+abort)
}

// failingSummary lets so many requests for a summary fail. After four of them
// the compaction is given up.
func (s *soak) failingSummary(times int) {
	s.count++
	s.prompt(fmt.Sprintf("BURST 20 200\nSUMFAIL 529 %d no%d", times, s.count))
	id := s.send("compact", nil)
	f := s.await("=" + id)[id]
	if times > 3 && !f.Success {
		return
	}
	s.mayBeSmall(f)
}

// change goes to another session.
func (s *soak) change(command string, fields map[string]any) {
	s.ask(command, fields, nil)
	s.whereAmI()
}

func (s *soak) fork() {
	var data struct{ Messages []struct{ EntryID string } }
	s.ask("get_fork_messages", nil, &data)
	if len(data.Messages) == 0 {
		s.prompt(s.unique("SAY the first"))
		return
	}
	s.change("fork", map[string]any{"entryId": data.Messages[s.random.IntN(len(data.Messages))].EntryID})
}

func (s *soak) switchSession() {
	files, err := filepath.Glob(filepath.Join(s.sessions, "*.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	var others []string
	for _, file := range files {
		if file != s.file {
			others = append(others, file)
		}
	}
	if len(others) == 0 {
		s.change("new_session", nil)
		return
	}
	s.change("switch_session", map[string]any{"sessionPath": others[s.random.IntN(len(others))]})
}

// navigate moves to any message, and goes on from there.
func (s *soak) navigate(summarize bool) {
	var data struct{ Entries []struct{ ID, Type string } }
	s.ask("get_entries", nil, &data)
	var messages []string
	for _, e := range data.Entries {
		if e.Type == "message" {
			messages = append(messages, e.ID)
		}
	}
	if len(messages) > 0 {
		s.ask("navigate_tree", map[string]any{"targetId": messages[s.random.IntN(len(messages))], "summarize": summarize}, nil)
	}
	s.prompt(s.unique("SAY from here"))
}

func (s *soak) label() {
	s.ask("set_session_name", map[string]any{"name": s.words(2)}, nil)
	var data struct{ LeafID *string }
	s.ask("get_entries", nil, &data)
	if data.LeafID != nil {
		s.ask("set_label", map[string]any{"entryId": *data.LeafID, "label": s.words(1)}, nil)
	}
}

func (s *soak) model() {
	s.ask("set_model", map[string]any{"provider": "mock", "modelId": []string{"m1", "m2"}[s.random.IntN(2)]}, nil)
	s.ask("set_thinking_level", map[string]any{"level": []string{"off", "low", "high"}[s.random.IntN(3)]}, nil)
	s.prompt(s.unique("SAY with another model"))
}

// diskTrouble puts a folder in the place of the session's file, so that nothing
// can be written for a while.
func (s *soak) diskTrouble() {
	s.prompt(s.unique("SAY on disk"))
	aside := s.file + ".aside"
	if err := os.Rename(s.file, aside); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Mkdir(s.file, 0o700); err != nil {
		s.t.Fatal(err)
	}
	s.prompt(s.unique("SAY in memory"))
	s.bash()
	if err := os.Remove(s.file); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(aside, s.file); err != nil {
		s.t.Fatal(err)
	}
	troubles := s.seen["storage_error"]
	s.prompt(s.unique("SAY on disk again"))
	if s.seen["storage_error"] != troubles+1 {
		s.t.Error("nobody was told that the session is on disk again")
	}
}

// killed ends the process as a crash does, in the middle of an answer.
func (s *soak) killed() {
	s.prompt(s.unique("SAY before the crash"))
	s.begin(s.unique("HANG"))
	s.await("message_update")
	s.p.kill()
	s.live("--session", s.file)
}
