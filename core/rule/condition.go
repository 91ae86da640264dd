package rule

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// condition is one regular expression. It takes time in proportion to the text,
// whatever it looks like.
type condition struct {
	expression *regexp.Regexp
	// whole says that a match may lie in several lines, or at the beginning
	// only, so that it is not enough to look at the line that grows.
	whole bool
	// ahead says that a match may depend on what comes behind it.
	ahead bool
}

// compileAll gives the conditions that can be used.
func compileAll(patterns []string) (list []condition, problems []error) {
	for _, pattern := range patterns {
		c, err := compile(pattern)
		if err != nil {
			problems = append(problems, fmt.Errorf("the condition %q cannot be used: %w; it is left out", pattern, err))
			continue
		}
		list = append(list, c)
	}
	return list, problems
}

func compile(pattern string) (condition, error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	var wrong *syntax.Error
	switch {
	case errors.As(err, &wrong) && looksAround(wrong.Expr):
		return condition{}, fmt.Errorf("%q is not known in the syntax of RE2, which has no lookahead and no lookbehind", wrong.Expr)
	case errors.As(err, &wrong):
		return condition{}, fmt.Errorf("%s: %q", wrong.Code, wrong.Expr)
	case err != nil:
		return condition{}, err
	}
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return condition{}, err
	}
	return condition{expression, has(tree, crossesLines), has(tree, looksAhead)}, nil
}

func looksAround(text string) bool {
	for _, open := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.HasPrefix(text, open) {
			return true
		}
	}
	return false
}

// has says whether any part of an expression is like that.
func has(tree *syntax.Regexp, is func(*syntax.Regexp) bool) bool {
	return is(tree) || slices.ContainsFunc(tree.Sub, func(part *syntax.Regexp) bool { return has(part, is) })
}

// crossesLines says whether a part can match the end of a line, or asks for the
// beginning of the text.
func crossesLines(part *syntax.Regexp) bool {
	switch part.Op {
	case syntax.OpBeginText, syntax.OpAnyChar:
		return true
	case syntax.OpLiteral:
		return slices.Contains(part.Rune, '\n')
	case syntax.OpCharClass:
		for i := 0; i+1 < len(part.Rune); i += 2 {
			if part.Rune[i] <= '\n' && '\n' <= part.Rune[i+1] {
				return true
			}
		}
	}
	return false
}

// looksAhead says whether a part depends on what comes next.
func looksAhead(part *syntax.Regexp) bool {
	switch part.Op {
	case syntax.OpEndText, syntax.OpEndLine, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return false
}

const (
	// windowSize is how much of a block is kept to look at, in bytes: a match
	// that is longer is not seen.
	windowSize = 64 << 10
	// eagerSize is how much is looked at again with every delta. Where it is
	// more, it is looked at when it has grown by a part of eagerShare, and at
	// the end of the block, so that the work stays in proportion to the text.
	eagerSize  = 1 << 10
	eagerShare = 8
)

// window is the end of a block that streams in.
type window struct {
	text []byte
	base int // where text begins in the block
	line int // where the last line of it begins in the block
}

func (w *window) end() int { return w.base + len(w.text) }

// place is how far something has looked in a block.
type place struct {
	end    int
	line   int  // where the line begins that is to be looked at with what comes
	undone bool // there was a match at end that the next letter may undo
}

// add appends to the window. What falls out of it at its beginning leaves a
// mark there, so that what follows is not taken for the beginning of the block.
func (w *window) add(text string) {
	if at := strings.LastIndexByte(text, '\n'); at >= 0 {
		w.line = w.end() + at + 1
	}
	w.text = append(w.text, text...)
	if len(w.text) <= windowSize {
		return
	}
	at := len(w.text) - windowSize/2
	if line := bytes.IndexByte(w.text[at:at+windowSize/8], '\n'); line >= 0 {
		at += line
	}
	for !utf8.RuneStart(w.text[at]) && at < len(w.text)-1 {
		at++
	}
	at -= len(cutMark)
	w.base += at
	w.text = append(w.text[:0], w.text[at:]...)
	copy(w.text, cutMark)
}

const cutMark = "\x00"

// continuations are what may come next, as far as it can matter.
var continuations = []string{"x", " ", "\n"}

// matches looks for a condition in what has come since it looked last, which
// seen holds. A match that the next letter may undo is none yet; with final
// there is no such letter.
func (c condition) matches(w *window, seen *place, final bool) bool {
	fresh := w.end() - seen.end
	if fresh == 0 && (!final || !seen.undone) {
		return false
	}
	part := w.text
	if !c.whole {
		part = w.text[max(0, seen.line-w.base):]
	}
	if !final && len(part) > eagerSize && fresh < len(part)/eagerShare {
		return false
	}
	matches := c.expression.Match(part)
	if matches && c.ahead && !final {
		for _, next := range continuations {
			if !c.expression.Match(append(part, next...)) { // behind the window's end, which nothing needs
				*seen = place{w.end(), seen.line, true}
				return false
			}
		}
	}
	*seen = place{w.end(), w.line, false}
	return matches
}
