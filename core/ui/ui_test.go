package ui_test

import (
	"testing"

	"github.com/seed-54e836f5/pi/core/ui"
)

// Without a person every dialog is dismissed at once, never answered: a
// question about permission must not be taken for a yes.
func TestNoneDismissesEveryDialog(t *testing.T) {
	var u ui.UI = ui.None{}
	if u.Interactive() {
		t.Error("somebody is there")
	}
	for _, method := range []ui.Method{ui.Select, ui.Confirm, ui.Input, ui.Editor} {
		answer, err := u.Ask(t.Context(), ui.Dialog{Method: method, Title: "Sure?", Options: []string{"yes"}})
		if err != nil || answer != (ui.Answer{Dismissed: true}) {
			t.Errorf("%s is answered with %+v, %v", method, answer, err)
		}
	}
	u.Tell(ui.Notice{Method: ui.Notify, Message: "nobody hears"})
}
