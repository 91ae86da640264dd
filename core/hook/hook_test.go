package hook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/seed-54e836f5/pi/core/event"
)

// scripted is an extension that does what the test says.
type scripted struct {
	path   string
	wants  []event.Kind // nil: everything
	handle func(event.Event) (any, error)
}

func (s *scripted) Path() string { return s.path }

func (s *scripted) Wants(kind event.Kind) bool {
	return s.wants == nil || slices.Contains(s.wants, kind)
}

func (s *scripted) Handle(_ context.Context, e event.Event) (any, error) { return s.handle(e) }

func TestTellGoesToThoseWhoWantItInLoadOrder(t *testing.T) {
	var heard []string
	listener := func(path string, wants ...event.Kind) Listener {
		return &scripted{path, wants, func(e event.Event) (any, error) {
			heard = append(heard, path+" "+string(e.Kind()))
			return nil, nil
		}}
	}
	var c Chain
	c.Set([]Listener{listener("a", event.KindAgentStart), listener("b", event.KindAgentEnd), listener("c", event.KindAgentStart, event.KindAgentEnd)})
	c.Tell(t.Context(), &event.AgentStart{})
	c.Tell(t.Context(), &event.AgentEnd{})
	c.Tell(t.Context(), &event.TurnStart{})
	if want := []string{"a agent_start", "c agent_start", "b agent_end", "c agent_end"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
	for kind, want := range map[event.Kind]bool{event.KindAgentStart: true, event.KindAgentEnd: true, event.KindTurnStart: false} {
		if got := c.Wanted(kind); got != want {
			t.Errorf("Wanted(%s) is %v", kind, got)
		}
	}
}

func TestDecideLeavesOutThoseWhoDoNotWantIt(t *testing.T) {
	var c Chain
	c.Set([]Listener{&scripted{"a", []event.Kind{event.KindAgentStart}, func(event.Event) (any, error) {
		return &event.CancelResult{Cancel: true}, nil
	}}})
	if got := Decide[event.CancelResult](t.Context(), &c, &event.SessionBeforeFork{}); got.Cancel {
		t.Error("an extension decided what it has no handler for")
	}
}

func TestErrorsAreReportedAndPassedOver(t *testing.T) {
	var reported []event.ExtensionError
	c := Chain{Report: func(e event.ExtensionError) { reported = append(reported, e) }}
	heard := 0
	c.Set([]Listener{
		&scripted{"/a", nil, func(event.Event) (any, error) { return nil, errors.New("cannot") }},
		&scripted{"/b", nil, func(event.Event) (any, error) { heard++; return nil, nil }},
	})
	c.Tell(t.Context(), &event.AgentStart{})
	Decide[event.InputResult](t.Context(), &c, &event.Input{})
	want := []event.ExtensionError{{ExtensionPath: "/a", Event: "agent_start", Error: "cannot"}, {ExtensionPath: "/a", Event: "input", Error: "cannot"}}
	if !slices.Equal(reported, want) {
		t.Errorf("reported %+v, want %+v", reported, want)
	}
	if heard != 2 {
		t.Errorf("the extension behind heard %d events, want 2", heard)
	}
}

// Who is cut off by an abort has done nothing wrong.
func TestErrorsOfAnAbortAreNotReported(t *testing.T) {
	aborted, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		err  error
		want int
	}{
		{"cut off", aborted, fmt.Errorf("handler: %w", context.Canceled), 0},
		{"trouble of its own meanwhile", aborted, errors.New("disk full"), 1},
		{"cancelled something of its own", t.Context(), context.Canceled, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			reports := 0
			chain := Chain{Report: func(event.ExtensionError) { reports++ }}
			chain.Set([]Listener{&scripted{"/a", nil, func(event.Event) (any, error) { return nil, c.err }}})
			chain.Tell(c.ctx, &event.AgentStart{})
			if reports != c.want {
				t.Errorf("reported %d times, want %d", reports, c.want)
			}
		})
	}
}

func TestWithoutAReportErrorsAreDropped(t *testing.T) {
	var c Chain
	c.Set([]Listener{&scripted{"/a", nil, func(event.Event) (any, error) { return nil, errors.New("cannot") }}})
	c.Tell(t.Context(), &event.AgentStart{}) // does not panic
	if got := Decide[event.CancelResult](t.Context(), &c, &event.SessionBeforeFork{}); got.Cancel {
		t.Error("a failure cancelled")
	}
}

func TestSetDuringAnEventCountsFromTheNext(t *testing.T) {
	var c Chain
	var heard []string
	late := &scripted{"late", nil, func(event.Event) (any, error) { heard = append(heard, "late"); return nil, nil }}
	second := &scripted{"second", nil, func(event.Event) (any, error) { heard = append(heard, "second"); return nil, nil }}
	first := &scripted{"first", nil, func(event.Event) (any, error) {
		heard = append(heard, "first")
		c.Set([]Listener{late})
		return nil, nil
	}}
	list := []Listener{first, second}
	c.Set(list)
	list[1] = late // the slice is the caller's
	c.Tell(t.Context(), &event.AgentStart{})
	c.Tell(t.Context(), &event.AgentStart{})
	if want := []string{"first", "second", "late"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}

// Tools run at the same time, so their events do.
func TestChainIsForManyGoroutines(t *testing.T) {
	var c Chain
	var all sync.WaitGroup
	patch := &scripted{"a", nil, func(e event.Event) (any, error) {
		in := e.(*event.ToolResult)
		return &event.ToolResultPatch{Details: event.Raw(`"` + in.ToolCallID + `"`)}, nil
	}}
	c.Set([]Listener{patch})
	for i := range 8 {
		all.Go(func() {
			id := fmt.Sprint(i)
			for range 100 {
				e := &event.ToolResult{ToolCallID: id}
				Decide[event.ToolResultPatch](t.Context(), &c, e)
				if string(e.Details) != `"`+id+`"` {
					t.Errorf("the event of %s has details %s", id, e.Details)
				}
				c.Set([]Listener{patch})
			}
		})
	}
	all.Wait()
}
