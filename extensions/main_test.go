package extensions_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// built is the folder with the programs of testdata, built once.
var built string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if paths := os.Getenv(hostEnv); paths != "" {
		return beHost(paths)
	}
	dir, err := os.MkdirTemp("", "pi-fixtures-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := buildFixtures(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	built = dir
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func buildFixtures(dir string) error {
	sources, err := filepath.Glob("testdata/*/main.go")
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return errors.New("there are no programs in testdata")
	}
	args := []string{"build", "-o", dir + string(filepath.Separator)}
	for _, source := range sources {
		args = append(args, "./"+filepath.Dir(source))
	}
	args = append(args, "../examples/extensions/hello")
	out, err := exec.Command("go", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("build the programs of testdata: %w\n%s", err, out)
	}
	return nil
}

// fixture is the path of a program of testdata.
func fixture(name string) string { return filepath.Join(built, name) }
