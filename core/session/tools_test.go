package session_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/tool"
)

func named(names ...string) []tool.Tool {
	list := make([]tool.Tool, len(names))
	for i, name := range names {
		list[i] = &scripted.Tool{Name: name}
	}
	return list
}

// active lists the tools that the model is told of, by asking it.
func (r *rig) active() []string {
	r.t.Helper()
	r.run("p")
	requests := r.model.Requests()
	names := []string{}
	for _, each := range requests[len(requests)-1].Tools {
		names = append(names, each.Name)
	}
	return names
}

func TestWhichToolsAreOn(t *testing.T) {
	builtins := named("read", "bash", "edit", "write", "grep")
	for _, c := range []struct {
		name   string
		change with
		then   func(s *rig)
		want   []string
	}{
		{"at first", func(*session.Config) {}, nil, []string{"read", "bash", "edit", "write"}},
		{"picked, in the user's order", func(c *session.Config) { c.ActiveTools = []string{"grep", "read"} }, nil, []string{"grep", "read"}},
		{"none", func(c *session.Config) { c.ActiveTools = []string{} }, nil, nil},
		{"without some", func(c *session.Config) { c.ExcludeTools = []string{"bash"} }, nil, []string{"read", "edit", "write"}},
		{"an extension's", func(*session.Config) {}, func(r *rig) { r.RegisterTools("ext", named("mine")) }, []string{"read", "bash", "edit", "write", "mine"}},
		{"not where the user picked", func(c *session.Config) { c.ActiveTools, c.OnlyActive = []string{"read"}, true }, func(r *rig) { r.RegisterTools("ext", named("mine")) }, []string{"read"}},
		{"unless the user picked it", func(c *session.Config) { c.ActiveTools, c.OnlyActive = []string{"mine"}, true }, func(r *rig) { r.RegisterTools("ext", named("mine")) }, []string{"mine"}},
		{"not when excluded", func(c *session.Config) { c.ExcludeTools = []string{"mine"} }, func(r *rig) { r.RegisterTools("ext", named("mine")) }, []string{"read", "bash", "edit", "write"}},
		{"not when hidden", func(*session.Config) {}, func(r *rig) { r.RegisterTools("ext", []tool.Tool{&scripted.Tool{Name: "mine", Hidden: true}}) }, []string{"read", "bash", "edit", "write"}},
		{"until it goes", func(*session.Config) {}, func(r *rig) { r.RegisterTools("ext", named("mine")); r.RegisterTools("ext", nil) }, []string{"read", "bash", "edit", "write"}},
		{"the client's", func(*session.Config) {}, func(r *rig) { r.SetHostTools(named("host")) }, []string{"read", "bash", "edit", "write", "host"}},
		{"the client's, replaced", func(*session.Config) {}, func(r *rig) { r.SetHostTools(named("host")); r.SetHostTools(named("other")) }, []string{"read", "bash", "edit", "write", "other"}},
		{"chosen later", func(*session.Config) {}, func(r *rig) {
			if err := r.SetActiveTools([]string{"grep", "read", "grep"}); err != nil {
				r.t.Error(err)
			}
		}, []string{"grep", "read"}},
		{"switched off, and registered again", func(*session.Config) {}, func(r *rig) {
			r.RegisterTools("ext", named("mine", "yours"))
			if err := r.SetActiveTools([]string{"read", "yours"}); err != nil {
				r.t.Error(err)
			}
			r.RegisterTools("ext", named("mine", "yours", "new"))
		}, []string{"read", "yours", "new"}},
		{"a built-in comes back", func(*session.Config) {}, func(r *rig) { r.RegisterTools("ext", named("read")); r.RegisterTools("ext", nil) }, []string{"read", "bash", "edit", "write"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nil, func(config *session.Config) { config.Tools = builtins }, c.change)
			if c.then != nil {
				c.then(r)
			}
			wantLines(t, r.active(), c.want...)
			for _, info := range r.Tools() {
				on := false
				for _, name := range c.want {
					on = on || name == info.Spec.Name
				}
				if info.Active != on {
					t.Errorf("%s is listed as active: %v", info.Spec.Name, info.Active)
				}
			}
		})
	}
}

func TestUnknownToolsCannotBeSwitchedOn(t *testing.T) {
	r := newRig(t, nil, tools(&scripted.Tool{Name: "read"}))
	err := r.SetActiveTools([]string{"read", "nonesuch"})
	if err == nil || !strings.Contains(err.Error(), "nonesuch") || !strings.Contains(err.Error(), "read") {
		t.Errorf("the error is %v", err)
	}
	wantLines(t, r.active(), "read")
}

// Of tools with one name the client's counts, then the last extension's, then
// the built-in one, whoever registered when.
func TestWhoseToolAName(t *testing.T) {
	r := newRig(t, nil, tools(&scripted.Tool{Name: "read"}))
	owner := func() string {
		t.Helper()
		infos := r.Tools()
		if len(infos) != 1 {
			t.Fatalf("there are %d tools", len(infos))
		}
		return infos[0].Owner
	}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, ""},
		{func() { r.SetHostTools(named("read")) }, "<host>"},
		{func() { r.RegisterTools("a", named("read")) }, "<host>"},
		{func() { r.RegisterTools("b", named("read")) }, "<host>"},
		{func() { r.SetHostTools(nil) }, "b"},
		{func() { r.RegisterTools("a", named("read")) }, "b"},
		{func() { r.RegisterTools("b", nil) }, "a"},
		{func() { r.RegisterTools("a", nil) }, ""},
	} {
		step.do()
		if got := owner(); got != step.want {
			t.Errorf("the tool is %q's, want %q's", got, step.want)
		}
	}
}

// A change of tools counts from the next model call.
func TestToolsChangeDuringARun(t *testing.T) {
	r := newRig(t, []scripted.Answer{scripted.Calls(scripted.Call("a", "read"), scripted.Call("b", "read"))}, tools(&scripted.Tool{Name: "read"}))
	r.Subscribe(func(e event.Event) {
		if e.Kind() == "tool_execution_end" {
			if err := r.SetActiveTools(nil); err != nil {
				t.Error(err)
			}
		}
	})
	r.run("p")
	requests := r.model.Requests()
	if len(requests[0].Tools) != 1 || len(requests[1].Tools) != 0 || requests[0].System == requests[1].System {
		t.Errorf("the requests have %d and %d tools", len(requests[0].Tools), len(requests[1].Tools))
	}
}

// Who comes up first is chance, and must not show.
func TestArrange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, func(c *session.Config) { c.Tools = named("read", "bash") })
		for _, owner := range []string{"third", "first", "second"} {
			r.RegisterCommands(owner, []session.ExtensionCommand{{Name: owner}})
			r.RegisterTools(owner, named("of "+owner, "both"))
		}
		r.SetHostTools(named("host"))
		r.Arrange([]string{"first", "second", "third"})
		var names, owners []string
		for _, info := range r.Tools() {
			names, owners = append(names, info.Spec.Name), append(owners, info.Owner)
		}
		wantLines(t, names, "read", "bash", "of first", "both", "of second", "of third", "host")
		if got := owners[3]; got != "third" {
			t.Errorf("both is of %s", got)
		}
		wantLines(t, r.active(), "read", "bash", "of first", "of second", "of third", "both", "host")
		var called []string
		for _, c := range r.Commands() {
			called = append(called, c.Name)
		}
		wantLines(t, called, "first", "second", "third", "greet")
	})
}
