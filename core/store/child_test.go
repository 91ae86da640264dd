package store_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/core/store/storetest"
)

// roles are what the test binary does when a test starts it as a process of
// its own.
var roles = map[string]func(arg string) error{
	"open":   openOnce,
	"hold":   holdOpen,
	"append": appendForever,
}

func TestMain(m *testing.M) {
	if role := os.Getenv("STORE_TEST_ROLE"); role != "" {
		if err := roles[role](os.Getenv("STORE_TEST_ARG")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// childProcess is this binary in a role, not started yet.
func childProcess(t testing.TB, role, arg string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), "STORE_TEST_ROLE="+role, "STORE_TEST_ARG="+arg)
	return cmd
}

// openOnce opens a session and shows what Linux says of this process then. What
// is known of it from outside counts the memory of the test that started it.
func openOnce(path string) error {
	l, err := store.Open(path)
	if err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, string(status))
	return l.Close()
}

// holdOpen keeps a session open until its standard input ends.
func holdOpen(path string) error {
	l, err := store.Open(path)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "open")
	bufio.NewScanner(os.Stdin).Scan()
	return l.Close()
}

// appendForever appends until it is killed, and says after each entry what
// must be on disk now. Roles speak on the standard error.
func appendForever(dir string) error {
	l, err := store.Create(store.CreateOptions{Dir: dir})
	if err != nil {
		return err
	}
	if err := l.Persist(); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, l.Path())
	for n := 0; ; n++ {
		e, err := l.Append(said(strings.Repeat("x", n%3000)))
		if err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, e.ID)
	}
}

func largeFile(t testing.TB) string {
	return storetest.File(t, storetest.Options{Size: large, Branch: true, CompactEvery: 200})
}
