package sdktest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/proto"
	"github.com/seed-54e836f5/pi/sdk"
	"github.com/seed-54e836f5/pi/sdk/sdktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// command makes an extension of one command, do.
func command(run func(ctx *sdk.CommandContext, args string) error) func(x *sdk.Extension) {
	return func(x *sdk.Extension) {
		x.Info("test", "1")
		x.Command(sdk.Command{Name: "do", Description: "Do it", Run: run, Complete: func(_ *sdk.Context, prefix string) ([]string, error) {
			return slices.DeleteFunc([]string{"dev", "staging", "prod"}, func(s string) bool { return !strings.HasPrefix(s, prefix) }), nil
		}})
	}
}

func TestDialogs(t *testing.T) {
	pi := sdktest.Start(t, command(func(ctx *sdk.CommandContext, _ string) error {
		choice, ok, err := ctx.UI.Select("Which?", []string{"a", "b"})
		if err != nil {
			return err
		}
		text, typed, err := ctx.UI.Editor("Edit", "before")
		if err != nil {
			return err
		}
		sure, err := ctx.UI.Confirm("Sure?", "really")
		if err != nil {
			return err
		}
		return ctx.UI.Notify(fmt.Sprintf("%s %t %s %t %t", choice, ok, text, typed, sure), sdk.Warning)
	}))
	pi.Answer("Which?", sdktest.Text("b"), sdktest.Dismissed)
	pi.Answer("Edit", sdktest.Text("after"))
	pi.Answer("Sure?", sdktest.Yes, sdktest.No)
	pi.Command("/do")
	if n := pi.WantNotice("b true after true true"); n.Type != "warning" || n.Method != "notify" {
		t.Errorf("the notice is %+v", n)
	}
	pi.Command("/do")
	pi.WantNotice(" false after true false")
	if d := pi.WantDialog("Which?"); d.Method != "select" || len(d.Options) != 2 {
		t.Errorf("the dialog is %+v", d)
	}
	if got := pi.Complete("do", "s"); fmt.Sprint(got) != "[staging]" {
		t.Errorf("it suggests %v", got)
	}
}

func TestNoticesAndNeutralValues(t *testing.T) {
	pi := sdktest.Start(t, command(func(ctx *sdk.CommandContext, _ string) error {
		if ctx.UI.EditorText() != "" || ctx.UI.Themes() != nil || !errors.Is(ctx.UI.SetTheme("dark"), sdk.ErrUnavailable) {
			return errors.New("a neutral value is none")
		}
		ctx.UI.SetFooter(nil)
		ctx.UI.SetHeader(nil)
		ctx.UI.SetWorkingMessage("")
		return errors.Join(
			ctx.UI.SetStatus("s", "busy"), ctx.UI.SetStatus("s", ""),
			ctx.UI.SetWidget("w", []string{"one", "two"}, sdk.BelowEditor), ctx.UI.SetWidget("w", nil, ""),
			ctx.UI.SetTitle("title"), ctx.UI.PasteToEditor("pasted"),
		)
	}))
	pi.Command("/do")
	var got []string
	for _, n := range pi.Notices() {
		got = append(got, fmt.Sprint(n.Method, n.Key, n.Text, n.Lines, n.Placement, n.Cleared))
	}
	want := []string{
		"setStatussbusy[]false", "setStatuss[]true", "setWidgetw[one two]belowEditorfalse", "setWidgetw[]true", "setTitletitle[]false", "set_editor_textpasted[]false",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the notices are\n%q, not\n%q", got, want)
	}
}

func TestWithoutUI(t *testing.T) {
	pi := sdktest.Start(t, command(func(ctx *sdk.CommandContext, _ string) error {
		ok, err := ctx.UI.Confirm("Sure?", "")
		if ok || err != nil || ctx.HasUI() || ctx.Mode() != "print" {
			return fmt.Errorf("%t, %t, %s, %w", ok, ctx.HasUI(), ctx.Mode(), err)
		}
		return nil
	}), sdktest.WithoutUI())
	pi.Command("/do")
}

func TestATreeMayBeDeep(t *testing.T) {
	const depth = 6000
	pi := sdktest.Start(t, command(func(ctx *sdk.CommandContext, _ string) error {
		nodes, err := ctx.Session.Tree()
		if err != nil {
			return err
		}
		seen := 0
		for ; len(nodes) == 1; nodes = nodes[0].Children {
			seen++
		}
		if seen != depth || len(nodes) != 0 {
			return fmt.Errorf("the chain has %d nodes, then %d side by side", seen, len(nodes))
		}
		return nil
	}))
	for range depth {
		pi.AddMessage(&sdk.User{Content: sdk.PlainContent("hello")})
	}
	pi.Command("/do")
}

