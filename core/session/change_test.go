package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/core/todo"
)

// watching notes what extensions are told about changes of session.
func watching(note func(format string, args ...any)) *scripted.Listener {
	kinds := []event.Kind{event.KindSessionBeforeSwitch, event.KindSessionBeforeFork, event.KindSessionShutdown, event.KindSessionStart, event.KindResourcesDiscover}
	return &scripted.Listener{Name: "watch", Kinds: kinds, Do: func(_ context.Context, e event.Event) (any, error) {
		note("%s", scripted.Line(e))
		return nil, nil
	}}
}

// noted is a rig on disk whose extension notes changes.
func noted(t *testing.T, script []scripted.Answer, more ...with) (r *rig, notes *[]string) {
	t.Helper()
	notes = &[]string{}
	note := func(format string, args ...any) {
		line := fmt.Sprintf(format, args...)
		if r != nil && r.File() != "" {
			line = strings.ReplaceAll(line, filepath.Dir(r.File())+"/", "")
		}
		*notes = append(*notes, line)
	}
	r = newRig(t, script, append([]with{onDisk(t.TempDir()), hooks(watching(note))}, more...)...)
	return r, notes
}

func TestNewSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, notes := noted(t, nil)
		if _, err := r.SetModel(t.Context(), "mock", "m2"); err != nil {
			t.Fatal(err)
		}
		if err := r.SetName(t.Context(), "old"); err != nil {
			t.Fatal(err)
		}
		r.run("p")
		r.steer("s")
		r.Todos().Set([]todo.Phase{{Tasks: []todo.Task{{Content: "t"}}}})
		oldFile, oldID, generation := r.File(), r.ID(), r.Generation()
		r.Reset()
		changed, err := r.NewSession(t.Context(), "/parent.jsonl")()
		if err != nil || changed.Cancelled || changed.Text != "" {
			t.Fatalf("got %+v, %v", changed, err)
		}
		state := r.State()
		if state.SessionFile == oldFile || state.SessionID == oldID || state.SessionName != "" || state.MessageCount != 0 || state.PendingMessageCount != 0 ||
			state.Model.ID != "m2" || state.ThinkingLevel != "off" || len(r.Todos().Phases()) != 0 || r.Generation() != generation+1 {
			t.Errorf("the state is %+v", state)
		}
		if r.Header().ParentSession != "/parent.jsonl" || r.Cwd() == "" {
			t.Errorf("the header is %+v", r.Header())
		}
		wantLines(t, r.Lines(), "queue_update [] []") // what was queued is given up
		wantLines(t, r.entryTypes(), "model_change", "thinking_level_change")
		wantLines(t, *notes,
			`session_before_switch {"reason":"new"}`,
			fmt.Sprintf(`session_shutdown {"reason":"new","targetSessionFile":%q}`, filepath.Base(r.File())),
			fmt.Sprintf(`session_start {"reason":"new","previousSessionFile":%q}`, filepath.Base(oldFile)),
			"resources_discover new")
		if _, err := os.Stat(r.File()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a session that nobody used is on disk: %v", err)
		}
		// The old one is closed, and whole.
		log, err := store.Open(oldFile)
		if err != nil {
			t.Fatal(err)
		}
		if log.Name() != "old" || len(log.Context(log.Leaf())) != 2 {
			t.Errorf("the old session has %d messages", len(log.Context(log.Leaf())))
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		r.run("q")
		wantLines(t, r.conversation(), "user: q", "assistant stop: ok")
	})
}

