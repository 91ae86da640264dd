package modelserver

import (
	"net/http"
	"strings"
)

// writer writes one answer in a service's own stream.
type writer interface {
	// think writes a whole block of thinking.
	think(pieces []string)
	// text writes a whole block of text.
	text(pieces []string)
	// repeat writes a block of n equal pieces of text.
	repeat(piece string, n int)
	// begin writes the beginning of a text block that will not end.
	begin(piece string)
	// call writes a whole tool call; index counts the calls of the answer.
	call(index int, name string, arguments []string)
	// end closes the stream. stop is "" for the service's usual word, which
	// depends on whether there were tool calls.
	end(stop string, called bool)
}

// play writes the plan as one answer.
func (p plan) play(out *stream, w writer) {
	if p.think != "" {
		w.think(words(p.think))
	}
	if p.hang || p.cut {
		w.begin("partial ")
		out.flush()
		if p.cut {
			panic(http.ErrAbortHandler) // net/http drops the connection
		}
		<-out.ctx.Done()
		return
	}
	for _, text := range p.texts {
		w.text(words(text))
	}
	if p.burst > 0 {
		w.repeat(strings.Repeat("x", p.burstSize-1)+" ", p.burst)
	}
	for i, c := range p.calls {
		w.call(i, c.name, pieces(c.arguments, 12))
	}
	if out.ctx.Err() != nil {
		return
	}
	w.end(p.stop, len(p.calls) > 0)
	out.flush()
}

func words(text string) []string { return strings.SplitAfter(text, " ") }

// pieces cuts s into parts of n bytes, wherever that falls, as services do
// with the arguments of a call.
func pieces(s string, n int) []string {
	var out []string
	for len(s) > n {
		out, s = append(out, s[:n]), s[n:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}
