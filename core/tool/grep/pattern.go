package grep

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

// pattern finds lines that match. It may be used from several goroutines.
type pattern struct {
	re *regexp.Regexp // nil: required is all there is to it
	// required is a text without which no line matches; empty: none is known.
	// Looking for it is far faster than the expression.
	required []byte
	fold     bool // required is in lower case, and case makes no difference
}

func compile(text string, literal, ignoreCase bool) (*pattern, error) {
	expression := text
	if literal {
		expression = regexp.QuoteMeta(text)
	}
	flags := syntax.Perl
	if ignoreCase {
		flags |= syntax.FoldCase
	}
	parsed, err := syntax.Parse(expression, flags)
	if err != nil {
		return nil, explain(err)
	}
	if wantsNewline(parsed) {
		return nil, errors.New("it has a line break in it, but files are searched line by line")
	}
	p := &pattern{fold: ignoreCase}
	p.required = p.longest(parsed.Simplify())
	if literal && !ignoreCase && len(text) > 0 {
		p.required = []byte(text)
		return p, nil
	}
	if ignoreCase {
		expression = "(?i:" + expression + ")"
	}
	if p.re, err = regexp.Compile(expression); err != nil {
		return nil, explain(err)
	}
	return p, nil
}

// explain words what is wrong with an expression.
func explain(err error) error {
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return err
	}
	why := string(bad.Code)
	if bad.Code == syntax.ErrInvalidPerlOp {
		why = "look-around and other such groups are not supported"
	}
	return fmt.Errorf("it is no regular expression: %s at %q (to look for it as text, set literal to true)", why, bad.Expr)
}

// wantsNewline says whether an expression has a line break among the texts
// that it looks for, so that no line can match that part.
func wantsNewline(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral && slices.Contains(re.Rune, '\n') {
		return true
	}
	return slices.ContainsFunc(re.Sub, wantsNewline)
}

// longest gives the longest text that every match has in it.
func (p *pattern) longest(re *syntax.Regexp) []byte {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 && !p.fold {
			return []byte(string(re.Rune))
		}
		if p.fold {
			return foldable(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return p.longest(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return p.longest(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []byte
		for _, part := range re.Sub {
			if text := p.longest(part); len(text) > len(best) {
				best = text
			}
		}
		return best
	}
	return nil
}

// foldable gives the longest run, in lower case, of characters that have no
// other case than the ASCII one. The letters k and s have: the Kelvin sign and
// the long s.
func foldable(text []rune) []byte {
	var best, run []byte
	for _, r := range text {
		if r >= utf8.RuneSelf || strings.ContainsRune("kKsS", r) {
			run = nil
			continue
		}
		run = append(run, lower(byte(r)))
		if len(run) > len(best) {
			best = slices.Clone(run)
		}
	}
	return best
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// folded is a text in lower case, in the memory of another.
func folded(memory, text []byte) []byte {
	memory = append(memory[:0], text...)
	for i, c := range memory {
		memory[i] = lower(c)
	}
	return memory
}

// candidate gives a place in a text such that no line before the one there can
// match; negative: no line can. Where the pattern folds, the text is folded.
func (p *pattern) candidate(text []byte) int {
	return bytes.Index(text, p.required)
}

// matches says whether a line, without its end, matches.
func (p *pattern) matches(line []byte) bool {
	if p.re == nil {
		return bytes.Contains(line, p.required)
	}
	return p.re.Match(line)
}