func TestTheSession(t *testing.T) {
	pi := sdktest.Start(t, command(func(ctx *sdk.CommandContext, _ string) error {
		entry, err := ctx.Session.AppendEntry("note", map[string]int{"n": 1})
		if err != nil {
			return err
		}
		branch, err := ctx.Session.Branch()
		if err != nil || len(branch) != 2 || sdk.TextOf(branch[0].Message) != "hello" || branch[1].ID != entry.ID {
			return fmt.Errorf("the branch is %+v, %w", branch, err)
		}
		if err := ctx.Session.SetLabel(entry.ID, "here"); err != nil {
			return err
		}
		label, err := ctx.Session.Label(entry.ID)
		if err != nil || label != "here" {
			return fmt.Errorf("the label is %q, %w", label, err)
		}
		leaf, err := ctx.Session.Leaf()
		if err != nil || leaf != entry.ID {
			return fmt.Errorf("the leaf is %q, %w", leaf, err)
		}
		since, err := ctx.Session.EntriesSince(branch[0].ID)
		if err != nil || len(since) != 1 {
			return fmt.Errorf("behind the first there is %+v, %w", since, err)
		}
		messages, err := ctx.Session.Messages()
		if err != nil || len(messages) != 1 {
			return fmt.Errorf("the messages are %+v, %w", messages, err)
		}
		return errors.Join(
			ctx.Session.SetName("mine"), ctx.Abort(), ctx.Shutdown(),
			ctx.SendUserMessage("go on", sdk.AsFollowUp()),
			ctx.SendMessage(sdk.CustomMessage{CustomType: "x", Content: sdk.PlainContent("psst")}, sdk.TriggerTurn(), sdk.AsNextTurn()),
		)
	}))
	pi.AddMessage(message.NewUser("hello", nil, 1))
	pi.Command("/do")
	if got := fmt.Sprint(pi.Changes()); got != "[label 00000002 here name mine abort shutdown]" {
		t.Errorf("it asked for %s", got)
	}
	sent := pi.Sent()
	if len(sent) != 2 || sent[0].Text != "go on" || sent[0].DeliverAs != "followUp" || sent[1].Custom.CustomType != "x" || !sent[1].TriggerTurn {
		t.Errorf("it sent %+v", sent)
	}
	if entries := pi.Entries(); len(entries) != 2 || entries[1].CustomType != "note" {
		t.Errorf("the entries are %+v", entries)
	}
}

func TestChangesOfSession(t *testing.T) {
	pi := sdktest.Start(t, command(func(ctx *sdk.CommandContext, args string) error {
		if err := ctx.WaitForIdle(); err != nil {
			return err
		}
		next, err := ctx.NewSession("")
		if err != nil {
			return err
		}
		if _, err := ctx.Session.Entries(); !errors.Is(err, sdk.ErrStale) {
			return fmt.Errorf("the old context gave %w", err)
		}
		if next, err = next.SwitchSession("/some/file"); err != nil {
			return err
		}
		if next, _, err = next.Fork("1"); err != nil {
			return err
		}
		if next, err = next.ForkAt("2"); err != nil {
			return err
		}
		if _, err := next.NavigateTree("3", sdk.NavigateOptions{}); err != nil {
			return err
		}
		return next.Reload()
	}))
	pi.Command("/do")
	if got := fmt.Sprint(pi.Changes()); got != "[new switch /some/file fork 1 fork 2 navigate 3 reload]" {
		t.Errorf("it asked for %s", got)
	}
	pi.Veto(true)
	if err := pi.TryCommand("/do"); err == nil || !strings.Contains(err.Error(), "cancelled by an extension") {
		t.Errorf("a veto gave %v", err)
	}
}

