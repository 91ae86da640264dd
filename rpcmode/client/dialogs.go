package client

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed-54e836f5/pi/core/ui"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

// shown takes a dialog or a notice.
func (c *Client) shown(line []byte) error {
	var r wire.UIRequest
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("%s: %w", wire.TypeUIRequest, err)
	}
	switch ui.Method(r.Method) {
	case ui.Select, ui.Confirm, ui.Input, ui.Editor:
		c.ask(r)
	case "cancel":
		c.withdraw(r.TargetID)
	default:
		notice := noticeOf(r)
		c.publish(frame{notice: &notice})
	}
	return nil
}

// ask has a dialog answered on a goroutine of its own.
func (c *Client) ask(r wire.UIRequest) {
	ctx, cancel := context.WithCancel(c.life)
	if r.Timeout > 0 {
		cancel()
		ctx, cancel = context.WithTimeout(c.life, time.Duration(r.Timeout)*time.Millisecond)
	}
	c.mu.Lock()
	c.dialogs[r.ID] = cancel
	c.mu.Unlock()
	c.handle(func() {
		defer c.withdraw(r.ID)
		answer := ui.Answer{Dismissed: true}
		if c.options.OnDialog != nil {
			answer = c.options.OnDialog(ctx, dialogOf(r))
		}
		if ctx.Err() == nil {
			c.write(responseTo(r, answer))
		}
	})
}

// withdraw ends the context of a dialog.
func (c *Client) withdraw(id string) {
	c.mu.Lock()
	cancel := c.dialogs[id]
	delete(c.dialogs, id)
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

func responseTo(r wire.UIRequest, a ui.Answer) wire.UIResponse {
	response := wire.UIResponse{Type: wire.TypeUIResponse, ID: r.ID}
	switch {
	case a.Dismissed:
		response.Cancelled = true
	case r.Method == string(ui.Confirm):
		response.Confirmed = &a.Confirmed
	default:
		response.Value = &a.Value
	}
	return response
}

func dialogOf(r wire.UIRequest) ui.Dialog {
	d := ui.Dialog{
		Method: ui.Method(r.Method), Title: orEmpty(r.Title), Message: orEmpty(r.Message),
		Placeholder: r.Placeholder, Prefill: r.Prefill, Timeout: time.Duration(r.Timeout) * time.Millisecond,
	}
	if r.Options != nil {
		d.Options = *r.Options
	}
	return d
}

func noticeOf(r wire.UIRequest) ui.Notice {
	n := ui.Notice{
		Method: ui.Method(r.Method), Message: orEmpty(r.Message), Type: r.NotifyType, Text: r.StatusText,
		Lines: r.WidgetLines, Placement: r.WidgetPlacement, Title: orEmpty(r.Title), Content: orEmpty(r.Text),
	}
	switch n.Method {
	case ui.SetStatus:
		n.Key = orEmpty(r.StatusKey)
	case ui.SetWidget:
		n.Key = orEmpty(r.WidgetKey)
	}
	return n
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