func TestChangesAbortTheRun(t *testing.T) {
	for name, change := range map[string]func(r *rig) error{
		"new": func(r *rig) error { _, err := r.NewSession(r.t.Context(), "")(); return err },
		"fork": func(r *rig) error {
			_, err := r.Fork(r.t.Context(), r.ForkMessages()[0].EntryID, "before")()
			return err
		},
		"clone": func(r *rig) error {
			_, err := r.Clone(r.t.Context())()
			wantLines(r.t, r.conversation(), "user: p", "assistant aborted "+aborted+": half")
			return err
		},
	} {
		bubble(t, name, func(t *testing.T) {
			r, _ := noted(t, []scripted.Answer{{Parts: []scripted.Part{scripted.Say("half")}, Hang: true}})
			r.prompt("p")
			sleep(time.Second)
			id := r.ID()
			if err := change(r); err != nil {
				t.Fatal(err)
			}
			wantLines(t, r.brief(), "agent_start", "message_end user: p", "message_end assistant aborted "+aborted+": half", "agent_end 2", "agent_settled aborted")
			if r.ID() == id || !r.IsIdle() {
				t.Error("the session is the same")
			}
		})
	}
}

// What stands behind a change in one write is for the new session.
func TestChangesKeepTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := noted(t, nil, hooks(scripted.On(event.KindSessionStart, func(context.Context, *event.SessionStart) (any, error) {
			sleep(time.Second)
			return nil, nil
		})))
		r.run("old")
		wait := r.NewSession(t.Context(), "")
		accepted, outcome := accepting()
		r.Steer(session.Prompt{Text: "s"}, func(session.Disposition, error) {})
		r.Prompt(session.Prompt{Text: "p"}, accepted)
		if _, err := wait(); err != nil {
			t.Fatal(err)
		}
		if got := outcome(); got != "started" {
			t.Errorf("the prompt was %s", got)
		}
		r.idle()
		wantLines(t, r.conversation(), "user: p", "user: s", "assistant stop: ok")
	})
}

// Texts that wait behind a change are given back like those in the queue.
func TestClearQueueBehindAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := noted(t, nil, hooks(scripted.On(event.KindSessionStart, func(context.Context, *event.SessionStart) (any, error) {
			sleep(time.Second)
			return nil, nil
		})))
		wait := r.NewSession(t.Context(), "")
		accepted, outcome := accepting()
		r.Steer(session.Prompt{Text: "s1"}, accepted)
		r.Steer(session.Prompt{Text: "s2"}, func(session.Disposition, error) {})
		r.FollowUp(session.Prompt{Text: "f"}, func(session.Disposition, error) {})
		steering, followUps := r.ClearQueue()
		wantLines(t, steering, "s1", "s2")
		wantLines(t, followUps, "f")
		if _, err := wait(); err != nil {
			t.Fatal(err)
		}
		if got := outcome(); got != "queued" {
			t.Errorf("the steer was %s", got)
		}
		r.run("p")
		wantLines(t, r.conversation(), "user: p", "assistant stop: ok")
	})
}

func TestSwitchSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, notes := noted(t, nil)
		r.SetThinkingLevel(t.Context(), "high")
		r.run("one")
		first := r.File()
		if _, err := r.NewSession(t.Context(), "")(); err != nil {
			t.Fatal(err)
		}
		if _, err := r.SetModel(t.Context(), "mock", "m2"); err != nil {
			t.Fatal(err)
		}
		r.run("two")
		second := r.File()
		*notes = nil
		r.Reset()
		// A relative path is one from the working folder.
		rel, err := filepath.Rel(r.Cwd(), first)
		if err != nil {
			t.Fatal(err)
		}
		if changed, err := r.SwitchSession(t.Context(), rel)(); err != nil || changed.Cancelled {
			t.Fatalf("got %+v, %v", changed, err)
		}
		wantLines(t, *notes,
			fmt.Sprintf(`session_before_switch {"reason":"resume","targetSessionFile":%q}`, filepath.Base(first)),
			fmt.Sprintf(`session_shutdown {"reason":"resume","targetSessionFile":%q}`, filepath.Base(first)),
			fmt.Sprintf(`session_start {"reason":"resume","previousSessionFile":%q}`, filepath.Base(second)),
			"resources_discover resume")
		if s := r.State(); s.SessionFile != first || s.Model.ID != "m1" || s.ThinkingLevel != "high" || s.MessageCount != 2 {
			t.Errorf("the state is %+v", s)
		}
		wantLines(t, r.conversation(), "user: one", "assistant stop: ok")
		wantLines(t, r.entryTypes(), "model_change", "thinking_level_change", "thinking_level_change", "message user", "message assistant")
		wantLines(t, r.Lines())
		r.run("three")
		wantLines(t, r.sent(2), "user: one", "assistant stop: ok", "user: three")
	})
}

