// Actor is an extension that does what a test tells it to. The variable ON
// lists the kinds of events it handles, with what happens then: kind=note
// says so in a notice, kind=hang never returns, kind=fail returns an error,
// kind=panic, kind=die, kind=ask opens a dialog. The variable EARLY prints
// something before the handshake.
package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed-54e836f5/pi/sdk"
)

// Packages for logging get hold of the streams when they are initialized.
var earlyOut, earlyErr = log.New(os.Stdout, "early on stdout: ", 0), log.New(os.Stderr, "early on stderr: ", 0)

func init() {
	if early := os.Getenv("EARLY"); early != "" {
		fmt.Println(early)
	}
	if os.Getenv("EARLY_PANIC") != "" {
		panic("no luck in init")
	}
}

func main() { sdk.Main(register) }

func register(x *sdk.Extension) {
	x.Info("actor", "0.1.0")
	if os.Getenv("REGISTER_PANIC") != "" {
		panic("no luck in register")
	}
	if os.Getenv("REGISTER_DIE") != "" {
		fmt.Fprintln(os.Stderr, "dying in register")
		os.Exit(9)
	}
	subscribe(x)
	addCommands(x)
	addSwitch(x)
	addTools(x)
	addProvider(x)
	flag := x.StringFlag("actor-flag", "a flag", "unset")
	x.Command(sdk.Command{Name: "flag", Run: func(ctx *sdk.CommandContext, _ string) error {
		return ctx.UI.Notify("flag="+flag.String(), sdk.Info)
	}})
	sdk.Subscribe(x, "ping", func(ctx *sdk.Context, m sdk.BusMessage, text string) error {
		return ctx.UI.Notify(os.Getenv("NAME")+" got "+text+" from "+m.From, sdk.Info)
	})
}

// act carries out one behaviour.
func act(x *sdk.Extension, ctx *sdk.Context, kind, what string) error {
	switch what {
	case "hang":
		select {}
	case "fail":
		return errors.New("actor fails in " + kind)
	case "panic":
		panic("actor panics in " + kind)
	case "die":
		fmt.Fprintln(os.Stderr, "actor dies in "+kind)
		os.Exit(7)
	case "ask":
		ok, err := ctx.UI.Confirm("dialog of "+kind, "yes?")
		if err != nil {
			return err
		}
		return ctx.UI.Notify(fmt.Sprintf("%s answered %t", kind, ok), sdk.Info)
	case "until-aborted":
		if err := x.Background().UI.Notify(kind+" waits", sdk.Info); err != nil {
			return err
		}
		<-ctx.Done()
		return x.Background().UI.Notify(kind+" was aborted", sdk.Info)
	case "note":
		return ctx.UI.Notify("saw "+kind, sdk.Info)
	}
	return nil
}

// addSwitch adds a command that goes to another session.
func addSwitch(x *sdk.Extension) {
	x.Command(sdk.Command{Name: "switch", Run: func(ctx *sdk.CommandContext, file string) error {
		next, err := ctx.SwitchSession(file)
		if err != nil {
			return err
		}
		return next.UI.Notify("works in "+next.Cwd(), sdk.Info)
	}})
}

