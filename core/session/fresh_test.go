package session_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
)

// forModel is what the model is sent of the conversation as it stands.
func (r *rig) forModel() []string {
	r.t.Helper()
	var list []message.Message
	for _, raw := range r.Messages() {
		m, err := message.Decode(raw)
		if err != nil {
			r.t.Fatal(err)
		}
		list = append(list, m)
	}
	return scripted.Messages(message.ForModel(list))
}

// freshly is what the model would be sent after a fresh load of the file.
func (r *rig) freshly() []string {
	r.t.Helper()
	log, err := store.Read(r.File())
	if err != nil {
		r.t.Fatal(err)
	}
	var list []message.Message
	for _, item := range log.Context(log.Leaf()) {
		list = append(list, item.Message())
	}
	return scripted.Messages(message.ForModel(list))
}

// Whatever happened to a conversation, the model is sent the same of it by
// the process that lived through it and by one that loads its file.
func TestFreshLoadSaysTheSame(t *testing.T) {
	cutOff := scripted.Answer{Parts: []scripted.Part{scripted.Say("half an ans")}, Stop: message.StopLength}
	broken := scripted.Answer{Parts: []scripted.Part{scripted.Say("half")}, Err: &provider.Error{Class: provider.Retryable, Message: "the stream broke"}}

	steered := func(r *rig, answer scripted.Answer) scripted.Answer {
		answer.First = func(context.Context, provider.Request) { r.steer("and more") }
		return answer
	}
	for _, c := range []struct {
		name string
		live func(r *rig)
		want []string
	}{
		{"cut off, then a prompt", func(r *rig) {
			r.model.Then(cutOff)
			r.run("p")
			r.run("q")
		}, []string{"user: p", "user: q", "assistant stop: ok"}},
		{"cut off, then what was queued", func(r *rig) {
			r.model.Then(steered(r, cutOff))
			r.run("p")
		}, []string{"user: p", "user: and more", "assistant stop: ok"}},
		{"cut off, then a command", func(r *rig) {
			r.model.Then(cutOff)
			r.run("p")
			if _, err := r.StartBash(session.BashCommand{Command: "echo hi"})(); err != nil {
				r.t.Fatal(err)
			}
			r.run("q")
		}, []string{"user: p", "assistant length: half an ans", "user: Ran `echo hi`\n```\nhi\n\n```", "user: q", "assistant stop: ok"}},
		{"cut off, and nothing else", func(r *rig) {
			r.model.Then(cutOff)
			r.run("p")
		}, []string{"user: p", "assistant length: half an ans"}},
		{"failed and tried again", func(r *rig) {
			r.model.Then(broken, broken)
			r.run("p")
		}, []string{"user: p", "assistant stop: ok"}},
		{"failed for good, then a prompt", func(r *rig) {
			r.model.Then(scripted.Fail(provider.Invalid, "no"))
			r.run("p")
			r.run("q")
		}, []string{"user: p", "user: q", "assistant stop: ok"}},
		{"too long, made smaller, and tried again", func(r *rig) {
			r.run("p " + strings.Repeat("x", 4000))
			r.model.Then(tooLarge, scripted.Text("the summary"))
			r.run("q")
		}, nil},
		{"cut off, then compacted, then a prompt", func(r *rig) {
			r.run("p " + strings.Repeat("x", 4000))
			r.model.Then(cutOff, scripted.Text("the summary"))
			r.run("q")
			if _, err := r.compactNow(); err != nil {
				r.t.Fatal(err)
			}
			r.run("s")
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nil, onDisk(t.TempDir()), tight, settings(func(s *session.Settings) { s.Retry.BaseDelay = 0 }))
			c.live(r)
			live := r.forModel()
			wantLines(t, r.freshly(), live...)
			if c.want != nil {
				wantLines(t, live, c.want...)
			} else if !strings.Contains(strings.Join(live, "\n"), "the summary") {
				t.Errorf("the conversation was not compacted: %q", live)
			}
		})
	}
}

// An entry whose parent is missing is a root: what comes before it is nothing.
func TestForkAndNavigateBeforeAnOrphan(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.jsonl")
	lines := `{"type":"session","version":3,"id":"0198c0de-0000-7000-8000-000000000001","timestamp":"2026-01-02T03:04:05.000Z","cwd":""}
{"type":"message","id":"aaaaaaaa","parentId":"00000000","timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"user","content":"orphan"}}
{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-01-02T03:04:07.000Z","message":{"role":"assistant","content":[{"type":"text","text":"yes"}],"stopReason":"stop"}}
`
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	opened := func(c *session.Config) {
		log, err := store.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		c.Log = log
	}
	r := newRig(t, nil, opened)
	moved, err := r.NavigateTree(t.Context(), session.Navigate{TargetID: "aaaaaaaa"})()
	if err != nil || moved.EditorText == nil || *moved.EditorText != "orphan" {
		t.Errorf("navigate: %+v, %v", moved, err)
	}
	wantLines(t, r.conversation())
	changed, err := r.Fork(t.Context(), "aaaaaaaa", "before")()
	if err != nil || changed.Text != "orphan" {
		t.Errorf("fork: %+v, %v", changed, err)
	}
	wantLines(t, r.conversation())
}

// Where no other process can be kept from the file, that is said, once for
// each file.
func TestSessionThatCannotBeLocked(t *testing.T) {
	dir := t.TempDir()
	var notes []string
	r := newRig(t, nil, onDisk(dir), func(c *session.Config) { c.Note = func(text string) { notes = append(notes, text) } })
	// A folder of the lock's name is in its way.
	if err := os.Mkdir(filepath.Join(dir, "."+filepath.Base(r.File())+".lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.run("p")
	r.run("q")
	if len(notes) != 1 || !strings.Contains(notes[0], r.File()) || !strings.Contains(notes[0], "cannot be locked") {
		t.Errorf("got %q", notes)
	}
	if _, err := r.NewSession(t.Context(), "")(); err != nil {
		t.Fatal(err)
	}
	r.run("s")
	if len(notes) != 1 {
		t.Errorf("a session that has its lock is no news: %q", notes)
	}
}