// A client may choose the session that is open from its list of them, by any
// of its paths.
func TestSwitchToTheOpenSession(t *testing.T) {
	r, notes := noted(t, nil)
	r.run("one")
	path, before := r.File(), r.Generation()
	link := filepath.Join(t.TempDir(), "link.jsonl")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	entries := r.entryTypes()
	for _, each := range []string{path, link} {
		*notes = nil
		if changed, err := r.SwitchSession(t.Context(), each)(); err != nil || changed.Cancelled {
			t.Fatalf("got %+v, %v", changed, err)
		}
		if len(*notes) != 4 || !strings.HasPrefix((*notes)[2], `session_start {"reason":"resume"`) {
			t.Errorf("extensions are told %q", *notes)
		}
		wantLines(t, r.entryTypes(), entries...)
	}
	if r.File() != path || r.Generation() != before+2 {
		t.Errorf("the session is %s, generation %d after %d", r.File(), r.Generation(), before)
	}
	r.run("two")
	wantLines(t, r.conversation(), "user: one", "assistant stop: ok", "user: two", "assistant stop: ok")
}

// To look at a session whose model cannot be had, or with another model or
// level, does not change what it says of itself.
func TestOpeningNotesOnlyWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	line := func(kind, id, parent, more string) string {
		return fmt.Sprintf(`{"type":%q,"id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z",%s}`+"\n", kind, id, parent, more)
	}
	said := func(parent string) string {
		return line("message", "00000009", parent, `"message":{"role":"user","content":"hi","timestamp":1}`)
	}
	for name, c := range map[string]struct {
		file string
		more []string // what opening adds
	}{
		"a model that is gone": {line("model_change", "00000001", "null", `"provider":"gone","modelId":"x"`) +
			line("thinking_level_change", "00000002", `"00000001"`, `"thinkingLevel":"high"`) + said(`"00000002"`), nil},
		"a model without the level": {line("model_change", "00000001", "null", `"provider":"mock","modelId":"m2"`) +
			line("thinking_level_change", "00000002", `"00000001"`, `"thinkingLevel":"high"`) + said(`"00000002"`), nil},
		"no model and no level": {said("null"), []string{"thinking_level_change"}},
		"no message":            {"", []string{"model_change", "thinking_level_change"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".jsonl")
			file := `{"type":"session","version":3,"id":"x","timestamp":"2026-01-01T00:00:00.000Z"}` + "\n" + c.file
			if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
			r := newRig(t, nil, onDisk(t.TempDir()))
			if _, err := r.SwitchSession(t.Context(), path)(); err != nil {
				t.Fatal(err)
			}
			wantLines(t, r.entryTypes()[strings.Count(c.file, "\n"):], c.more...)
		})
	}
}