func addCommands(x *sdk.Extension) {
	command := func(name string, run func(ctx *sdk.CommandContext, args string) error) {
		x.Command(sdk.Command{Name: name, Run: run})
	}
	command("act", func(ctx *sdk.CommandContext, args string) error { return act(x, ctx.Context, "command", args) })
	command("env", func(ctx *sdk.CommandContext, args string) error {
		return ctx.UI.Notify(args+"="+os.Getenv(args), sdk.Info)
	})
	command("say", func(ctx *sdk.CommandContext, args string) error {
		fmt.Println("on stdout: " + args)
		fmt.Fprintln(os.Stderr, "on stderr: "+args)
		earlyOut.Println(args)
		earlyErr.Println(args)
		x.Log().Warn("logged: " + args)
		x.Log().Debug("whispered: " + args)
		return nil
	})
	command("flood", func(_ *sdk.CommandContext, args string) error {
		long := strings.Repeat("x", 1<<20)
		for range 20 {
			fmt.Println(long)
			fmt.Fprintln(os.Stderr, long)
		}
		return nil
	})
	command("children", func(ctx *sdk.CommandContext, _ string) error {
		child := exec.Command("sleep", "600")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			return err
		}
		return ctx.UI.Notify("child="+strconv.Itoa(child.Process.Pid), sdk.Info)
	})
	command("stubborn", func(*sdk.CommandContext, string) error {
		signal.Ignore(syscall.SIGTERM)
		return nil
	})
	command("publish", func(ctx *sdk.CommandContext, args string) error { return ctx.Publish("ping", args) })
	command("new-session", func(ctx *sdk.CommandContext, _ string) error {
		next, err := ctx.NewSession("")
		if err != nil {
			return err
		}
		if _, err := ctx.Session.Entries(); !errors.Is(err, sdk.ErrStale) {
			return fmt.Errorf("the old context gave %v", err)
		}
		if _, err := next.Session.Entries(); err != nil {
			return fmt.Errorf("the new context: %w", err)
		}
		return next.UI.Notify("moved", sdk.Info)
	})
	command("call", func(ctx *sdk.CommandContext, args string) error {
		if err := calls(ctx, args); err != nil {
			return ctx.UI.Notify(fmt.Sprintf("%s: stale=%t notAllowed=%t unavailable=%t invalid=%t %v", args,
				errors.Is(err, sdk.ErrStale), errors.Is(err, sdk.ErrNotAllowed), errors.Is(err, sdk.ErrUnavailable), errors.Is(err, sdk.ErrInvalid), err), sdk.Error)
		}
		return ctx.UI.Notify(args+": fine", sdk.Info)
	})
	command("reload", func(ctx *sdk.CommandContext, _ string) error {
		if err := ctx.Reload(); err != nil {
			return err
		}
		return ctx.UI.Notify("reloaded by "+strconv.Itoa(os.Getpid()), sdk.Info)
	})
	command("extend", func(ctx *sdk.CommandContext, _ string) error {
		return ctx.Extend(func(x *sdk.Extension) {
			sdk.AddTool(x, sdk.Tool{Name: "late", Description: "Come late"}, func(*sdk.ToolContext, struct{}) (string, error) {
				return "better than never", nil
			})
		})
	})
	command("extend-many", func(ctx *sdk.CommandContext, _ string) error {
		errs := make(chan error)
		for n := range 20 {
			go func() {
				errs <- ctx.Extend(func(x *sdk.Extension) {
					x.Command(sdk.Command{Name: fmt.Sprintf("many%d", n), Run: func(*sdk.CommandContext, string) error { return nil }})
				})
			}()
		}
		var err error
		for range 20 {
			err = errors.Join(err, <-errs)
		}
		return err
	})
	x.Command(sdk.Command{
		Name: "complete", Run: func(*sdk.CommandContext, string) error { return nil },
		Suggest: func(ctx *sdk.Context, prefix string) ([]sdk.Completion, error) {
			return []sdk.Completion{{Value: prefix + "!", Label: "loud"}}, act(x, ctx, "completion", prefix)
		},
	})
	command("shell", func(ctx *sdk.CommandContext, args string) error {
		result, err := ctx.Exec("sh", "-c", args)
		if err != nil {
			return err
		}
		return ctx.UI.Notify(fmt.Sprintf("code %d, %s%s", result.Code, result.Stdout, result.Stderr), sdk.Info)
	})
}

// addProvider adds a provider of models that answers with what it was told.
func addProvider(x *sdk.Extension) {
	name := os.Getenv("PROVIDER")
	if name == "" {
		return
	}
	x.Provider(sdk.Provider{Name: name, Models: []sdk.Model{{ID: "p1", Name: "Parrot"}}, Stream: func(_ *sdk.Context, req *sdk.ProviderRequest, out *sdk.ProviderStream) error {
		said := sdk.TextOf(req.Messages[len(req.Messages)-1])
		switch said {
		case "fail":
			return &sdk.ProviderError{Class: sdk.Quota, Message: "no more crackers"}
		case "panic":
			panic("squawk")
		case "key":
			said = req.APIKey + " " + req.Headers["Authorization"] + " " + req.System
		}
		return errors.Join(out.Thinking("hm"), out.Text(said), out.Text(" "+said), out.ToolCall("1", req.Tools[0].Name, []byte("{}")))
	}})
}

