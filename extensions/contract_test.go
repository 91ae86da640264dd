package extensions_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/extensions"
	"github.com/seed-54e836f5/pi/proto"
	"github.com/seed-54e836f5/pi/sdk"
)

// TestAnExtensionWithoutTheSDK starts one that go-plugin serves.
func TestAnExtensionWithoutTheSDK(t *testing.T) {
	k := startKit(t, fixture("stock"))
	if info := k.info(); info.State != extensions.Running || info.Name != "stock" {
		t.Fatalf("it is %+v", info)
	}
	k.wantError(`a handler for "from_the_future", which this pi does not know`)
	k.wantError(`the tool "broken" is left out`, `the tool "odd" is left out`, "not a JSON Schema", `the tool "my.tool" is left out: name: "my.tool"`)

	k.command("/unknown")
	k.person.waitNotice(t, "Unimplemented Unimplemented Unimplemented REASON_INVALID_ARGUMENT")

	k.command("/missing")
	k.wantError("extension stock does not support the command missing")

	if result := k.gate(t.Context(), "bash"); !result.Block || !strings.Contains(result.Reason, "the result of the handler of tool_call") {
		t.Errorf("a result that is none gives %+v", result)
	}
	for _, name := range []string{"broken", "odd"} {
		if k.session.tool(name) != nil {
			t.Errorf("the tool %s is there", name)
		}
	}
	if log := k.log.String(); !strings.Contains(log, "printed by stock") {
		t.Errorf("what it printed is not in the log:\n%s", log)
	}
}

func TestAnExtensionThatNeedsANewerPi(t *testing.T) {
	k := startKit(t, folder(t, "stock", map[string]any{"command": []string{fixture("stock")}, "env": []string{"NEEDS=bus telepathy"}}))
	k.wantError(`it needs a pi that can do "telepathy"`, "update pi")
}