// What cannot be opened leaves the old session as it was.
func TestFailedSwitchKeepsTheSession(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, path := range map[string]string{
		"missing":         filepath.Join(dir, "missing.jsonl"),
		"no session":      write("notes.txt", "hello\n"),
		"a folder":        dir,
		"no name":         "",
		"no such folder":  write("gone.jsonl", `{"type":"session","version":3,"id":"x","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/no/such/folder"}`+"\n"),
		"held by another": "locked",
	} {
		t.Run(name, func(t *testing.T) {
			r, notes := noted(t, nil)
			r.run("p")
			if path == "locked" {
				log, err := store.Create(store.CreateOptions{Dir: dir, Cwd: dir})
				if err != nil {
					t.Fatal(err)
				}
				if err := log.Persist(); err != nil {
					t.Fatal(err)
				}
				defer func() {
					if err := log.Close(); err != nil {
						t.Error(err)
					}
				}()
				path = log.Path()
			}
			before := r.State()
			generation := r.Generation()
			*notes = nil
			if changed, err := r.SwitchSession(t.Context(), path)(); err == nil {
				t.Errorf("got %+v", changed)
			}
			if after := r.State(); after.SessionID != before.SessionID || after.MessageCount != 2 || r.Generation() != generation {
				t.Errorf("the state is %+v", after)
			}
			for _, line := range *notes {
				if !strings.HasPrefix(line, "session_before_switch") {
					t.Errorf("extensions are told %s", line)
				}
			}
			r.run("q")
			wantLines(t, r.conversation(), "user: p", "assistant stop: ok", "user: q", "assistant stop: ok")
			if name != "missing" && name != "no name" {
				return
			}
			if _, err := os.Stat(filepath.Join(dir, "missing.jsonl")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a file was made: %v", err)
			}
		})
	}
}

// Nobody can choose an empty line from a list.
func TestForkMessagesHaveAText(t *testing.T) {
	r := newRig(t, nil)
	r.run("one")
	r.run("")
	r.run("two")
	if list := r.ForkMessages(); len(list) != 2 || list[0].Text != "one" || list[1].Text != "two" {
		t.Errorf("got %+v", list)
	}
}

// onDisk gives the types of the entries in the session's file.
func (r *rig) onDisk() (types []string) {
	r.t.Helper()
	log, err := store.Read(r.File())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range log.Entries() {
		types = append(types, strings.TrimSpace(e.Type+" "+string(e.Role())))
	}
	return types
}

