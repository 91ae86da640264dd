package rpcmode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/rpcmode/jsonl"
)

// Batch is what the json and print modes need: prompts that are known from
// the start, and nobody to answer a dialog. The session should have a UI that
// dismisses them.
type Batch struct {
	Out io.Writer
	// Errors gets a line for every error of an extension, from any goroutine,
	// and, in print mode, for an answer that failed.
	Errors io.Writer
	// Session is what the prompts go to. It is closed in the end.
	Session *session.Session
	// Started is called once events are listened to; nil: the session has
	// started already.
	Started func()
	// Ending is called once when the end begins, from which CloseTime counts;
	// nil: nobody wants to know.
	Ending func()
	// Prompts are sent one after the other, each when the one before has
	// settled; none: nothing runs.
	Prompts []session.Prompt
	// Header is the header of the session file, which json mode writes first.
	Header any
	Log    *slog.Logger // nil: nobody
	// CloseTime bounds the wait for the session's end; 0: DefaultCloseTime.
	CloseTime time.Duration
}

// RunJSON writes the header and then every event, one a line, in the form
// that the pi dialect has. ok says that the last answer did not fail. The
// error is that of a prompt that was refused or of the output.
func RunJSON(ctx context.Context, b Batch) (ok bool, err error) {
	header, err := json.Marshal(b.Header)
	if err != nil {
		return false, fmt.Errorf("encode the session header: %w", err)
	}
	out := jsonl.NewWriter(b.Out)
	if err := out.Push(header); err != nil {
		b.log().Debug("the session header could not be written", "error", err)
	}
	last, err := b.play(ctx, out.Failed(), func(e event.Event) {
		frame, err := encoder{Pi}.encode(e)
		if err == nil {
			err = out.Write(frame)
		}
		if err != nil {
			b.log().Debug("an event could not be written", "event", e.Kind(), "error", err)
		}
	})
	if closing := out.Close(context.WithoutCancel(ctx)); closing != nil && !clientGone(closing) {
		err = errors.Join(err, fmt.Errorf("write the events: %w", closing))
	}
	return err == nil && failureOf(last) == "", err
}

// RunPrint writes the text of the last answer, a line for each of its blocks,
// and for one that failed the reason to Errors. ok says that it did not fail.
// The error is that of a prompt that was refused or of the output.
func RunPrint(ctx context.Context, b Batch) (ok bool, err error) {
	last, err := b.play(ctx, nil, func(event.Event) {})
	if err != nil || last == nil {
		return err == nil, err
	}
	if reason := failureOf(last); reason != "" {
		_, err := fmt.Fprintln(b.Errors, reason)
		return false, err
	}
	for _, block := range last.Content {
		if block.Type != message.BlockText {
			continue
		}
		if _, err := fmt.Fprintln(b.Out, block.Text); err != nil {
			return false, fmt.Errorf("write the answer: %w", err)
		}
	}
	return true, nil
}

// failureOf says why an answer is none; empty: it is one, or there is none.
func failureOf(m *message.Assistant) string {
	switch {
	case m == nil || m.StopReason != message.StopError && m.StopReason != message.StopAborted:
		return ""
	case m.ErrorMessage != "":
		return m.ErrorMessage
	}
	return fmt.Sprintf("the answer ended with stop reason %s", m.StopReason)
}

// play sends the prompts and closes the session. gone ends it early.
func (b Batch) play(ctx context.Context, gone <-chan struct{}, receive func(event.Event)) (last *message.Assistant, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var answers lastAnswer
	unsubscribe := b.Session.Subscribe(func(e event.Event) {
		answers.see(e)
		if failure, ok := e.(*event.ExtensionError); ok {
			fmt.Fprintf(b.Errors, "Extension error (%s): %s\n", failure.ExtensionPath, failure.Error)
			return
		}
		receive(e)
	})
	if b.Started != nil {
		b.Started()
	}
	for _, p := range b.Prompts {
		if err = b.send(ctx, gone, p); err != nil || ctx.Err() != nil {
			break
		}
	}
	if b.Ending != nil {
		b.Ending()
	}
	closing, done := context.WithTimeout(context.WithoutCancel(ctx), b.closeTime())
	defer done()
	if failed := b.Session.Close(closing, "quit"); failed != nil {
		err = errors.Join(err, fmt.Errorf("close the session: %w", failed))
	}
	unsubscribe()
	return answers.get(), err
}

// send sends one prompt and waits until what it began has settled.
func (b Batch) send(ctx context.Context, gone <-chan struct{}, p session.Prompt) error {
	accepted := make(chan error, 1)
	b.Session.Prompt(p, func(_ session.Disposition, err error) { accepted <- err })
	settled := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		err := <-accepted
		if err == nil {
			_ = b.Session.WaitIdle(ctx) // fails only with ctx, which is looked at below
		}
		settled <- err
	}()
	select {
	case err := <-settled:
		return err
	case <-gone:
	case <-ctx.Done():
	}
	<-b.Session.Abort()
	cancel()
	<-settled //nolint:errcheck // nobody is left to be told
	return nil
}

func (b Batch) log() *slog.Logger {
	if b.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return b.Log
}

func (b Batch) closeTime() time.Duration {
	if b.CloseTime == 0 {
		return DefaultCloseTime
	}
	return b.CloseTime
}

// lastAnswer remembers the answer that ended last.
type lastAnswer struct {
	mu      sync.Mutex
	message *message.Assistant
}

func (l *lastAnswer) see(e event.Event) {
	end, ok := e.(*event.MessageEnd)
	if !ok {
		return
	}
	if answer, ok := end.Message.(*message.Assistant); ok {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.message = answer
	}
}

func (l *lastAnswer) get() *message.Assistant {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.message
}
