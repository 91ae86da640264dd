package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// Shell is a program that runs a command line, which is put behind its
// arguments. The zero value stands for the shell that FindShell finds.
type Shell struct {
	Path string
	Args []string
}

// ErrNoShell means that no shell was found to run commands with.
var ErrNoShell = errors.New("no shell found")

// FindShell finds the shell for commands, once: /bin/bash, bash on the PATH,
// or sh; on Windows the bash that comes with Git, bash on the PATH, or
// cmd.exe. The error is ErrNoShell.
var FindShell = sync.OnceValues(findShell)

func findShell() (Shell, error) {
	for _, path := range shellPlaces() {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return Shell{Path: path, Args: []string{"-c"}}, nil
		}
	}
	for _, name := range []string{"bash", "sh"} {
		if path, err := exec.LookPath(name); err == nil && !isWSL(path) {
			return Shell{Path: path, Args: []string{"-c"}}, nil
		}
	}
	if runtime.GOOS == "windows" {
		if path, err := exec.LookPath("cmd.exe"); err == nil {
			return Shell{Path: path, Args: []string{"/d", "/s", "/c"}}, nil
		}
	}
	return Shell{}, fmt.Errorf("%w: install bash, or name a shell in the settings (shellPath)", ErrNoShell)
}

// ShellAt is the shell at a path that the user chose: like bash, unless its
// name says cmd or powershell.
func ShellAt(path string) Shell {
	switch strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".exe") {
	case "cmd":
		return Shell{Path: path, Args: []string{"/d", "/s", "/c"}}
	case "powershell", "pwsh":
		return Shell{Path: path, Args: []string{"-NoProfile", "-NonInteractive", "-Command"}}
	}
	return Shell{Path: path, Args: []string{"-c"}}
}

func shellPlaces() []string {
	if runtime.GOOS != "windows" {
		return []string{"/bin/bash"}
	}
	var places []string
	for _, name := range []string{"ProgramFiles", "ProgramFiles(x86)", "LocalAppData"} {
		if dir := os.Getenv(name); dir != "" {
			places = append(places, filepath.Join(dir, "Git", "bin", "bash.exe"), filepath.Join(dir, "Programs", "Git", "bin", "bash.exe"))
		}
	}
	return places
}

// isWSL says whether a bash is the door to the Linux subsystem of Windows,
// which sees another file system than this process.
func isWSL(path string) bool {
	return runtime.GOOS == "windows" && strings.Contains(strings.ToLower(path), `\system32\`)
}
