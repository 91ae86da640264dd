package export

import (
	"fmt"
	"html/template"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// chunkSize is how many entries are one box to the browser while they are off
// the screen. To look at every entry of a long session, at each step of the
// scroll, would make it slow. A short session has no such boxes.
const (
	chunkSize    = 16
	shortSession = 200
)

// card is one entry as the page shows it.
type card struct {
	ID    string // empty: another entry has it already
	Kind  string // class of the card: user, assistant, tool, bash, note, summary
	Who   string
	About string // what the card is about, beside Who; empty: nothing
	When  string
	Label string
	Title string // how the outline names it; empty: by Who
	Error bool
	Parts []part
	Usage *message.Usage // nil: none is shown
	Model string
}

// part is one piece of a card. One of the fields is set.
type part struct {
	HTML  template.HTML // made safe already
	Plain string        // a text of a line or two
	Fold  *fold
	Image template.URL // a data: URL
}

// fold is what can be folded away and out.
type fold struct {
	Kind    string        // class
	Head    template.HTML // what is always shown; empty: nothing
	Summary string        // what to click on; empty: there is no more
	Rest    template.HTML
}

// segmentView is the top of a segment: the switch between branches.
type segmentView struct {
	Number, Parent int
	Hidden         bool
	Index, Count   int // Count 1: there is nothing to switch
	Previous, Next int // numbers of the neighbours; -1: none
}

func (w *writer) segment(s *segment) error {
	view := segmentView{Number: s.number, Parent: -1, Hidden: !s.active, Index: s.index + 1, Count: len(s.siblings), Previous: -1, Next: -1}
	if s.parent != nil {
		view.Parent = s.parent.number
	}
	if s.index > 0 {
		view.Previous = s.siblings[s.index-1].number
	}
	if s.index+1 < len(s.siblings) {
		view.Next = s.siblings[s.index+1].number
	}
	if err := w.put("segment", view); err != nil {
		return err
	}
	for at := 0; at < len(s.entries); at += chunkSize {
		chunk := s.entries[at:min(at+chunkSize, len(s.entries))]
		if err := w.put("chunk", w.chunkClass(len(chunk))); err != nil {
			return err
		}
		for _, e := range chunk {
			if err := w.entry(s, e); err != nil {
				return err
			}
		}
		if err := w.put("chunkEnd", nil); err != nil {
			return err
		}
	}
	return w.put("segmentEnd", nil)
}

// chunkClass is the class of a box around so many entries; empty: the session
// is so short that the browser can look at all of it.
func (w *writer) chunkClass(entries int) string {
	switch {
	case len(w.page.Log.Entries()) < shortSession:
		return ""
	case entries < chunkSize:
		return "chunk few"
	}
	return "chunk"
}

// entry writes the card of an entry, or, where there is nothing to show of it,
// a mark that a link can lead to.
func (w *writer) entry(s *segment, e store.Entry) error {
	c := w.card(e)
	if id := clean(e.ID); !w.seen[id] {
		w.seen[id] = true
		c.ID = id
	}
	if c.Kind == "" {
		return w.put("place", c)
	}
	c.When, c.Label = readable(e.Timestamp), clean(w.page.Log.Label(e.ID))
	s.note(c)
	return w.put("card", c)
}

// card makes the card of an entry. It has no Kind where there is nothing to
// show: settings of extensions, labels, which are shown where they point to,
// and what does not decode.
func (w *writer) card(e store.Entry) *card {
	switch e.Type {
	case store.TypeModelChange:
		var b store.ModelChange
		if e.Decode(&b) == nil {
			return note("Model", b.Provider+"/"+b.ModelID)
		}
	case store.TypeThinkingLevelChange:
		var b store.ThinkingLevelChange
		if e.Decode(&b) == nil {
			return note("Thinking", string(b.Level))
		}
	case store.TypeSessionInfo:
		var b store.SessionInfo
		if e.Decode(&b) == nil {
			return note("Name", b.Name)
		}
	default:
		if m, err := e.Message(); err == nil && m != nil {
			c := w.messageCard(m)
			if c.Usage == nil && e.Role() == "" {
				c.Usage = summaryUsage(e)
			}
			return c
		}
	}
	return &card{}
}

func note(what, text string) *card {
	return &card{Kind: "note", Who: what, Parts: []part{{Plain: clean(text)}}}
}

// summaryUsage is what a summary cost; nil: nothing that is known.
func summaryUsage(e store.Entry) *message.Usage {
	var body struct {
		Usage *message.Usage `json:"usage"`
	}
	if e.Decode(&body) != nil {
		return nil
	}
	return body.Usage
}

func (w *writer) messageCard(m message.Message) *card {
	switch m := m.(type) {
	case *message.User:
		return &card{Kind: "user", Who: "User", Title: titleOf(message.TextOf(m)), Parts: w.blocks(m.Content.Blocks(), w.markdown.said)}
	case *message.Assistant:
		return w.answerCard(m)
	case *message.ToolResult:
		return w.resultCard(m)
	case *message.BashExecution:
		return w.bashCard(m)
	case *message.Custom:
		if !m.Display {
			return &card{}
		}
		return &card{Kind: "note", Who: clean(m.CustomType), Parts: w.blocks(m.Content.Blocks(), w.markdown.render)}
	case *message.BranchSummary:
		return w.summaryCard("Summary of a branch that was left", m.Summary)
	case *message.CompactionSummary:
		who := "Summary of the conversation so far"
		if m.TokensBefore > 0 {
			who += fmt.Sprintf(", which had %s tokens", thousands(m.TokensBefore))
		}
		return w.summaryCard(who, m.Summary)
	case *message.Opaque:
		text := fmt.Sprintf("A message of role %s", clean(string(m.Name)))
		return &card{Kind: "note", Who: text, Parts: []part{w.unfold("", "As it is in the file", w.markdown.code(string(m.Raw), "json"))}}
	}
	return &card{}
}

func (w *writer) summaryCard(who, text string) *card {
	return &card{Kind: "summary", Who: who, Parts: []part{{HTML: w.markdown.render(text)}}}
}

func (w *writer) answerCard(m *message.Assistant) *card {
	c := &card{Kind: "assistant", Who: "Assistant", Model: clean(m.Model), Title: titleOf(message.Text(m.Content)), Parts: w.blocks(m.Content, w.markdown.render)}
	if m.Usage.TotalTokens > 0 || m.Usage.Output > 0 {
		c.Usage = &m.Usage
	}
	if m.StopReason == message.StopLength {
		c.Parts = append(c.Parts, part{Plain: "The answer was cut off at its token limit."})
	}
	if m.ErrorMessage != "" {
		c.Error = true
		c.Parts = append(c.Parts, folded(clean(m.ErrorMessage)))
	}
	return c
}

func (w *writer) bashCard(m *message.BashExecution) *card {
	c := &card{Kind: "bash", Who: "Bash", About: shorten(m.Command), Error: m.Cancelled || m.ExitCode != nil && *m.ExitCode != 0}
	c.Parts = []part{{HTML: w.markdown.code(m.Command, "bash")}}
	if m.Output != "" {
		c.Parts = append(c.Parts, folded(clean(m.Output)))
	}
	switch {
	case m.Cancelled:
		c.Parts = append(c.Parts, part{Plain: "Cancelled."})
	case m.ExitCode != nil && *m.ExitCode != 0:
		c.Parts = append(c.Parts, part{Plain: fmt.Sprintf("Exit code %d.", *m.ExitCode)})
	}
	if m.Truncated {
		c.Parts = append(c.Parts, part{Plain: "Only the end of the output was kept."})
	}
	return c
}
