package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// piBinary is the program under test, built by TestMain.
var piBinary string

// buildDir holds what the tests build.
var buildDir string

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	var err error
	if buildDir, err = os.MkdirTemp("", "pi-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(buildDir)
	piBinary = filepath.Join(buildDir, "pi")
	if err := buildWatched(piBinary); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return reportWatched(m.Run())
}

// build compiles main packages: one into a file, or several into a folder that
// ends in a slash. With the race detector on, they have it too.
func build(target string, packages ...string) error {
	return compile(target, []string{raceFlag()}, packages...)
}

// buildFixtures compiles programs that are not themselves tested: small, and
// quick to link.
func buildFixtures(target string, packages ...string) error {
	return compile(target, []string{"-ldflags=-s -w"}, packages...)
}

func raceFlag() string { return fmt.Sprintf("-race=%t", raceEnabled) }

func compile(target string, flags []string, packages ...string) error {
	args := slices.Concat([]string{"build", "-o", target}, flags, packages)
	out, err := exec.Command("go", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build %s: %w\n%s", strings.Join(packages, " "), err, out)
	}
	return nil
}
