package export

import (
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// longOutput is how many lines of output are shown before the rest folds away.
const longOutput = 12

// card is one entry as the page shows it.
type card struct {
	ID    string
	Kind  string // class of the card: user, assistant, tool, bash, note, summary
	Who   string
	When  string
	Label string
	Error bool
	Parts []part
	Usage *message.Usage // nil: none is shown
	Model string
}

// part is one piece of a card. One of the fields is set.
type part struct {
	HTML     template.HTML // markdown or highlighted code, made safe already
	Plain    string        // text as it is
	Fold     *fold
	Image    template.URL // a data: URL
	Diff     []diffLine
	Thinking template.HTML
}

// fold is output of which the beginning is shown.
type fold struct {
	Summary string
	Head    string
	Rest    string // empty: there is no more
}

type diffLine struct{ Class, Text string }

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
	if err := pageTemplates.ExecuteTemplate(w.out, "segment", view); err != nil {
		return err
	}
	for _, e := range s.entries {
		if c := w.card(e); c != nil {
			if err := pageTemplates.ExecuteTemplate(w.out, "card", c); err != nil {
				return err
			}
		}
	}
	return pageTemplates.ExecuteTemplate(w.out, "segmentEnd", nil)
}

// card makes the card of an entry; nil for one that has nothing to show.
func (w *writer) card(e store.Entry) *card {
	c := &card{ID: e.ID, When: readable(e.Timestamp), Label: w.page.Log.Label(e.ID)}
	switch e.Type {
	case store.TypeModelChange:
		var b store.ModelChange
		if e.Decode(&b) != nil {
			return nil
		}
		return c.note("Model", b.Provider+"/"+b.ModelID)
	case store.TypeThinkingLevelChange:
		var b store.ThinkingLevelChange
		if e.Decode(&b) != nil {
			return nil
		}
		return c.note("Thinking", string(b.Level))
	case store.TypeSessionInfo:
		var b store.SessionInfo
		if e.Decode(&b) != nil {
			return nil
		}
		return c.note("Name", b.Name)
	case store.TypeMessage, store.TypeCustomMessage, store.TypeBranchSummary, store.TypeCompaction:
		m, err := e.Message()
		if err != nil || m == nil {
			return nil
		}
		return w.messageCard(c, m)
	}
	return nil
}

func (c *card) note(what, text string) *card {
	c.Kind, c.Who = "note", what
	c.Parts = []part{{Plain: text}}
	return c
}

func (w *writer) messageCard(c *card, m message.Message) *card {
	switch m := m.(type) {
	case *message.User:
		c.Kind, c.Who = "user", "User"
		c.Parts = w.blocks(m.Content.Blocks())
	case *message.Assistant:
		c.Kind, c.Who, c.Model = "assistant", "Assistant", m.Model
		c.Parts = w.blocks(m.Content)
		if m.Usage.TotalTokens > 0 || m.Usage.Output > 0 {
			c.Usage = &m.Usage
		}
		if m.ErrorMessage != "" {
			c.Error = true
			c.Parts = append(c.Parts, part{Plain: m.ErrorMessage})
		}
	case *message.ToolResult:
		c.Kind, c.Who, c.Error, c.Usage = "tool", "Result of "+m.ToolName, m.IsError, m.Usage
		c.Parts = resultParts(m)
	case *message.BashExecution:
		c.Kind, c.Who = "bash", "Bash"
		c.Error = m.Cancelled || m.ExitCode != nil && *m.ExitCode != 0
		c.Parts = []part{w.markdown.code(m.Command, "bash"), foldText("Output", m.Output)}
	case *message.Custom:
		if !m.Display {
			return nil
		}
		c.Kind, c.Who = "note", m.CustomType
		c.Parts = w.blocks(m.Content.Blocks())
	case *message.BranchSummary:
		c.Kind, c.Who = "summary", "Summary of a branch that was left"
		c.Parts = []part{{HTML: w.markdown.render(m.Summary)}}
	case *message.CompactionSummary:
		c.Kind, c.Who = "summary", fmt.Sprintf("Summary of the conversation so far (%s tokens)", thousands(m.TokensBefore))
		c.Parts = []part{{HTML: w.markdown.render(m.Summary)}}
	default:
		return nil
	}
	return c
}

