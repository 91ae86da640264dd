package proto

import (
	"slices"
	"testing"
)

func TestTheTableOfMethods(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Methods() {
		if m.Name == "" || seen[m.Name] {
			t.Errorf("the name %q is empty or there twice", m.Name)
		}
		seen[m.Name] = true
		if m.Capability != "" && !slices.Contains(Capabilities(), m.Capability) {
			t.Errorf("%s needs %q, which is no capability", m.Name, m.Capability)
		}
		if m.CommandOnly && m.AnySession {
			t.Errorf("%s replaces or awaits a session, and yet has nothing to do with it", m.Name)
		}
	}
}

func TestTokens(t *testing.T) {
	a, b := NewToken(), NewToken()
	if a == b || len(a) < 20 {
		t.Errorf("the tokens are %q and %q", a, b)
	}
	if SameToken(a, b) || !SameToken(a, a) || SameToken(a, "") {
		t.Error("tokens are not told apart")
	}
}