func TestForkAndClone(t *testing.T) {
	bubble(t, "fork before a message", func(t *testing.T) {
		r, notes := noted(t, nil)
		r.run("one")
		r.run("two")
		old, messages := r.File(), r.ForkMessages()
		*notes = nil
		changed, err := r.Fork(t.Context(), messages[1].EntryID, "before")()
		if err != nil || changed.Text != "two" || changed.Cancelled {
			t.Fatalf("got %+v, %v", changed, err)
		}
		wantLines(t, r.conversation(), "user: one", "assistant stop: ok")
		wantLines(t, r.onDisk(), r.entryTypes()...)
		if r.Header().ParentSession != old || r.ForkMessages()[0] != messages[0] {
			t.Errorf("the header is %+v, the messages are %+v", r.Header(), r.ForkMessages())
		}
		wantLines(t, *notes,
			fmt.Sprintf(`session_before_fork {"entryId":%q,"position":"before"}`, messages[1].EntryID),
			fmt.Sprintf(`session_shutdown {"reason":"fork","targetSessionFile":%q}`, filepath.Base(r.File())),
			fmt.Sprintf(`session_start {"reason":"fork","previousSessionFile":%q}`, filepath.Base(old)),
			"resources_discover fork")
		r.run("three")
		wantLines(t, r.conversation(), "user: one", "assistant stop: ok", "user: three", "assistant stop: ok")
	})
	bubble(t, "fork before the first", func(t *testing.T) {
		r, _ := noted(t, nil)
		r.run("one")
		if changed, err := r.Fork(t.Context(), r.ForkMessages()[0].EntryID, "before")(); err != nil || changed.Text != "one" {
			t.Fatalf("got %+v, %v", changed, err)
		}
		wantLines(t, r.conversation())
		wantLines(t, r.entryTypes(), "model_change", "thinking_level_change", "model_change", "thinking_level_change")
		if _, err := os.Stat(r.File()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a session in which nothing was said is on disk: %v", err)
		}
	})
	bubble(t, "fork at an entry", func(t *testing.T) {
		r, _ := noted(t, nil)
		r.run("one")
		r.run("two")
		if changed, err := r.Fork(t.Context(), r.ForkMessages()[1].EntryID, "at")(); err != nil || changed.Text != "" {
			t.Fatalf("got %+v, %v", changed, err)
		}
		wantLines(t, r.conversation(), "user: one", "assistant stop: ok", "user: two")
	})
	bubble(t, "fork of what cannot be forked", func(t *testing.T) {
		r, notes := noted(t, nil)
		r.run("one")
		*notes = nil
		_, leaf := r.Tree()
		if _, err := r.Fork(t.Context(), "nope", "before")(); !errors.Is(err, store.ErrEntryNotFound) || !strings.Contains(err.Error(), "nope") {
			t.Errorf("an unknown entry: %v", err)
		}
		if _, err := r.Fork(t.Context(), *leaf, "before")(); err == nil || !strings.Contains(err.Error(), *leaf) {
			t.Errorf("an answer: %v", err)
		}
		wantLines(t, *notes)
	})
	bubble(t, "clone", func(t *testing.T) {
		r, _ := noted(t, nil)
		if _, err := r.Clone(t.Context())(); err == nil {
			t.Error("a session without a file was cloned")
		}
		if err := r.SetName(t.Context(), "mine"); err != nil {
			t.Fatal(err)
		}
		r.run("one")
		before := r.entryTypes()
		old := r.File()
		if _, err := r.Clone(t.Context())(); err != nil {
			t.Fatal(err)
		}
		wantLines(t, r.entryTypes(), before...)
		wantLines(t, r.onDisk(), before...)
		if r.File() == old || r.State().SessionName != "mine" {
			t.Errorf("the state is %+v", r.State())
		}
	})
	bubble(t, "in memory", func(t *testing.T) {
		r := newRig(t, nil)
		r.run("one")
		if _, err := r.Clone(t.Context())(); err != nil {
			t.Error(err)
		}
		if _, err := r.Fork(t.Context(), r.ForkMessages()[0].EntryID, "before")(); err != nil {
			t.Error(err)
		}
		if _, err := r.NewSession(t.Context(), "")(); err != nil {
			t.Error(err)
		}
		if r.File() != "" {
			t.Errorf("the session is in %s", r.File())
		}
	})
}

func TestHooksCancelChanges(t *testing.T) {
	cancel := &scripted.Listener{Name: "no", Kinds: []event.Kind{event.KindSessionBeforeSwitch, event.KindSessionBeforeFork}, Do: func(context.Context, event.Event) (any, error) {
		return &event.CancelResult{Cancel: true}, nil
	}}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{slow("1")}, hooks(cancel))
		r.prompt("p")
		sleep(time.Millisecond)
		id := r.ID()
		for name, change := range map[string]func() (session.Changed, error){
			"new":    r.NewSession(t.Context(), ""),
			"switch": r.SwitchSession(t.Context(), "/x.jsonl"),
			"fork":   r.Fork(t.Context(), r.ForkMessages()[0].EntryID, "before"),
			"clone":  r.Clone(t.Context()),
		} {
			changed, err := change()
			if err != nil || !changed.Cancelled || (changed.Text == "p") != (name == "fork") {
				t.Errorf("%s: %+v, %v", name, changed, err)
			}
		}
		if r.ID() != id || r.IsIdle() {
			t.Error("the session changed, or its run was aborted")
		}
		r.idle()
		wantLines(t, r.conversation(), "user: p", "assistant stop: 1")
	})
}