func (w *writer) blocks(blocks []message.Block) []part {
	var parts []part
	for _, b := range blocks {
		switch b.Type {
		case message.BlockText:
			if strings.TrimSpace(b.Text) != "" {
				parts = append(parts, part{HTML: w.markdown.render(b.Text)})
			}
		case message.BlockThinking:
			if strings.TrimSpace(b.Thinking) != "" {
				parts = append(parts, part{Thinking: w.markdown.render(b.Thinking)})
			}
		case message.BlockImage:
			parts = append(parts, imagePart(b))
		case message.BlockToolCall:
			parts = append(parts, w.callParts(b)...)
		}
	}
	return parts
}

// imagePart shows an image from the conversation itself. Only raster images
// are: an SVG is a document.
func imagePart(b message.Block) part {
	switch b.MimeType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return part{Image: template.URL("data:" + b.MimeType + ";base64," + onlyBase64(b.Data))} //nolint:gosec // checked right here
	}
	return part{Plain: fmt.Sprintf("An image of type %s, which this page does not show.", b.MimeType)}
}

func onlyBase64(data string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '/' || r == '=' {
			return r
		}
		return -1
	}, data)
}

// callParts shows what a tool was asked for, in the words of the tool where
// it is one of ours.
func (w *writer) callParts(b message.Block) []part {
	var args map[string]json.RawMessage
	if json.Unmarshal(b.Arguments, &args) != nil {
		return []part{{Plain: "Call of " + b.Name}, w.markdown.code(string(b.Arguments), "")}
	}
	text := func(name string) string {
		var s string
		if json.Unmarshal(args[name], &s) != nil {
			return ""
		}
		return s
	}
	switch b.Name {
	case "bash":
		return []part{w.markdown.code(text("command"), "bash")}
	case "write":
		return []part{{Plain: "write " + text("path")}, foldText("Content", text("content"))}
	case "edit":
		return []part{{Plain: "edit " + text("path")}}
	}
	pretty, err := json.MarshalIndent(args, "", "  ")
	if err != nil {
		pretty = b.Arguments
	}
	return []part{{Plain: "Call of " + b.Name}, w.markdown.code(string(pretty), "json")}
}

// resultParts shows what a tool gave; an edit as the difference that it made.
func resultParts(m *message.ToolResult) []part {
	var details struct {
		Patch string `json:"patch"`
	}
	if m.ToolName == "edit" && json.Unmarshal(m.Details, &details) == nil && details.Patch != "" {
		return []part{{Diff: diffLines(details.Patch)}}
	}
	var parts []part
	for _, b := range m.Content {
		switch b.Type {
		case message.BlockText:
			parts = append(parts, foldText("Output", b.Text))
		case message.BlockImage:
			parts = append(parts, imagePart(b))
		}
	}
	return parts
}

func diffLines(patch string) []diffLine {
	var lines []diffLine
	for _, text := range strings.Split(strings.TrimSuffix(patch, "\n"), "\n") {
		class := "same"
		switch {
		case strings.HasPrefix(text, "+++"), strings.HasPrefix(text, "---"):
			class = "file"
		case strings.HasPrefix(text, "@@"):
			class = "hunk"
		case strings.HasPrefix(text, "+"):
			class = "added"
		case strings.HasPrefix(text, "-"):
			class = "removed"
		}
		lines = append(lines, diffLine{class, text})
	}
	return lines
}

// foldText shows the beginning of a text, and lets the rest be unfolded.
func foldText(summary, text string) part {
	text = strings.TrimSuffix(text, "\n")
	lines := strings.Count(text, "\n") + 1
	if lines <= longOutput+4 {
		return part{Fold: &fold{Summary: summary, Head: text}}
	}
	at := 0
	for range longOutput {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	return part{Fold: &fold{Summary: fmt.Sprintf("%d more lines", lines-longOutput), Head: text[:at-1], Rest: text[at:]}}
}
