package export

import (
	"encoding/base64"
	"fmt"
	"html"
	"html/template"
	"strings"

	"github.com/seed-54e836f5/pi/core/message"
)

// blocks shows the content of a message; text says how its text is shown.
func (w *writer) blocks(blocks []message.Block, text func(string) template.HTML) []part {
	var parts []part
	for _, b := range blocks {
		switch b.Type {
		case message.BlockText:
			if strings.TrimSpace(b.Text) != "" {
				parts = append(parts, part{HTML: text(b.Text)})
			}
		case message.BlockThinking:
			if strings.TrimSpace(b.Thinking) != "" {
				parts = append(parts, w.unfold("thinking", "Thinking", w.markdown.render(b.Thinking)))
			}
		case message.BlockImage:
			parts = append(parts, imagePart(b))
		case message.BlockToolCall:
			parts = append(parts, w.callParts(b)...)
		}
	}
	return parts
}

// unfold shows nothing of a content until it is asked for.
func (w *writer) unfold(kind, summary string, content template.HTML) part {
	return part{Fold: &fold{Kind: kind, Summary: summary, Rest: content}}
}

// folded shows the beginning of an output, and lets the rest be unfolded.
func folded(text string) part {
	head, rest := beginning(strings.TrimSuffix(text, "\n"))
	f := &fold{Head: output(head)}
	if rest != "" {
		f.Summary, f.Rest = measure(rest), output(rest)
	}
	return part{Fold: f}
}

func output(text string) template.HTML {
	return template.HTML(`<pre class="output">` + html.EscapeString(text) + "</pre>") //nolint:gosec // escaped
}

// images are the kinds that the page shows. They are all dots: an SVG is a
// document that can hold anything.
var images = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// imagePart shows an image from the conversation itself.
func imagePart(b message.Block) part {
	switch _, err := base64.StdEncoding.DecodeString(b.Data); {
	case !images[b.MimeType]:
		return part{Plain: fmt.Sprintf("An image of type %q, which this page does not show.", clean(b.MimeType))}
	case err != nil || b.Data == "":
		return part{Plain: "An image that is damaged."}
	}
	data := strings.NewReplacer("\r", "", "\n", "").Replace(b.Data) // the decoder skips line breaks

	return part{Image: template.URL("data:" + b.MimeType + ";base64," + data)} //nolint:gosec // checked right here
}
