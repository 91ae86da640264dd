package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
)

// inFolder makes a session file that works in a folder of some name.
func inFolder(t *testing.T, name string) (file, cwd string) {
	t.Helper()
	cwd = filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(cwd, 0o755); err != nil {
		t.Fatal(err)
	}
	log, err := store.Create(store.CreateOptions{Dir: t.TempDir(), Cwd: cwd})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Persist(); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return log.Path(), cwd
}

// moving is a session whose settings come from the name of its folder, with
// what it does on its way to another one.
func moving(t *testing.T) (r *rig, notes *[]string) {
	up := &extensions{ready: make(chan struct{})}
	close(up.ready)
	r, notes = noted(t, nil, func(c *session.Config) {
		c.Extensions, c.Tools = up, named("read", "bash", "edit", "write", "grep", "ls")
		c.Enter = func(cwd string) session.Folder {
			*notes = append(*notes, "settings of "+filepath.Base(cwd))
			f := c.Folder
			if filepath.Base(cwd) == "strict" {
				f.Settings.SteeringMode, f.Settings.FollowUpMode, f.Settings.Compaction.Enabled = session.All, session.All, false
				f.Settings.Shell.Prefix = "strict"
				f.ActiveTools, f.InactiveTools = []string{"read", "ls"}, []string{"mine"}
				f.Scoped = []session.ScopedModel{{Model: thinker}, {Model: simple}}
			}
			return f
		}
	})
	up.enter = func(cwd string) error {
		*notes = append(*notes, "extensions of "+filepath.Base(cwd))
		return nil
	}
	return r, notes
}

func TestASessionHasTheSettingsOfItsFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		strict, cwd := inFolder(t, "strict")
		r, notes := moving(t)
		first := r.Cwd()
		r.RegisterTools("ext", named("mine", "ours"))
		r.SetFollowUpMode(session.OneAtATime) // whatever folders say
		show := func() string {
			s, scoped := r.State(), false
			if c := r.CycleModel(t.Context()); c != nil {
				scoped = c.IsScoped
			}
			return fmt.Sprint(s.SteeringMode, s.FollowUpMode, s.AutoCompactionEnabled, r.Shell().Prefix, scoped, strings.Join(r.active(), " "))
		}
		const before = "one-at-a-timeone-at-a-timetruefalseread bash edit write mine ours"
		if got := show(); got != before {
			t.Errorf("at first there is %s", got)
		}
		*notes = nil
		if _, err := r.SwitchSession(t.Context(), strict)(); err != nil {
			t.Fatal(err)
		}
		if got := show(); r.Cwd() != cwd || got != "allone-at-a-timefalsestricttrueread ls ours" {
			t.Errorf("in %s there is %s", r.Cwd(), got)
		}
		for i, line := range *notes {
			(*notes)[i], _, _ = strings.Cut(line, ",") // without the files
		}
		wantLines(t, *notes, `session_before_switch {"reason":"resume"`, `session_shutdown {"reason":"resume"`,
			"settings of strict", "extensions of strict", "settings of strict", `session_start {"reason":"resume"`, "resources_discover resume")

		// A new session there is of the same folder: nothing moves.
		*notes = nil
		if _, err := r.NewSession(t.Context(), "")(); err != nil {
			t.Fatal(err)
		}
		for _, line := range *notes {
			if strings.HasPrefix(line, "settings of") || strings.HasPrefix(line, "extensions of") {
				t.Errorf("in the same folder there are %s", line)
			}
		}
		back, err := store.Create(store.CreateOptions{Dir: t.TempDir(), Cwd: first})
		if err == nil {
			err = errors.Join(back.Persist(), back.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.SwitchSession(t.Context(), back.Path())(); err != nil {
			t.Fatal(err)
		}
		if got := show(); got != before && got != "one-at-a-timeone-at-a-timetruefalseread bash edit write ours mine" {
			t.Errorf("back in the first folder there is %s", got)
		}
	})
}

// A switch that is refused, or fails, leaves the folder as it was.
func TestNothingMovesWithASwitchThatFails(t *testing.T) {
	for _, c := range []struct {
		name  string
		veto  bool
		wrong string // behind the name of the file
	}{
		{"refused", true, ""},
		{"a missing file", false, ".gone"},
	} {
		bubble(t, c.name, func(t *testing.T) {
			strict, _ := inFolder(t, "strict")
			moved := false
			up := &extensions{ready: make(chan struct{}), enter: func(string) error { moved = true; return nil }}
			r := newRig(t, nil, func(config *session.Config) {
				config.Extensions = up
				config.Enter = func(string) session.Folder { moved = true; return session.Folder{} }
			}, hooks(
				scripted.On(event.KindSessionBeforeSwitch, func(context.Context, *event.SessionBeforeSwitch) (any, error) {
					return &event.CancelResult{Cancel: c.veto}, nil
				}),
				scripted.On(event.KindSessionShutdown, func(_ context.Context, e *event.SessionShutdown) (any, error) {
					moved = moved || e.Reason != "quit"
					return nil, nil
				}),
			))
			cwd := r.Cwd()
			changed, err := r.SwitchSession(t.Context(), strict+c.wrong)()
			if changed.Cancelled != c.veto || (err != nil) == c.veto {
				t.Errorf("it was %+v, %v", changed, err)
			}
			if moved || r.Cwd() != cwd || r.State().SteeringMode != session.OneAtATime {
				t.Error("something of the old session has ended")
			}
		})
	}
}

// An extension of the folder brings the model that the session had there.
func TestASessionHasTheModelOfAnExtensionOfItsFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, cwd := inFolder(t, "theirs")
		log, err := store.Open(file)
		if err == nil {
			_, err = log.Append(store.ModelChange{Provider: "ext", ModelID: "theirs"})
		}
		if err == nil {
			_, err = log.Append(store.MessageBody{Message: &message.User{Content: message.PlainContent("p")}})
		}
		if err == nil {
			err = log.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		up := &extensions{ready: make(chan struct{})}
		close(up.ready)
		var known *models
		r, _ := noted(t, nil, func(c *session.Config) { c.Extensions, known = up, c.Models.(*models) })
		up.enter = func(dir string) error {
			if dir == cwd {
				known.list = append(known.list, message.Model{Provider: "ext", ID: "theirs"})
			}
			return nil
		}
		if _, err := r.SwitchSession(t.Context(), file)(); err != nil {
			t.Fatal(err)
		}
		if m := r.Model(); m == nil || m.ID != "theirs" {
			t.Errorf("the model is %+v", m)
		}
	})
}
