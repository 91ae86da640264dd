package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-54e836f5/pi/core/message"
)

// Selection is a model that somebody asked for.
type Selection struct {
	Model message.Model
	// Thinking is the level that was named behind the model; empty: none was.
	Thinking message.ThinkingLevel
	// Warning says what was not understood; empty: nothing.
	Warning string
}

// Resolve finds the model for --model and --provider. The pattern is an id, a
// provider/id or a part of an id or name, with :level behind it or not; with
// an empty id the provider's first model is meant. An id that a known
// provider does not list is used as it is, with a warning. An unknown
// provider is an error that wraps ErrUnknownProvider, a pattern that fits
// nothing one that wraps ErrUnknownModel. The model may lack credentials:
// that is said when it is used.
func (c *Catalogue) Resolve(pattern, provider string) (Selection, error) {
	selection, err := c.resolve(pattern, provider)
	if err == nil && selection.Model.Provider == DemoProvider {
		c.askedForDemo()
	}
	return selection, err
}

func (c *Catalogue) resolve(pattern, provider string) (Selection, error) {
	if provider != "" {
		id, ok := c.providerID(provider)
		if !ok {
			return Selection{}, fmt.Errorf("%w %q; `pi --list-models` shows what there is, and models.json may define more", ErrUnknownProvider, provider)
		}
		if len(pattern) > len(id) && strings.EqualFold(pattern[:len(id)+1], id+"/") {
			if _, exact := c.Find(id, pattern); !exact {
				pattern = pattern[len(id)+1:]
			}
		}
		return c.resolveIn(id, pattern)
	}
	if s, ok := c.exact(pattern); ok {
		return s, nil
	}
	if head, rest, found := strings.Cut(pattern, "/"); found {
		if id, ok := c.providerID(head); ok {
			return c.resolveIn(id, rest)
		}
	}
	if s, ok := c.partial(pattern); ok {
		return s, nil
	}
	if head, _, found := strings.Cut(pattern, "/"); found {
		return Selection{}, fmt.Errorf("%w %q, and no model is called %q; `pi --list-models` shows what there is", ErrUnknownProvider, head, pattern)
	}
	return Selection{}, fmt.Errorf("%w %q; `pi --list-models` shows what there is", ErrUnknownModel, pattern)
}

// resolveIn finds a model of one provider.
func (c *Catalogue) resolveIn(id, pattern string) (Selection, error) {
	p := c.provider(id)
	if s, ok := match(p.list(), pattern); ok {
		return s, nil
	}
	name, level, _ := splitLevel(pattern)
	if name != "" {
		return Selection{Model: p.custom(name), Thinking: level,
			Warning: fmt.Sprintf("The model %q is not known for %s; the id is used as it is.", name, id)}, nil
	}
	if len(p.models) == 0 {
		return Selection{}, fmt.Errorf("%w: no model of %s is known; name one with --model", ErrUnknownModel, id)
	}
	return Selection{Model: p.models[0].Model, Thinking: level}, nil
}

// exact finds a pattern that is a whole provider/id or id. Providers of
// models.json and of extensions come before the built-in ones, so that the
// catalogue is read only where they do not have it.
func (c *Catalogue) exact(pattern string) (Selection, bool) {
	if head, rest, found := strings.Cut(pattern, "/"); found {
		if id, ok := c.providerID(head); ok {
			if s, ok := matchExact(c.provider(id).list(), rest); ok {
				return s, true
			}
		}
	}
	for _, credentials := range []bool{true, false} {
		for _, id := range c.ownFirst() {
			if c.HasCredentials(id) != credentials {
				continue
			}
			if s, ok := matchExact(c.provider(id).list(), pattern); ok {
				return s, true
			}
		}
	}
	return Selection{}, false
}

// partial finds the best model that a pattern is a part of, among those with
// credentials before the others.
func (c *Catalogue) partial(pattern string) (Selection, bool) {
	if s, ok := match(c.Available(), pattern); ok {
		return s, true
	}
	models := c.All()
	if !strings.Contains(strings.ToLower(pattern), DemoProvider) {
		models = slices.DeleteFunc(models, func(m message.Model) bool { return m.Provider == DemoProvider })
	}
	return match(models, pattern)
}

