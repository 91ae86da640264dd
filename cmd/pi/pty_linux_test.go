package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal makes a terminal: what is written to person is typed in it, and
// what is read from there is shown on it.
func openTerminal(t *testing.T) (person, terminal *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	fd := int(person.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return person, terminal
}

// TestAKeyIsAskedForWithoutShowingIt types one into a terminal.
func TestAKeyIsAskedForWithoutShowingIt(t *testing.T) {
	h := newHome(t)
	person, terminal := openTerminal(t)
	cmd := exec.CommandContext(t.Context(), piBinary, "auth", "set", "Mock")
	cmd.Dir, cmd.Env = h.work, h.environment(t)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := terminal.Close(); err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	for buffer := make([]byte, 1024); !strings.Contains(shown.String(), "not shown"); {
		n, err := person.Read(buffer)
		if err != nil {
			t.Fatalf("%v; shown: %s", err, shown.String())
		}
		shown.Write(buffer[:n])
	}
	if _, err := io.WriteString(person, "typed-key-0123456789\n"); err != nil {
		t.Fatal(err)
	}
	// The end of the last program on a terminal reads as an I/O error.
	if _, err := io.Copy(&shown, person); err != nil && !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v; shown: %s", err, shown.String())
	}
	if strings.Contains(shown.String(), "typed-key") {
		t.Errorf("the key is shown: %s", shown.String())
	}
	if got := read(t, filepath.Join(h.agent, "auth.json")); !strings.Contains(got, `"mock"`) || !strings.Contains(got, "typed-key-0123456789") {
		t.Errorf("stored is %s", got)
	}
}
