package extensions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// program gives the command that starts an extension: built first where it is
// source, checked first where it is pinned.
func (s source) program(ctx context.Context, h *Host) (path string, args []string, err error) {
	switch s.form {
	case executable:
		path = s.path
	case goFolder:
		if path, err = h.build(ctx, s); err != nil {
			return "", nil, err
		}
	case manifestFolder:
		command := s.manifest.Command
		if path, err = s.resolve(command[0]); err != nil {
			return "", nil, err
		}
		args = command[1:]
	}
	if s.manifest != nil && s.manifest.SHA256 != "" {
		path, err = h.pinned(path, s.manifest.SHA256)
	}
	return path, args, err
}

// resolve finds the program of a manifest: in its folder if it has a slash or
// is there, else among the programs of the system.
func (s source) resolve(name string) (string, error) {
	inFolder := filepath.Join(s.path, filepath.FromSlash(name))
	switch {
	case filepath.IsAbs(name):
		return name, nil
	case strings.ContainsAny(name, `/\`):
		return inFolder, nil
	}
	if info, err := os.Stat(inFolder); err == nil && !info.IsDir() {
		return inFolder, nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s names the command %s, which is neither in the folder nor installed: %w", ManifestName, name, errors.Unwrap(err))
	}
	return path, nil
}

// pinned copies a program into a private folder while its checksum is taken,
// and gives the copy: what was checked is what runs, whatever happens to the
// file meanwhile.
func (h *Host) pinned(path, want string) (string, error) {
	in, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the program to check it: %w", err)
	}
	defer func() { _ = in.Close() }()
	dir, err := h.cacheDir("pinned")
	if err != nil {
		return "", err
	}
	out, err := os.CreateTemp(dir, "checking-")
	if err != nil {
		return "", fmt.Errorf("copy the program to check it: %w", err)
	}
	defer func() { _ = os.Remove(out.Name()) }()
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, sum), in)
	if err = errors.Join(err, out.Chmod(0o500), out.Close()); err != nil {
		return "", fmt.Errorf("copy the program to check it: %w", err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); !strings.EqualFold(got, want) {
		return "", fmt.Errorf("%s is not the program that was pinned, and was not run: its SHA-256 is %s, %s says %s. If the new one is right, put its sum there", path, got, ManifestName, want)
	}
	final := filepath.Join(dir, strings.ToLower(want)+filepath.Ext(path))
	if err := os.Rename(out.Name(), final); err != nil {
		return "", fmt.Errorf("copy the program to check it: %w", err)
	}
	return final, nil
}

// cacheDir gives a private folder below the user's.
func (h *Host) cacheDir(name string) (string, error) {
	dir := filepath.Join(h.options.AgentDir, "cache", "extensions", name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the cache of extensions: %w", err)
	}
	return dir, nil
}