// An abort is a no to what a hook was asked; what was decided goes on.
func TestAbortOfAChange(t *testing.T) {
	hang := func(kind event.Kind) *scripted.Listener {
		return &scripted.Listener{Name: "dialog", Kinds: []event.Kind{kind}, Do: func(ctx context.Context, _ event.Event) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
	}
	for _, c := range []struct {
		kind      event.Kind
		cancelled bool
		starts    int // session_start that another extension sees
	}{
		{event.KindSessionBeforeSwitch, true, 0},
		{event.KindSessionShutdown, false, 1},
		{event.KindSessionStart, false, 1},
		{event.KindResourcesDiscover, false, 1},
	} {
		bubble(t, string(c.kind), func(t *testing.T) {
			starts := 0
			count := scripted.On(event.KindSessionStart, func(ctx context.Context, _ *event.SessionStart) (any, error) {
				if ctx.Err() == nil || c.kind == event.KindSessionStart {
					starts++
				}
				return nil, nil
			})
			r := newRig(t, nil, hooks(hang(c.kind), count))
			id := r.ID()
			wait := r.NewSession(t.Context(), "")
			sleep(time.Second)
			<-r.Abort()
			changed, err := wait()
			if err != nil || changed.Cancelled != c.cancelled || (r.ID() == id) != c.cancelled {
				t.Errorf("got %+v, %v", changed, err)
			}
			if starts != c.starts {
				t.Errorf("session_start was told %d times, want %d", starts, c.starts)
			}
			if n := r.Count("extension_error"); n != 0 {
				t.Errorf("got %q", r.Lines())
			}
		})
	}
}

// What a session is set up with is there when extensions hear of it, behind the
// model and the level.
func TestNewSessionWithASetup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		var seen []string
		r = newRig(t, nil, onDisk(t.TempDir()), hooks(scripted.On(event.KindSessionStart, func(context.Context, *event.SessionStart) (any, error) {
			seen = r.conversation()
			return nil, nil
		})))
		_, err := r.NewSession(t.Context(), "",
			store.SessionInfo{Name: "handed over"},
			store.MessageBody{Message: message.NewUser("what was asked", nil, 1)},
			store.CustomMessage{CustomType: "note", Content: message.PlainContent("n")},
			store.Custom{CustomType: "state", Data: event.Raw(`{"n":1}`)})()
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, seen, "user: what was asked", "custom: n")
		wantLines(t, r.entryTypes(), "model_change", "thinking_level_change", "session_info", "message user", "custom_message", "custom")
		if s := r.State(); s.SessionName != "handed over" || s.MessageCount != 2 {
			t.Errorf("the state is %+v", s)
		}
		if _, err := os.Stat(r.File()); err != nil {
			t.Errorf("what was said is not on disk: %v", err)
		}
		r.run("go on")
		wantLines(t, r.sent(0), "user: what was asked", "user: n", "user: go on")
	})
}

func TestStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &extensions{ready: make(chan struct{})}
		r, notes := noted(t, nil, func(c *session.Config) { c.Extensions = up })
		r.Start("startup", "/before.jsonl")
		r.Prompt(session.Prompt{Text: "p"}, func(d session.Disposition, _ error) { r.Note("accepted %s", d) })
		sleep(time.Second)
		if r.State().SessionID == "" || r.Count("accepted") != 0 {
			t.Error("the prompt did not wait for the extensions")
		}
		wantLines(t, *notes)
		close(up.ready)
		r.Await("agent_settled", 1)
		wantLines(t, *notes, `session_start {"reason":"startup","previousSessionFile":"/before.jsonl"}`, "resources_discover startup")
	})
}

// The model that an extension brings counts from the start, unless a client
// has chosen one meanwhile.
func TestStartChoosesAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		choose bool
		want   string
		noted  []string
	}{
		{"nobody chose", false, "theirs", []string{"model_change m1", "model_change theirs"}},
		{"the client chose", true, "m2", []string{"model_change m1", "model_change m2"}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			up := &extensions{ready: make(chan struct{})}
			r, _ := noted(t, nil, func(c *session.Config) {
				c.Extensions = up
				c.Choose = func() (*message.Model, message.ThinkingLevel) {
					return &message.Model{Provider: "ext", ID: "theirs"}, message.ThinkingHigh
				}
			})
			r.Start("startup", "")
			if c.choose {
				if _, err := r.SetModel(t.Context(), "mock", "m2"); err != nil {
					t.Fatal(err)
				}
			}
			close(up.ready)
			sleep(time.Second)
			if m := r.Model(); m == nil || m.ID != c.want {
				t.Errorf("the model is %+v", m)
			}
			var noted []string
			entries, _, err := r.Entries(nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, raw := range entries {
				var e struct{ Type, ModelID string }
				if err := json.Unmarshal(raw, &e); err != nil {
					t.Fatal(err)
				}
				if e.Type == "model_change" {
					noted = append(noted, e.Type+" "+e.ModelID)
				}
			}
			wantLines(t, noted, c.noted...)
		})
	}
}

func TestReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &extensions{ready: make(chan struct{})}
		close(up.ready)
		r, notes := noted(t, []scripted.Answer{slow("1"), slow("2")}, func(c *session.Config) { c.Extensions = up })
		up.reload = func(context.Context) error {
			if !r.IsIdle() {
				t.Error("reloaded during a run")
			}
			*notes = append(*notes, "reload")
			return errors.New("one did not come up")
		}
		r.prompt("p")
		sleep(time.Millisecond)
		generation := r.Generation()
		wait := r.Reload(t.Context())
		if got := r.steer("s"); got != "queued" { // is not held up by it
			t.Errorf("the steer was %s", got)
		}
		if err := wait(); err == nil || err.Error() != "one did not come up" {
			t.Errorf("the error is %v", err)
		}
		wantLines(t, r.conversation(), "user: p", "assistant stop: 1", "user: s", "assistant stop: 2")
		wantLines(t, *notes, `session_shutdown {"reason":"reload"}`, "reload", `session_start {"reason":"reload"}`, "resources_discover reload")
		if r.Generation() != generation+1 {
			t.Error("contexts of before are still good")
		}
	})
}

func TestExtensionsNameResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, hooks(scripted.On(event.KindResourcesDiscover, func(context.Context, *event.ResourcesDiscover) (any, error) {
			return &event.ResourcesDiscoverResult{SkillPaths: []string{"/skills/mine"}}, nil
		})))
		if err := r.Reload(t.Context())(); err != nil {
			t.Fatal(err)
		}
		if got := r.SystemPrompt(); !strings.Contains(got, "/skills/mine") {
			t.Errorf("the system prompt is %q", got)
		}
	})
}

// A session is on disk as soon as somebody said something that matters.
func TestWhenTheFileAppears(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(r *rig)
		want bool
	}{
		{"nothing happens", func(*rig) {}, false},
		{"a name", func(r *rig) {
			if err := r.SetName(r.t.Context(), "n"); err != nil {
				r.t.Error(err)
			}
		}, false},
		{"a level", func(r *rig) { r.SetThinkingLevel(r.t.Context(), "high") }, false},
		{"an extension's message", func(r *rig) {
			r.SendMessage(event.CustomMessage{CustomType: "hello", Content: message.PlainContent("hello")}, session.SendOptions{})
		}, false},
		{"an extension's entry", func(r *rig) {
			if _, err := r.AppendEntry("state", event.Raw(`1`)); err != nil {
				r.t.Error(err)
			}
		}, false},
		{"a prompt", func(r *rig) { r.prompt("p"); sleep(time.Millisecond) }, true},
		{"an answer to an extension", func(r *rig) {
			r.SendMessage(event.CustomMessage{CustomType: "hello", Content: message.PlainContent("hello")}, session.SendOptions{TriggerTurn: true})
			r.Await("agent_settled", 1)
		}, true},
	} {
		bubble(t, c.name, func(t *testing.T) {
			r := newRig(t, []scripted.Answer{slow("1")}, onDisk(t.TempDir()))
			c.do(r)
			if _, err := os.Stat(r.File()); (err == nil) != c.want {
				t.Errorf("on disk: %v", err)
			}
		})
	}
}
