package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	if err := build(piBinary, "."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// build compiles main packages: one into a file, or several into a folder that
// ends in a slash. With the race detector on, they have it too.
func build(target string, packages ...string) error {
	args := []string{"build", "-o", target}
	if raceEnabled {
		args = append(args, "-race")
	}
	out, err := exec.Command("go", append(args, packages...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build %s: %w\n%s", strings.Join(packages, " "), err, out)
	}
	return nil
}
