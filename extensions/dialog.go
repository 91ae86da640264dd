package extensions

import (
	"context"

	"github.com/google/uuid"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/ui"
)

// ask shows a dialog, and lets extensions know that it is there and when it
// is gone.
func (h *Host) ask(ctx context.Context, d ui.Dialog) (ui.Answer, error) {
	face := h.theSession().UI()
	chain := h.options.Hooks
	if !face.Interactive() || !chain.Wanted(event.KindUIPromptStart) && !chain.Wanted(event.KindUIPromptEnd) {
		return face.Ask(ctx, d)
	}
	id := uuid.NewString()
	chain.Tell(ctx, &event.UIPromptStart{ID: id, Method: string(d.Method), Title: d.Title})
	answer, err := face.Ask(ctx, d)
	chain.Tell(context.WithoutCancel(ctx), &event.UIPromptEnd{ID: id, Method: string(d.Method), Cancelled: answer.Dismissed})
	return answer, err
}
