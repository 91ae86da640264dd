package compact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

// Caller asks a model. It fills in what the request leaves open (model, key,
// headers, thinking level), and repeats calls as its retry policy has it.
type Caller interface {
	// Complete gives the whole answer, with usage and cost. An answer that
	// failed may come as an error or as a message of stop reason error. It
	// returns soon after ctx ends.
	Complete(ctx context.Context, req provider.Request) (*message.Assistant, error)
}

var (
	// ErrCutOff is wrapped in the error for a summary that hit its token limit.
	ErrCutOff = errors.New("the summary was cut off at its token limit")
	// ErrEmpty is wrapped in the error for a summary without any text.
	ErrEmpty = errors.New("the model gave an empty summary")
)

// Options are what a caller of Summarise may add.
type Options struct {
	// Instructions are what to look at most; empty: nothing. They are about
	// the history, and go into its request, or into that for the beginning of
	// the turn where there is no history.
	Instructions string
	// ContextWindow is the model's, in tokens: a conversation that does not fit
	// is summarised piece by piece. 0: it is sent whole.
	ContextWindow int64
}

// Summary is what stands for the summarised messages.
type Summary struct {
	Text    string
	Usage   message.Usage   // of all calls
	Details json.RawMessage // a Details
}

// Summarise asks for the summary of a preparation. A split turn takes two
// calls, one for what came before the turn. Nothing is returned that is cut
// off, empty or comes from a failed call: the error says which it was, and
// wraps the caller's.
func Summarise(ctx context.Context, caller Caller, p Preparation, o Options) (Summary, error) {
	s := summariser{ctx: ctx, caller: caller, window: o.ContextWindow, focus: strings.TrimSpace(o.Instructions), reserve: p.Settings.ReserveTokens}
	text := p.PreviousSummary
	if len(p.MessagesToSummarize) > 0 {
		var err error
		if text, err = s.history(p.MessagesToSummarize, p.PreviousSummary); err != nil {
			return Summary{}, fmt.Errorf("summarise the conversation: %w", err)
		}
		s.focus = ""
	}
	if p.IsSplitTurn {
		prefix, err := s.turn(p.TurnPrefixMessages)
		if err != nil {
			return Summary{}, fmt.Errorf("summarise the beginning of the turn: %w", err)
		}
		if text == "" {
			text = noHistory
		}
		text += turnHeading + prefix
	}
	return s.done(text, p.FileOps)
}

// summariser makes the calls of one summary.
type summariser struct {
	ctx     context.Context
	caller  Caller
	window  int64  // tokens of the model; 0: unknown
	reserve int64  // tokens
	focus   string // what the next requests look at most; empty: nothing
	usage   message.Usage
}

func (s *summariser) done(text string, files FileOps) (Summary, error) {
	details := files.Details()
	raw, err := message.Marshal(details)
	if err != nil {
		return Summary{}, fmt.Errorf("encode the file lists: %w", err)
	}
	return Summary{Text: text + details.blocks(), Usage: s.usage, Details: raw}, nil
}

// history summarises whole turns, going on from an earlier summary.
func (s *summariser) history(messages []message.Message, previous string) (string, error) {
	limit := s.reserve * 4 / 5
	for _, part := range s.pieces(messages) {
		instructions := firstInstructions
		if previous != "" {
			instructions = updateInstructions
		}
		text, err := s.ask(part, previous, instructions, limit)
		if err != nil {
			return "", err
		}
		previous = text
	}
	return previous, nil
}

// turn summarises the beginning of a turn whose end is kept.
func (s *summariser) turn(messages []message.Message) (string, error) {
	var text string
	for _, part := range s.pieces(messages) {
		var err error
		if text, err = s.ask(part, text, turnInstructions, s.reserve/2); err != nil {
			return "", err
		}
	}
	return text, nil
}

// pieces writes the messages down, in as many texts as the model's window
// makes necessary.
func (s *summariser) pieces(messages []message.Message) []string {
	room := int(s.window-2*s.reserve) * bytesPerToken
	parts := paragraphs(messages)
	if room <= 0 {
		return []string{strings.Join(parts, "\n\n")}
	}
	var pieces []string
	var piece strings.Builder
	for _, part := range parts {
		if piece.Len() > 0 && piece.Len()+len(part) > room {
			pieces = append(pieces, piece.String())
			piece.Reset()
		}
		if piece.Len() > 0 {
			piece.WriteString("\n\n")
		}
		piece.WriteString(part)
	}
	return append(pieces, piece.String())
}

// ask makes one call and gives its text, if it is fit to be kept.
func (s *summariser) ask(conversation, previous, instructions string, maxTokens int64) (string, error) {
	prompt := "<conversation>\n" + conversation + "\n</conversation>\n\n"
	if previous != "" {
		prompt += "<previous-summary>\n" + previous + "\n</previous-summary>\n\n"
	}
	prompt += instructions
	if s.focus != "" {
		prompt += focusLine + s.focus
	}
	return s.complete(provider.Request{
		System:    systemPrompt,
		Messages:  []message.Message{message.NewUser(prompt, nil, 0)},
		MaxTokens: maxTokens,
	})
}

func (s *summariser) complete(req provider.Request) (string, error) {
	answer, err := s.caller.Complete(s.ctx, req)
	if answer != nil {
		s.usage = s.usage.Add(answer.Usage)
	}
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(message.Text(answer.Content))
	switch {
	case answer.StopReason == message.StopError || answer.StopReason == message.StopAborted:
		return "", fmt.Errorf("the model call ended with %s: %s", answer.StopReason, answer.ErrorMessage)
	case answer.StopReason == message.StopLength:
		return "", ErrCutOff
	case text == "":
		return "", ErrEmpty
	}
	return text, nil
}