// ownFirst lists the providers with the built-in ones last.
func (c *Catalogue) ownFirst() []string {
	ids := c.Providers()
	rank := func(id string) int {
		if _, builtin := serviceOf(id); builtin {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return ids
}

// providerID gives the id of a provider as it is written, whatever the case
// somebody typed it in.
func (c *Catalogue) providerID(name string) (string, bool) {
	if c.known(name) {
		return name, true
	}
	for _, id := range c.Providers() {
		if strings.EqualFold(id, name) {
			return id, true
		}
	}
	return "", false
}

// match finds the model that a pattern means in a list: by the whole id, then
// by a part of provider/id or name.
func match(models []message.Model, pattern string) (Selection, bool) {
	if s, ok := matchExact(models, pattern); ok {
		return s, true
	}
	for _, level := range []bool{false, true} {
		name, thinking := pattern, message.ThinkingLevel("")
		if level {
			var ok bool
			if name, thinking, ok = splitLevel(pattern); !ok {
				break
			}
		}
		if best, ok := bestPart(models, name); ok {
			return Selection{Model: best, Thinking: thinking}, true
		}
	}
	return Selection{}, false
}

// matchExact finds a model by its whole id. Ids may have colons of their own,
// so what stands behind the last one is a level only if the id is not there
// with it.
func matchExact(models []message.Model, pattern string) (Selection, bool) {
	find := func(id string) (message.Model, bool) {
		for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
			for _, m := range models {
				if same(m.ID, id) {
					return m, true
				}
			}
		}
		return message.Model{}, false
	}
	if m, ok := find(pattern); ok {
		return Selection{Model: m}, true
	}
	colon := strings.LastIndexByte(pattern, ':')
	if colon < 0 {
		return Selection{}, false
	}
	m, ok := find(pattern[:colon])
	if !ok {
		return Selection{}, false
	}
	if _, level, ok := splitLevel(pattern); ok {
		return Selection{Model: m, Thinking: level}, true
	}
	return Selection{Model: m, Warning: fmt.Sprintf("%q is no thinking level and is ignored; the levels are %s.", pattern[colon+1:], levelList())}, true
}

// splitLevel takes a :level off a pattern; false: there is none.
func splitLevel(pattern string) (name string, level message.ThinkingLevel, ok bool) {
	colon := strings.LastIndexByte(pattern, ':')
	if colon < 0 || !slices.Contains(message.ThinkingLevels(), message.ThinkingLevel(pattern[colon+1:])) {
		return pattern, "", false
	}
	return pattern[:colon], message.ThinkingLevel(pattern[colon+1:]), true
}

func levelList() string {
	var words []string
	for _, l := range message.ThinkingLevels() {
		words = append(words, string(l))
	}
	return strings.Join(words, ", ")
}

var dated = regexp.MustCompile(`-\d{4}-?\d{2}-?\d{2}$`)

// bestPart chooses among the models that a text is a part of: of the first
// provider that has any, the ids without a date before those with one, and
// the highest version of them.
func bestPart(models []message.Model, part string) (message.Model, bool) {
	part = strings.ToLower(part)
	var fits []message.Model
	for _, m := range models {
		text := strings.ToLower(m.Provider + "/" + m.ID)
		if strings.Contains(text, part) || strings.Contains(strings.ToLower(m.Name), part) {
			fits = append(fits, m)
		}
	}
	if part == "" || len(fits) == 0 {
		return message.Model{}, false
	}
	provider := fits[0].Provider
	fits = slices.DeleteFunc(fits, func(m message.Model) bool { return m.Provider != provider })
	return slices.MaxFunc(fits, func(a, b message.Model) int {
		if x, y := dated.MatchString(a.ID), dated.MatchString(b.ID); x != y {
			if x {
				return -1
			}
			return 1
		}
		return compareVersions(a.ID, b.ID)
	}), true
}

// compareVersions compares texts with the numbers in them as numbers.
func compareVersions(a, b string) int {
	for a != "" && b != "" {
		x, restA := leadingPart(a)
		y, restB := leadingPart(b)
		if x != y {
			if isDigit(x[0]) && isDigit(y[0]) {
				x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
				return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
			}
			return cmp.Compare(x, y)
		}
		a, b = restA, restB
	}
	return cmp.Compare(len(a), len(b))
}

// leadingPart cuts the digits, or the text up to the next digit, off.
func leadingPart(s string) (part, rest string) {
	n := 1
	for n < len(s) && isDigit(s[n]) == isDigit(s[0]) {
		n++
	}
	return s[:n], s[n:]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
