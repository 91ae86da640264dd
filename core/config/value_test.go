package config

import (
	"slices"
	"strings"
	"testing"
)

func TestInterpolate(t *testing.T) {
	env := func(name string) string {
		return map[string]string{"KEY": "k-1", "A_1": "a", "B": "b"}[name]
	}
	for value, want := range map[string]string{
		"":                  "",
		"literal":           "literal",
		"MY_API_KEY":        "MY_API_KEY",
		"$KEY":              "k-1",
		"${KEY}":            "k-1",
		"x-$KEY-y":          "x-k-1-y",
		"${A_1}_${B}":       "a_b",
		"$A_1_X":            "", // a longer name, which is not set
		"${A_1}_X":          "a_X",
		"$$KEY":             "$KEY",
		"$!not a command":   "!not a command",
		"$":                 "$",
		"5$":                "5$",
		"$5":                "$5",
		"${":                "${",
		"${KEY":             "${KEY",
		"${A-B}":            "${A-B}",
		"${}":               "${}",
		"$$$KEY":            "$k-1",
		"$MISSING":          "",
		"a$MISSING b ${B}c": "a b bc",
	} {
		if got := interpolate(value, env); got != want {
			t.Errorf("%q gives %q, want %q", value, got, want)
		}
	}
}

func TestMissingNames(t *testing.T) {
	env := func(name string) string { return map[string]string{"SET": "1"}[name] }
	for value, want := range map[string][]string{
		"plain":           nil,
		"$SET":            nil,
		"$UNSET ${OTHER}": {"UNSET", "OTHER"},
		"!echo $UNSET":    nil,
	} {
		if got := missingNames(value, env); !slices.Equal(got, want) {
			t.Errorf("%q misses %v, want %v", value, got, want)
		}
	}
}

func FuzzValue(f *testing.F) {
	for _, seed := range []string{"$A", "${A}", "$$", "$!", "${", "a${B}c$", "!cmd", "$\xff{"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := interpolate(literal(text), func(string) string { return "wrong" }); got != text {
			t.Fatalf("literal(%q) stands for %q", text, got)
		}
		if isCommand(literal(text)) {
			t.Fatalf("literal(%q) is a command", text)
		}
		plain := strings.ReplaceAll(text, "$", "")
		if got := interpolate(plain, func(string) string { return "wrong" }); got != plain {
			t.Fatalf("%q, which has no variable, gives %q", plain, got)
		}
	})
}
