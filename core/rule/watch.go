package rule

import (
	"path/filepath"
	"slices"

	"github.com/seed-54e836f5/pi/core/event"
)

// Settings say how rules act.
type Settings struct {
	// KeepAnswer lets the model see what it had written when a rule stopped it.
	KeepAnswer bool
	// Interrupt is for rules that do not say themselves; empty: always.
	Interrupt Interrupt
	// Gap is after how many complete answers the model is told a rule again;
	// 0: it is told once in a session.
	Gap int
}

// Book is the rules of a folder that watch, with the settings there. It does
// not change, and may be used from any goroutine.
type Book struct {
	Settings
	rules []*Rule
	cwd   string
}

// NewBook takes those of the rules that watch anything; nil where none does.
// Relative names of files are below cwd.
func NewBook(rules []*Rule, s Settings, cwd string) *Book {
	b := &Book{Settings: s, cwd: cwd}
	for _, r := range rules {
		if r.Watches() {
			b.rules = append(b.rules, r)
		}
	}
	if len(b.rules) == 0 {
		return nil
	}
	return b
}

// Watch begins to watch the answers of a run. told has the rules that the
// session's model was told already by name, with the number of complete answers
// since; the watcher keeps it.
func (b *Book) Watch(told map[string]int) *Watcher {
	if told == nil {
		told = map[string]int{}
	}
	return &Watcher{book: b, told: told, streams: map[int]*stream{}}
}

// Watcher watches one answer after the other. It is for one goroutine.
type Watcher struct {
	book    *Book
	told    map[string]int
	matched []*Rule // by the answer at hand, and not told yet
	streams map[int]*stream
}

// stream is one block of an answer.
type stream struct {
	from       source
	tool       string // its name; empty: it is no call
	args       *arguments
	window     window
	candidates []candidate
}

// candidate is a rule that may match in a block, and how far each of its
// conditions has looked.
type candidate struct {
	rule *Rule
	seen []place
}

// See looks at one step of an answer. It gives the rules that match now and
// did not before in this answer, and whether one of them stops it.
func (w *Watcher) See(u *event.AssistantUpdate) (matched []*Rule, stop bool) {
	switch u.Type {
	case event.TextStart:
		w.open(u.ContentIndex, fromText, "")
	case event.ThinkingStart:
		w.open(u.ContentIndex, fromThinking, "")
	case event.ToolCallStart:
		w.open(u.ContentIndex, fromTool, u.ToolName)
	case event.TextDelta, event.ThinkingDelta, event.ToolCallDelta:
		if s := w.streams[u.ContentIndex]; s != nil && u.Delta != nil {
			return w.add(s, *u.Delta, false)
		}
	default:
		return w.finish(u)
	}
	return nil, false
}

// finish looks at a block that has ended. A service may tell the name of a tool
// no sooner than that.
func (w *Watcher) finish(u *event.AssistantUpdate) (matched []*Rule, stop bool) {
	s, rest := w.streams[u.ContentIndex], ""
	if call := u.ToolCall; call != nil && (s == nil || s.tool != call.Name) {
		delete(w.streams, u.ContentIndex)
		w.open(u.ContentIndex, fromTool, call.Name)
		s, rest = w.streams[u.ContentIndex], string(call.Arguments)
	}
	if s == nil {
		return nil, false
	}
	delete(w.streams, u.ContentIndex)
	return w.add(s, rest, true)
}

// add takes the next piece of a block, and looks at it in parts that the window
// holds.
func (w *Watcher) add(s *stream, piece string, final bool) (matched []*Rule, stop bool) {
	for {
		part := piece[:min(len(piece), windowSize/4)]
		piece = piece[len(part):]
		s.add(part)
		more, stops := w.look(s, final && piece == "")
		matched, stop = append(matched, more...), stop || stops
		if piece == "" {
			return matched, stop
		}
	}
}

// open begins a block. One that no rule is about is not looked at any further.
func (w *Watcher) open(index int, from source, tool string) {
	s := &stream{from: from, tool: tool}
	for _, r := range w.book.rules {
		if w.mayMatch(r) && r.scope.couldBe(from, tool) {
			s.candidates = append(s.candidates, candidate{r, make([]place, len(r.conditions))})
		}
	}
	if len(s.candidates) == 0 {
		return
	}
	if from == fromTool {
		s.args = &arguments{keys: written[tool]}
	}
	w.streams[index] = s
}

// mayMatch says whether a rule may be told now.
func (w *Watcher) mayMatch(r *Rule) bool {
	since, told := w.told[r.Name]
	return (!told || w.book.Gap > 0 && since >= w.book.Gap) && !slices.Contains(w.matched, r)
}

func (s *stream) add(delta string) {
	if s.args == nil {
		s.window.add(delta)
		return
	}
	source := s.args.read(delta)
	if s.args.keys == nil {
		s.window.add(delta)
		return
	}
	s.window.add(string(source))
}

func (w *Watcher) look(s *stream, final bool) (matched []*Rule, stop bool) {
	var files []string
	if s.args != nil {
		files = w.names(s.args.files)
	}
	for _, c := range s.candidates {
		if !w.mayMatch(c.rule) || s.from == fromTool && !c.rule.scope.about(s.tool, files) || !c.matches(&s.window, final) {
			continue
		}
		w.matched = append(w.matched, c.rule)
		matched = append(matched, c.rule)
		stop = stop || c.rule.interrupts(s.from, w.book.Interrupt)
	}
	return matched, stop
}

func (c candidate) matches(w *window, final bool) bool {
	for i := range c.rule.conditions {
		if c.rule.conditions[i].matches(w, &c.seen[i], final) {
			return true
		}
	}
	return false
}

// names gives the files as they were named, and those in the working folder by
// their names in it.
func (w *Watcher) names(files []string) []string {
	var list []string
	for _, file := range files {
		list = append(list, file)
		if relative, err := filepath.Rel(w.book.cwd, filepath.FromSlash(file)); err == nil && filepath.IsLocal(relative) {
			list = append(list, filepath.ToSlash(relative))
		}
	}
	return list
}

// Take gives the rules that matched in the answer at hand, for the model to be
// told; from now on they were.
func (w *Watcher) Take() []*Rule {
	list := w.matched
	w.matched = nil
	for _, r := range list {
		w.told[r.Name] = 0
	}
	return list
}

// End ends the answer at hand. One that is not complete counts for nothing: what
// matched in it and was not taken may match again.
func (w *Watcher) End(complete bool) {
	clear(w.streams)
	if !complete {
		w.matched = nil
		return
	}
	for name := range w.told {
		w.told[name]++
	}
}
