package modelserver

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Summary is the answer to every request for a summary.
const Summary = "SUMMARY: mock summary."

const defaultAnswer = "Hello from the mock model."

// plan is what one request will be answered with.
type plan struct {
	think     string
	texts     []string
	burst     int // deltas
	burstSize int // bytes of each
	calls     []call
	pause     time.Duration // between deltas
	delay     time.Duration // before the first byte
	hang, cut bool
	echo      bool
	empty     bool
	usage     int    // input tokens to report, 0 for a quarter of the request's bytes
	stop      string // "" for the service's usual word
	failure   failure
}

type call struct{ name, arguments string }

// failure is an HTTP error to send instead of an answer.
type failure struct {
	status     int // 0: none
	times      int
	key        string // failures with one key are counted together
	text       string
	retryAfter string
}

// planFor reads the orders of a conversation.
func planFor(c conversation) plan {
	if c.wantsSummary() {
		return summaryPlan(c.ask)
	}
	text, scripted := round(c.ask, c.answers)
	p := parse(text)
	if len(c.results) > 0 && !scripted {
		p.calls, p.burst = nil, 0
		p.texts = []string{toolSaid(c.results)}
	}
	if p.echo {
		p.texts = []string{string(c.messages)}
	}
	return p
}

func (c conversation) wantsSummary() bool {
	if strings.HasPrefix(strings.TrimSpace(c.ask), "<conversation>") {
		return true
	}
	return c.tools == 0 && strings.Contains(strings.ToLower(c.system+c.ask), "summar")
}

func toolSaid(results []string) string {
	var b strings.Builder
	for _, r := range results {
		b.WriteString("tool said: " + r + "\n")
	}
	return b.String()
}

// round picks the part of a message that the request after n answers is for.
// scripted is false where the message has no such part; the last one is then
// returned.
func round(message string, n int) (part string, scripted bool) {
	parts := []string{""}
	for line := range strings.Lines(message) {
		if strings.TrimSpace(line) == "THEN" {
			parts = append(parts, "")
			continue
		}
		parts[len(parts)-1] += line
	}
	if n < len(parts) {
		return parts[n], true
	}
	return parts[len(parts)-1], false
}

// verbs are the orders, each with what it does to the plan. A verb that
// cannot be read is an order not given: the script is a test's own text, and
// the answer shows it.
var verbs = map[string]func(p *plan, rest string){
	"SAY":        func(p *plan, rest string) { p.texts = append(p.texts, rest) },
	"THINK":      func(p *plan, rest string) { p.think = rest },
	"STOP":       func(p *plan, rest string) { p.stop = rest },
	"FAILMSG":    func(p *plan, rest string) { p.failure.text = rest },
	"RETRYAFTER": func(p *plan, rest string) { p.failure.retryAfter = rest },
	"HANG":       func(p *plan, _ string) { p.hang = true },
	"CUT":        func(p *plan, _ string) { p.cut = true },
	"ECHO":       func(p *plan, _ string) { p.echo = true },
	"EMPTY":      func(p *plan, _ string) { p.empty = true },
	"SLOW":       func(p *plan, rest string) { p.pause = milliseconds(rest) },
	"USAGE":      func(p *plan, rest string) { p.usage = number(rest, 0) },
	"TOOL": func(p *plan, rest string) {
		name, arguments, _ := strings.Cut(rest, " ")
		p.calls = append(p.calls, call{name, arguments})
	},
	"BURST": func(p *plan, rest string) {
		deltas, size, _ := strings.Cut(rest, " ")
		p.burst, p.burstSize = number(deltas, 0), max(1, number(size, 5))
	},
	"FAIL": func(p *plan, rest string) { p.failure.order(rest) },
}

func parse(text string) plan {
	var p plan
	for line := range strings.Lines(text) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if order, ok := verbs[verb]; ok {
			order(&p, rest)
		}
	}
	p.failure.key = text
	silent := len(p.texts) == 0 && p.burst == 0 && len(p.calls) == 0
	if silent && !p.empty && !p.echo && !p.hang && !p.cut {
		p.texts = []string{defaultAnswer}
	}
	return p
}

// summaryPlan looks for the two orders that concern summaries; they may stand
// anywhere in a line, behind whatever the agent puts before a message.
func summaryPlan(text string) plan {
	p := plan{texts: []string{Summary}}
	for line := range strings.Lines(text) {
		if _, rest, ok := strings.Cut(line, "SUMFAIL "); ok {
			p.failure.order(rest)
			p.failure.key = "summary " + rest
		}
		if _, rest, ok := strings.Cut(line, "SUMSLOW "); ok {
			p.delay = milliseconds(rest)
		}
	}
	return p
}

// order reads "<status> [n]".
func (f *failure) order(rest string) {
	status, times, _ := strings.Cut(strings.TrimSpace(rest), " ")
	f.status, f.times = number(status, http.StatusInternalServerError), number(times, 1)
}

func (f failure) kind() string {
	switch f.status {
	case http.StatusBadRequest:
		return "invalid_request_error"
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case 529:
		return "overloaded_error"
	}
	return "api_error"
}

// message is the ordered text. A 400 without one says what a service says of
// a conversation that outgrew the window, as tests of that need it most.
func (f failure) message() string {
	switch {
	case f.text != "":
		return f.text
	case f.status == http.StatusBadRequest:
		return fmt.Sprintf("prompt is too long: %d tokens > %d maximum", 250000, 200000)
	}
	return "mock failure"
}

// number reads the first word of s, or returns otherwise.
func number(s string, otherwise int) int {
	word, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	n, err := strconv.Atoi(word)
	if err != nil {
		return otherwise
	}
	return n
}

func milliseconds(s string) time.Duration {
	return time.Duration(number(s, 0)) * time.Millisecond
}