// TestAttachingToADebugger serves an extension in this process, as one under a
// debugger would be, and has the host attach to it.
func TestAttachingToADebugger(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	address, ended, err := sdk.Listen(ctx, func(x *sdk.Extension) {
		x.Info("debugged", "1")
		x.Command(sdk.Command{Name: "break", Run: func(ctx *sdk.CommandContext, _ string) error {
			return ctx.UI.Notify("stopped at a breakpoint", sdk.Info)
		}})
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	path := fixture("hello")
	k := newKit(t, func(o *extensions.Options) {
		o.Paths = []string{path}
		o.Env = append(os.Environ(), proto.ReattachEnv+"="+path+"="+address)
	})
	k.start()
	if info := k.info(); info.Name != "debugged" || info.PID != 0 {
		t.Errorf("it is %+v", info)
	}
	k.command("/break")
	k.person.waitNotice(t, "stopped at a breakpoint")
	k.close()
	cancel()
	ended()
}

func TestToolsAddedLater(t *testing.T) {
	k := startKit(t, actor(t, "", nil))
	k.command("/extend")
	result, err := k.tool(t.Context(), "late", `{}`, nil)
	if err != nil || message.Text(result.Content) != "better than never" {
		t.Errorf("the tool gave %+v, %v", result, err)
	}
	if info := k.info(); !strings.Contains(strings.Join(info.Tools, " "), "late") {
		t.Errorf("it is %+v", info)
	}
}

// Registrations that are made at the same time all count, in whichever order
// they arrive.
func TestCommandsAddedAtTheSameTime(t *testing.T) {
	k := startKit(t, actor(t, "", nil))
	k.command("/extend-many")
	for n := range 20 {
		k.command(fmt.Sprintf("/many%d", n))
	}
}

func TestAnUpdateThatComesLateIsLeftOut(t *testing.T) {
	k := startKit(t, fixture("stock"))
	k.command("/update")
	var names []string
	for _, c := range k.session.Commands() {
		names = append(names, c.Name)
	}
	if fmt.Sprint(names) != "[update3]" {
		t.Errorf("the commands are %v", names)
	}
}

// What waits for the session is refused to a handler that the session waits
// for, and at once.
func TestACompactionIsRefusedToAHandler(t *testing.T) {
	k := startKit(t, fixture("stock"))
	k.person.waitNotice(t, "REASON_COMMAND_ONLY agent.compact begins when this handler has returned")
}

func TestCompletion(t *testing.T) {
	k := startKit(t, actor(t, "", nil))
	got, err := k.session.CompleteArguments(t.Context(), "complete", "x")
	if err != nil || len(got) != 1 || got[0] != (session.Completion{Value: "x!", Label: "loud"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, test := range []struct{ prefix, want string }{
		{"fail", "actor fails in completion"},
		{"panic", "actor panics in completion"},
		{"hang", "the completion of the command complete did not answer within 2s"},
		{"die", "actor dies in completion"},
	} {
		if _, err := k.session.CompleteArguments(t.Context(), "complete", test.prefix); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s gave %v", test.prefix, err)
		}
	}
}

// A host that was closed before it was started has nothing to wait for.
func TestStartAfterClose(t *testing.T) {
	k := newKit(t, func(o *extensions.Options) { o.Paths = []string{fixture("hello")} })
	if err := k.host.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.start()
	if err := k.host.Reload(t.Context()); !errors.Is(err, extensions.ErrClosed) {
		t.Errorf("a reload gave %v", err)
	}
}

// A session brings its own folder, and what a command does next means that.
func TestTheContextOfAnotherSessionHasItsFolder(t *testing.T) {
	there := t.TempDir()
	other, err := store.Create(store.CreateOptions{Dir: t.TempDir(), Cwd: there})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(other.Persist(), other.Close()); err != nil {
		t.Fatal(err)
	}
	k := startKit(t, actor(t, "", nil))
	k.command("/switch " + other.Path())
	k.person.waitNotice(t, "works in "+there)
}

// providers keeps what extensions register.
type providers map[string]provider.Provider

func (p providers) RegisterProvider(_ string, config proto.Provider, stream provider.Provider) error {
	p[config.Name] = stream
	return nil
}

func (p providers) UnregisterProvider(_, name string) { delete(p, name) }

func TestAProviderThatStreams(t *testing.T) {
	registered := providers{}
	k := newKit(t, func(o *extensions.Options) {
		o.Paths, o.Providers = []string{actor(t, "", map[string]any{"env": []string{"PROVIDER=parrot"}})}, registered
	})
	k.start()
	stream := registered["parrot"]
	if stream == nil {
		t.Fatal("it is not registered")
	}
	ask := func(ctx context.Context, text string) (deltas []provider.Delta, err error) {
		err = stream.Stream(ctx, provider.Request{
			Model:    message.Model{Provider: "parrot", ID: "p1"},
			Messages: []message.Message{message.NewUser(text, nil, 1)},
			Tools:    []provider.Tool{{Name: "fly", Parameters: []byte(`{}`)}},
		}, func(d provider.Delta) error {
			deltas = append(deltas, d)
			return nil
		})
		return deltas, err
	}
	deltas, err := ask(t.Context(), "hello")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []provider.DeltaKind
	text := ""
	for _, d := range deltas {
		kinds = append(kinds, d.Kind)
		text += d.Text
	}
	want := []provider.DeltaKind{
		provider.ThinkingStart, provider.ThinkingDelta, provider.ThinkingEnd, provider.TextStart, provider.TextDelta, provider.TextDelta, provider.TextEnd,
		provider.ToolCallStart, provider.ToolCallDelta, provider.ToolCallEnd, provider.Finish,
	}
	if len(kinds) != len(want) {
		t.Fatalf("the steps are %v", kinds)
	}
	for n := range want {
		if kinds[n] != want[n] {
			t.Fatalf("the steps are %v", kinds)
		}
	}
	if text != "hmhello hello{}" || deltas[len(deltas)-1].StopReason != message.StopToolUse {
		t.Errorf("the answer is %q, %+v", text, deltas[len(deltas)-1])
	}
	if _, err := ask(t.Context(), "fail"); provider.ClassOf(err) != provider.Quota || err.Error() != "no more crackers" {
		t.Errorf("a failure gave %v of class %s", err, provider.ClassOf(err))
	}
	if _, err := ask(t.Context(), "panic"); provider.ClassOf(err) != provider.Invalid || !strings.Contains(err.Error(), "squawk") {
		t.Errorf("a panic gave %v of class %s", err, provider.ClassOf(err))
	}
	ctx, abort := context.WithCancel(t.Context())
	abort()
	if _, err := ask(ctx, "hello"); provider.ClassOf(err) != provider.Aborted {
		t.Errorf("an abort gave %v of class %s", err, provider.ClassOf(err))
	}
}
