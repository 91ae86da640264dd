package extensions_test

import (
	"context"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/ui"
	"github.com/seed-54e836f5/pi/extensions"
)

func TestAnExtensionWorks(t *testing.T) {
	k := startKit(t, fixture("hello"))
	k.person.waitNotice(t, "hello is here")

	k.command("/hello World")
	k.person.waitNotice(t, "Hello World!")

	k.person.answer(func(context.Context, ui.Dialog) ui.Answer { return ui.Answer{Value: "Grace"} })
	k.command("/hello")
	k.person.waitDialog(t, "What is your name?")
	k.person.waitNotice(t, "Hello Grace!")

	result, err := k.tool(t.Context(), "greet", `{"name":"Alan","times":2}`, nil)
	if err != nil || message.Text(result.Content) != "Hello Alan!\nHello Alan!\n" {
		t.Errorf("greet gave %+v, %v", result, err)
	}
	if _, err := k.tool(t.Context(), "greet", `{"times":2}`, nil); err == nil || !strings.Contains(err.Error(), "name") {
		t.Errorf("greet without a name gave the error %v", err)
	}

	info := k.info()
	if info.Name != "hello" || info.State != extensions.Running || info.PID == 0 || info.Version != "1.0.0" {
		t.Errorf("it is described as %+v", info)
	}
	for _, c := range k.session.Commands() {
		if c.Name == "hello" && c.SourceInfo.Source == "cli" {
			return
		}
	}
	t.Errorf("the command is not listed: %+v", k.session.Commands())
}
