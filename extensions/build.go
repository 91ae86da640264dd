package extensions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// buildRecord remembers what a program was built from, so that the next start
// needs no compiler to see that nothing has changed.
type buildRecord struct {
	// Dirs are the folders of the packages that are not of the standard
	// library and not of the module cache, with the folder of go.mod.
	Dirs    []string `json:"dirs"`
	Key     string   `json:"key"`     // over the contents of Dirs
	Program string   `json:"program"` // named by the key
}

// build compiles the Go main package of a source's folder, unless what is in the
// cache was made from the same content. The compiler's messages are in the
// error.
func (h *Host) build(ctx context.Context, s source) (string, error) {
	folder := s.path
	cache, err := h.cacheDir("built")
	if err != nil {
		return "", err
	}
	env := h.buildEnvironment()
	name := folder
	if s.mustStandAlone() {
		env, name = append(env, "GOWORK=off"), name+" alone"
	}
	recordPath := filepath.Join(cache, fmt.Sprintf("%x.json", sha256.Sum256([]byte(name))))
	record, known := readRecord(recordPath)
	if known {
		if key, err := contentKey(record.Dirs); err == nil && key == record.Key {
			return record.Program, nil
		}
	}
	path, err := exec.LookPath("go")
	if err != nil {
		return "", fmt.Errorf("%s is Go source, and there is no go command to build it: install Go, or build the extension elsewhere and name the program", folder)
	}
	tool := goTool{path, env}
	dirs, err := tool.packageDirs(ctx, folder)
	if err != nil {
		return "", err
	}
	key, err := contentKey(dirs)
	if err != nil {
		return "", fmt.Errorf("read the source of the extension: %w", err)
	}
	program := filepath.Join(cache, key+exeSuffix())
	if _, err := os.Stat(program); err != nil {
		if err := h.compile(ctx, tool, folder, program); err != nil {
			return "", err
		}
	}
	if err := writeRecord(recordPath, buildRecord{Dirs: dirs, Key: key, Program: program}); err != nil {
		return "", err
	}
	if known && record.Program != program {
		_ = os.Remove(record.Program) // where it still runs it goes on; where not, it is built again
	}
	return program, nil
}

// mustStandAlone says whether a go.work is left out of account: what a project
// brings is trusted as its own files and modules have it, and a package is
// pinned by its own.
func (s source) mustStandAlone() bool {
	return s.info.Scope == "project" || s.info.Origin == "package"
}

// compile writes to another name first: a program in the cache is complete or
// not there, and one that runs is never written to.
func (h *Host) compile(ctx context.Context, tool goTool, folder, program string) error {
	dir, err := os.MkdirTemp(filepath.Dir(program), "building-")
	if err != nil {
		return fmt.Errorf("build the extension: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	made := filepath.Join(dir, filepath.Base(program))
	h.log.Info("building the extension; the first time takes a while", "folder", folder)
	if _, err := tool.run(ctx, folder, "build", "-buildvcs=false", "-o", made, "."); err != nil {
		return err
	}
	if err := os.Rename(made, program); err != nil {
		return fmt.Errorf("build the extension: %w", err)
	}
	return nil
}

// packageDirs lists the folders whose content decides what is built: of the
// packages that are neither the standard library's nor in the module cache, of
// what they embed, and of their go.mod.
func (t goTool) packageDirs(ctx context.Context, folder string) ([]string, error) {
	out, err := t.run(ctx, folder, "list", "-deps", "-json=Dir,Name,Standard,Module,EmbedFiles", ".")
	if err != nil {
		return nil, err
	}
	var dirs []string
	name := ""
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir, Name  string
			Standard   bool
			EmbedFiles []string
			Module     *struct {
				Dir     string
				Main    bool
				Replace *struct{ Version string }
			}
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read what go list says of %s: %w", folder, err)
		}
		name = p.Name // of the package itself, which comes last
		if p.Standard || p.Module != nil && !p.Module.Main && (p.Module.Replace == nil || p.Module.Replace.Version != "") {
			continue
		}
		dirs = append(dirs, p.Dir)
		if p.Module != nil {
			dirs = append(dirs, p.Module.Dir)
		}
		for _, file := range p.EmbedFiles {
			dirs = append(dirs, filepath.Dir(filepath.Join(p.Dir, file)))
		}
	}
	if name != "main" {
		return nil, fmt.Errorf("%s holds the package %s, where an extension is a package main", folder, name)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs), nil
}

