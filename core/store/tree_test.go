package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/store"
)

// draw writes a tree as id[label](children).
func draw(nodes []*store.Node) string {
	var parts []string
	for _, n := range nodes {
		s := n.Entry.ID
		if n.Label != "" {
			s += "[" + n.Label + "]"
		}
		if len(n.Children) > 0 {
			s += "(" + draw(n.Children) + ")"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}

func at(second, id, parent string) string {
	return strings.Replace(entry(id, parent, id), "10:00:03", "10:00:"+second, 1)
}

func TestTree(t *testing.T) {
	cases := []struct {
		name  string
		lines []string
		want  string
	}{
		{"empty", nil, ""},
		{"chain", []string{at("01", "a", "null"), at("02", "b", "a"), at("03", "c", "b")}, "a(b(c))"},
		{"children by time", []string{at("01", "a", "null"), at("30", "late", "a"), at("05", "early", "a"), at("05", "same", "a")}, "a(early same late)"},
		{"roots as they come, orphans among them", []string{at("30", "late", "null"), at("05", "early", "null"), at("01", "orphan", "gone")}, "late early orphan"},
		{"labels", []string{at("01", "a", "null"), other("label", "l1", "a", `,"targetId":"a","label":"one"`), other("label", "l2", "l1", `,"targetId":"l1","label":"two"`),
			other("label", "l3", "l2", `,"targetId":"l1"`)}, "a[one](l1(l2(l3)))"},
		{"a label on what is not there", []string{other("label", "l1", "a", `,"targetId":"gone","label":"one"`)}, "l1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := open(t, write(t, append([]string{header}, c.lines...)...))
			if got := draw(l.Tree()); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestTreeLabelTimestamp(t *testing.T) {
	l := open(t, write(t, header, q1, other("label", "l1", "aaaa0001", `,"targetId":"aaaa0001","label":"one"`)))
	if got := l.Tree()[0].LabelTimestamp; got != "2025-11-01T10:00:06.000Z" {
		t.Errorf("got %s, want the time of the label's entry", got)
	}
}

func TestSetLeafBranchesOff(t *testing.T) {
	l := create(t)
	q := must(t, l, said("q1"))
	a := must(t, l, answered("a1"))
	if err := l.SetLeaf(q.ID); err != nil {
		t.Fatal(err)
	}
	b := must(t, l, answered("a2"))
	if err := l.SetLeaf(""); err != nil {
		t.Fatal(err)
	}
	if l.Leaf() != "" || l.Context(l.Leaf()) != nil && len(l.Context(l.Leaf())) > 0 {
		t.Errorf("before the root: leaf %q", l.Leaf())
	}
	r := must(t, l, said("another root"))
	want := q.ID + "(" + a.ID + " " + b.ID + ") " + r.ID
	if got := draw(l.Tree()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := l.SetLeaf("gone"); !errors.Is(err, store.ErrEntryNotFound) || err.Error() != "Entry not found: gone" {
		t.Errorf("got %v", err)
	}
	if err := l.Persist(); err != nil {
		t.Fatal(err)
	}
	checkReload(t, l)
}

func TestSince(t *testing.T) {
	l := open(t, write(t, header, q1, a1, entry("c", "aaaa0001", "x")))
	cases := map[string]string{"aaaa0001": "aaaa0002<aaaa0001 c<aaaa0001", "aaaa0002": "c<aaaa0001", "c": ""}
	for id, want := range cases {
		got, err := l.Since(id)
		if err != nil || outline(got) != want {
			t.Errorf("since %s: %s %v, want %s", id, outline(got), err, want)
		}
	}
	for _, id := range []string{"", "gone"} {
		if _, err := l.Since(id); !errors.Is(err, store.ErrEntryNotFound) || err.Error() != "Entry not found: "+id {
			t.Errorf("since %q: got %v", id, err)
		}
	}
	must(t, l, said("new"))
	if got, _ := l.Since("c"); len(got) != 1 {
		t.Errorf("%d entries after the last one, want the new one", len(got))
	}
}