func TestEventsAndTools(t *testing.T) {
	pi := sdktest.Start(t, func(x *sdk.Extension) {
		sdk.On(x, sdk.ToolCall, func(ctx *sdk.Context, e *sdk.ToolCallEvent) (*sdk.ToolCallResult, error) {
			switch e.ToolName {
			case "bash":
				return &sdk.ToolCallResult{Block: true, Reason: "no"}, nil
			case "wait":
				<-ctx.Done()
				return nil, ctx.Err()
			case "panic":
				panic("ouch")
			}
			return nil, nil
		})
		sdk.On(x, sdk.TurnEnd, func(ctx *sdk.Context, e *sdk.TurnEndEvent) error {
			return ctx.UI.Notify(fmt.Sprintf("turn %d", e.TurnIndex), sdk.Info)
		})
		sdk.AddTool(x, sdk.Tool{Name: "steps"}, func(ctx *sdk.ToolContext, _ struct{}) (string, error) {
			return "three", errors.Join(ctx.UpdateText("one"), ctx.UpdateText("two"))
		})
	})
	result, err := sdktest.Decide(pi, sdk.ToolCall, &sdk.ToolCallEvent{ToolName: "bash", Input: sdk.Raw(`{}`)})
	if err != nil || !result.Block || result.Reason != "no" {
		t.Errorf("bash gave %+v, %v", result, err)
	}
	result, err = sdktest.Decide(pi, sdk.ToolCall, &sdk.ToolCallEvent{ToolName: "read", Input: sdk.Raw(`{}`)})
	if err != nil || result != nil {
		t.Errorf("read gave %+v, %v", result, err)
	}
	if _, err = sdktest.Decide(pi, sdk.ToolCall, &sdk.ToolCallEvent{ToolName: "panic", Input: sdk.Raw(`{}`)}); err == nil || !strings.Contains(err.Error(), "panic: ouch (sdktest_test.go:") {
		t.Errorf("a panic gave %v", err)
	}
	ctx, abort := context.WithCancel(t.Context())
	abort()
	if _, err := sdktest.DecideContext(ctx, pi, sdk.ToolCall, &sdk.ToolCallEvent{ToolName: "wait", Input: sdk.Raw(`{}`)}); err == nil {
		t.Error("an aborted handler gave no error")
	}
	pi.Tell(&sdk.TurnEndEvent{TurnIndex: 4, Message: message.NewUser("x", nil, 1)})
	pi.WantNotice("turn 4")
	pi.Tell(&sdk.AgentStartEvent{})
	output, updates, err := pi.TryTool(t.Context(), "steps", `{}`)
	if err != nil || message.Text(output.Content) != "three" || len(updates) != 2 {
		t.Errorf("steps gave %+v, %+v, %v", output, updates, err)
	}
}

func TestAPendingDialogEndsWithItsHandler(t *testing.T) {
	pi := sdktest.Start(t, func(x *sdk.Extension) {
		sdk.AddTool(x, sdk.Tool{Name: "ask"}, func(ctx *sdk.ToolContext, _ struct{}) (string, error) {
			_, err := ctx.UI.Confirm("Well?", "")
			return "", err
		})
	})
	pi.Answer("Well?", sdktest.Pending)
	ctx, abort := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, _, err := pi.TryTool(ctx, "ask", `{}`)
		done <- err
	}()
	pi.WantDialog("Well?")
	abort()
	if err := <-done; err == nil {
		t.Error("the aborted tool gave no error")
	}
}

func TestBusFlagsModelsAndProviders(t *testing.T) {
	model := sdk.Model{ID: "m", Provider: "p", Name: "M"}
	pi := sdktest.Start(t, func(x *sdk.Extension) {
		loud := x.BoolFlag("loud", "Shout", false)
		name := x.StringFlag("name", "A name", "nobody")
		sdk.Subscribe(x, "weather", func(ctx *sdk.Context, m sdk.BusMessage, rain bool) error {
			return ctx.Publish("mood", fmt.Sprintf("%s %t %t %s", m.From, rain, loud.Bool(), name))
		})
		x.Provider(sdk.Provider{Name: "echo", Stream: func(_ *sdk.Context, req *sdk.ProviderRequest, out *sdk.ProviderStream) error {
			return errors.Join(out.Text(req.System), out.Usage(sdk.Usage{Input: 1}))
		}})
		x.Command(sdk.Command{Name: "do", Run: func(ctx *sdk.CommandContext, _ string) error {
			current, err := ctx.Models.Current()
			if err != nil || current.ID != "m" {
				return fmt.Errorf("the model is %+v, %w", current, err)
			}
			available, err := ctx.Models.Available()
			if err != nil || len(available) != 1 {
				return fmt.Errorf("there are %+v, %w", available, err)
			}
			if _, err := ctx.Models.Set("p", "nonsense"); err == nil {
				return errors.New("a model that is not there was set")
			}
			names, err := ctx.Tools.Active()
			if err != nil || fmt.Sprint(names) != "[read bash]" {
				return fmt.Errorf("the tools are %v, %w", names, err)
			}
			return errors.Join(ctx.Models.SetThinking(sdk.ThinkingHigh), ctx.Tools.SetActive([]string{"read"}),
				ctx.RegisterProvider(sdk.Provider{Name: "proxy", BaseURL: "http://localhost"}), ctx.UnregisterProvider("nobody"))
		}})
	}, sdktest.WithFlag("loud", "true"), sdktest.WithModels(model), sdktest.WithTools("read", "bash"))
	pi.Publish("other", "weather", true)
	if got := pi.Published(); len(got) != 1 || got[0].Topic != "mood" || string(got[0].Data) != `"other true true nobody"` {
		t.Errorf("it published %+v", got)
	}
	pi.Command("/do")
	if got := fmt.Sprint(pi.Changes()); got != "[thinking high tools [read]]" {
		t.Errorf("it asked for %s", got)
	}
	if got := pi.Providers(); len(got) != 2 || got[0].Name != "proxy" || !got[1].Streams {
		t.Errorf("its providers are %+v", got)
	}
	text, deltas, err := pi.Stream("echo", sdk.ProviderRequest{System: "be brief"})
	if err != nil || text != "be brief" || deltas[len(deltas)-1].Kind != proto.DeltaFinish {
		t.Errorf("it streamed %q, %+v, %v", text, deltas, err)
	}
}