// goTool is the go command, and the environment to run it in.
type goTool struct {
	path string
	env  []string
}

func (t goTool) run(ctx context.Context, folder string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, t.path, args...)
	cmd.Dir, cmd.Env = folder, t.env
	cmd.WaitDelay = time.Second // what go started may hold its pipes
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		text := strings.TrimSpace(stderr.String())
		if text == "" {
			text = err.Error()
		}
		return nil, fmt.Errorf("the Go code in %s does not build:\n%s%s", folder, clip(text, 4000), buildAdvice(text))
	}
	return stdout.Bytes(), nil
}

// buildAdvice is for what the go command says of modules that are not complete,
// to people who may not know Go.
func buildAdvice(text string) string {
	says := func(part string) bool { return strings.Contains(text, part) }
	const fromClone = "\nTo take the sdk from a clone of pi, run before go get: go mod edit -require " + modulePath + "@v0.0.0 -replace " + modulePath + "=/path/to/the/clone"
	switch {
	case says("go.mod file not found"), says("cannot find main module"):
		return "\nIn that folder, run: go mod init extension && go get ." + fromClone
	case says("replacement directory"):
		return "\nIts go.mod replaces a module by a folder that is not on this machine: bring the folder there, or change that line"
	case says("no required module provides package " + modulePath):
		return "\nIn that folder, run: go get ." + fromClone
	case says("GOWORK=off"):
		return "\nExtensions of projects and packages are built without go.work: name the folders of other modules with replace in its go.mod"
	case says("no required module provides package"), says("is replaced but not required"), says("missing go.sum entry"):
		return "\nIn that folder, run: go get ."
	}
	return ""
}

const modulePath = "github.com/seed-54e836f5/pi"

// buildEnvironment is that of an extension with what the go command looks at.
// Offline, it fetches nothing.
func (h *Host) buildEnvironment() []string {
	env := environment(h.options.Env, nil)
	for _, entry := range h.options.Env {
		if strings.HasPrefix(entry, "GO") || strings.HasPrefix(entry, "CGO_") || strings.HasPrefix(entry, "CC=") {
			env = append(env, entry)
		}
	}
	if lookup(env, "PI_OFFLINE") != "" {
		env = append(env, "GOPROXY=off")
	}
	return env
}

// contentKey is a checksum over the files of the folders, not of those below,
// and over what else decides about the program.
func contentKey(dirs []string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return "", err
		}
		for _, entry := range entries {
			if !decidesBuild(entry) {
				continue
			}
			if err := hashFile(sum, filepath.Join(dir, entry.Name())); err != nil {
				return "", err
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func decidesBuild(entry fs.DirEntry) bool {
	return !entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") && !strings.HasSuffix(entry.Name(), "_test.go")
}

func hashFile(sum io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	fmt.Fprintln(sum, path, info.Size())
	_, err = io.Copy(sum, f)
	return err
}

func readRecord(path string) (buildRecord, bool) {
	var record buildRecord
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &record) != nil {
		return record, false
	}
	_, err = os.Stat(record.Program)
	return record, err == nil
}

func writeRecord(path string, record buildRecord) error {
	data, err := json.Marshal(record)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "record-")
	if err != nil {
		return fmt.Errorf("note what the extension was built from: %w", err)
	}
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("note what the extension was built from: %w", errors.Join(err, os.Remove(temp.Name())))
	}
	return nil
}

func exeSuffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}
