package main_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A model that an extension brings can be named at the start like any other,
// and a session that has it goes on with it.
func TestModelOfAnExtensionAtTheStart(t *testing.T) {
	programs := filepath.Join(t.TempDir(), "programs") + string(filepath.Separator)
	if err := buildFixtures(programs, "../../examples/extensions/custom-provider", "../../examples/extensions/hello"); err != nil {
		t.Fatal(err)
	}
	env, work := onPath(t)
	session := filepath.Join(work, "session.jsonl")
	for _, c := range []struct {
		name      string
		arguments []string
		prints    string
		fails     string
	}{
		{"by flag", []string{"--model", "backwards/mirror", "--session", session}, "olleh\n", ""},
		{"of the session", []string{"--session", session}, "olleh\n", ""},
		{"of nobody", []string{"--model", "forwards/mirror", "--no-session"}, "", `unknown provider "forwards"`},
		{"by default", []string{"--no-session"}, "This is the demo model.", ""},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		pi := exec.CommandContext(ctx, piBinary, append(c.arguments, "-e", programs+"hello", "-e", programs+"custom-provider", "-p", "hello")...)
		var stderr strings.Builder
		pi.Env, pi.Dir, pi.Stderr = env, work, &stderr
		out, err := pi.Output()
		if (err != nil) != (c.fails != "") || !strings.HasPrefix(string(out), c.prints) || !strings.Contains(stderr.String(), c.fails) {
			t.Errorf("%s: %v, stdout %q, stderr %q", c.name, err, out, stderr.String())
		}
	}
}