// calls makes one call to pi, by name.
func calls(ctx *sdk.CommandContext, name string) error {
	switch name {
	case "entries":
		_, err := ctx.Session.Entries()
		return err
	case "append":
		e, err := ctx.Session.AppendEntry("note", map[string]int{"n": 1})
		if err != nil {
			return err
		}
		branch, err := ctx.Session.Branch()
		if err != nil {
			return err
		}
		if last := branch[len(branch)-1]; last.ID != e.ID || last.CustomType != "note" || string(last.Data) != `{"n":1}` {
			return fmt.Errorf("the branch ends with %+v", last)
		}
		if err := ctx.Session.SetLabel(e.ID, "here"); err != nil {
			return err
		}
		if label, err := ctx.Session.Label(e.ID); err != nil || label != "here" {
			return fmt.Errorf("the label is %q, %v", label, err)
		}
		return nil
	case "name":
		if err := ctx.Session.SetName("my session"); err != nil {
			return err
		}
		if got, err := ctx.Session.Name(); err != nil || got != "my session" {
			return fmt.Errorf("the name is %q, %v", got, err)
		}
		return nil
	case "no-name":
		return ctx.Session.SetName(" ")
	case "state":
		s, err := ctx.State()
		if err != nil {
			return err
		}
		if s.Mode != "rpc" || !s.HasUI || s.Cwd != ctx.Cwd() || s.SessionID == "" || !s.IsIdle {
			return fmt.Errorf("the state is %+v", s)
		}
		return nil
	case "tools":
		names, err := ctx.Tools.Active()
		if err != nil {
			return err
		}
		return ctx.Tools.SetActive(names)
	case "no-tool":
		return ctx.Tools.SetActive([]string{"nonsense"})
	case "message":
		return ctx.SendMessage(sdk.CustomMessage{CustomType: "actor", Content: sdk.PlainContent("psst"), Display: true})
	case "thinking":
		return ctx.Models.SetThinking("enormous")
	case "commands":
		list, err := ctx.Commands()
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return errors.New("there are no commands")
		}
		return nil
	case "prompt":
		text, err := ctx.SystemPrompt()
		if err == nil && text != "system" {
			return fmt.Errorf("the system prompt is %q", text)
		}
		return err
	case "select":
		_, _, err := ctx.UI.Select("Choose", nil)
		return err
	case "provider":
		return ctx.RegisterProvider(sdk.Provider{Name: "mine", BaseURL: "http://localhost:1"})
	}
	return fmt.Errorf("there is no call %q", name)
}

type sizeInput struct {
	Bytes int `json:"bytes"`
}

type textInput struct {
	Text string `json:"text"`
}

func addTools(x *sdk.Extension) {
	sdk.AddTool(x, sdk.Tool{Name: "big", Description: "Give a text of a size"}, func(_ *sdk.ToolContext, in sizeInput) (string, error) {
		return strings.Repeat("b", in.Bytes), nil
	})
	sdk.AddTool(x, sdk.Tool{Name: "length", Description: "Measure a text"}, func(_ *sdk.ToolContext, in textInput) (int, error) {
		return len(in.Text), nil
	})
	sdk.AddTool(x, sdk.Tool{Name: "steps", Description: "Show progress"}, func(ctx *sdk.ToolContext, _ struct{}) (sdk.ToolOutput, error) {
		for n := range 3 {
			if err := ctx.UpdateText(fmt.Sprintf("step %d", n)); err != nil {
				return sdk.ToolOutput{}, err
			}
		}
		return sdk.ToolOutput{Content: []sdk.Block{sdk.Text("partly")}}, errors.New("steps failed")
	})
	sdk.AddTool(x, sdk.Tool{Name: "act", Description: "Do something"}, func(ctx *sdk.ToolContext, in textInput) (string, error) {
		return "done", act(x, ctx.Context, "tool", in.Text)
	})
}
