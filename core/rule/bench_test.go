package rule_test

import (
	"fmt"
	"testing"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/rule"
)

// BenchmarkDelta is what one delta of a long answer costs with rules that do
// not match.
func BenchmarkDelta(b *testing.B) {
	for _, c := range []struct {
		name      string
		condition string
		delta     string
	}{
		{"lines", `console\.log`, "word "},
		{"one line", `(?i)fix ?me`, "word "},
		{"undone by the next letter", `word \z`, "word "},
		{"across lines", `catch \(\w+\)\s*\{\s*\}`, "word "},
	} {
		for _, count := range []int{1, 10} {
			b.Run(fmt.Sprintf("%s/%d", c.name, count), func(b *testing.B) {
				var rules []*rule.Rule
				for i := range count {
					made, problems := rule.New(event.Rule{Name: fmt.Sprint(i), Condition: []string{c.condition}})
					if len(problems) > 0 {
						b.Fatal(problems)
					}
					rules = append(rules, made)
				}
				w := rule.NewBook(rules, rule.Settings{}, "/").Watch(nil)
				w.See(&event.AssistantUpdate{Type: event.TextStart})
				plain, last := c.delta, c.delta+"\n"
				for i := 0; b.Loop(); i++ {
					delta := &plain
					if c.name == "lines" && i%10 == 0 {
						delta = &last
					}
					if matched, _ := w.See(&event.AssistantUpdate{Type: event.TextDelta, Delta: delta}); len(matched) > 0 {
						b.Fatal("it matches")
					}
				}
			})
		}
	}
}