func TestCompactOutlivesTheHandler(t *testing.T) {
	done := make(chan string, 1)
	pi := sdktest.Start(t, command(func(ctx *sdk.CommandContext, _ string) error {
		ctx.Compact("briefly", func(r *sdk.CompactionResult, err error) {
			if err != nil {
				done <- err.Error()
				return
			}
			done <- r.Summary
		})
		return nil
	}))
	pi.Command("/do")
	if got := <-done; got != "a summary" {
		t.Errorf("it gave %q", got)
	}
}

func TestExtending(t *testing.T) {
	pi := sdktest.Start(t, command(func(ctx *sdk.CommandContext, args string) error {
		return ctx.Extend(func(x *sdk.Extension) {
			sdk.AddTool(x, sdk.Tool{Name: "late"}, func(*sdk.ToolContext, struct{}) (string, error) { return "here", nil })
		})
	}))
	pi.Command("/do")
	if got := pi.ToolText("late", `{}`); got != "here" {
		t.Errorf("the tool said %q", got)
	}
	if err := pi.TryCommand("/do"); err == nil || !strings.Contains(err.Error(), `two tools of the name "late"`) {
		t.Errorf("the second time gave %v", err)
	}
}

// What Extend is given may use the extension meanwhile, also extend it.
func TestExtendingInOneAnother(t *testing.T) {
	add := func(name string) func(*sdk.Extension) {
		return func(x *sdk.Extension) {
			sdk.AddTool(x, sdk.Tool{Name: name}, func(*sdk.ToolContext, struct{}) (string, error) { return name, nil })
		}
	}
	pi := sdktest.Start(t, command(func(ctx *sdk.CommandContext, _ string) error {
		return ctx.Extend(func(x *sdk.Extension) {
			add("outer")(x)
			if err := ctx.Extend(add("inner")); err != nil {
				panic(err)
			}
		})
	}))
	pi.Command("/do")
	for _, name := range []string{"outer", "inner"} {
		if got := pi.ToolText(name, `{}`); got != name {
			t.Errorf("the tool %s said %q", name, got)
		}
	}
}

// An Extend that fails adds nothing.
func TestExtendingIsAllOrNothing(t *testing.T) {
	pi := sdktest.Start(t, command(func(ctx *sdk.CommandContext, _ string) error {
		return ctx.Extend(func(x *sdk.Extension) {
			x.Command(sdk.Command{Name: "more", Run: func(*sdk.CommandContext, string) error { return nil }})
			panic("changed my mind")
		})
	}))
	for range 2 {
		if err := pi.TryCommand("/do"); err == nil || !strings.HasPrefix(err.Error(), "changed my mind") {
			t.Errorf("it gave %v", err)
		}
	}
	if err := pi.TryCommand("/more"); err == nil {
		t.Error("the command is there")
	}
}

func TestASessionThatIsSetUp(t *testing.T) {
	pi := sdktest.Start(t, command(func(ctx *sdk.CommandContext, _ string) error {
		_, err := ctx.NewSession("", sdk.SetupName("next"),
			sdk.SetupMessage(&sdk.User{Content: sdk.PlainContent("hello")}),
			sdk.SetupCustomMessage(sdk.CustomMessage{CustomType: "note", Content: sdk.PlainContent("n")}),
			sdk.SetupEntry("state", map[string]int{"n": 1}))
		return err
	}))
	pi.Command("/do")
	entries := pi.Entries()
	if len(entries) != 4 || sdk.TextOf(entries[1].Message) != "hello" || entries[2].CustomType != "note" || string(entries[3].Data) != `{"n":1}` {
		t.Errorf("the entries are %+v", entries)
	}
}

// What is asked of pi behind an abort says why nothing comes of it.
func TestAskingAfterAnAbort(t *testing.T) {
	ctx, abort := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	pi := sdktest.Start(t, func(x *sdk.Extension) {
		sdk.AddTool(x, sdk.Tool{Name: "late"}, func(ctx *sdk.ToolContext, _ struct{}) (string, error) {
			abort()
			<-ctx.Done()
			_, err := ctx.UI.Confirm("Sure?", "")
			asked <- err
			return "", err
		})
	})
	if _, _, err := pi.TryTool(ctx, "late", `{}`); err == nil {
		t.Error("the call was not aborted")
	}
	if err := <-asked; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "confirm: the run was aborted") || !strings.Contains(err.Error(), "Extension.Background") {
		t.Errorf("it gave %v", err)
	}
}
