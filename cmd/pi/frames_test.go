package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/rpcmode"
	"github.com/seed-54e836f5/pi/rpcmode/contract"
)

// The program that the tests start is built with testdata/watched: each process
// in rpc or json mode leaves a copy of what it wrote in watchedFolder, whoever
// started it and whoever read it. After the tests every frame is held against
// the schema of its type.

func watchedFolder() string { return filepath.Join(buildDir, "watched") }

// buildWatched compiles the program under test.
func buildWatched(target string) error {
	if err := os.Mkdir(watchedFolder(), 0o700); err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(here, "stdio.go"): filepath.Join(here, "testdata", "watched", "stdio.go"),
	}})
	if err != nil {
		return err
	}
	file := filepath.Join(buildDir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return err
	}
	return compile(target, []string{raceFlag(), "-overlay=" + file, "-ldflags=-X main.watchedFolder=" + watchedFolder()}, ".")
}

// watched is what the processes wrote.
type watched struct {
	processes, frames int
	wrong             []string // frames that break the contract, and by whom
}

// checkWatched reads what the processes left in a folder.
func checkWatched(folder string) (watched, error) {
	var w watched
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil {
		return w, err
	}
	for _, file := range files {
		if err := w.process(file); err != nil {
			return w, fmt.Errorf("%s: %w", file, err)
		}
	}
	return w, nil
}

func (w *watched) process(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, 1<<20)
	who, err := lines.ReadString('\n')
	if err != nil {
		return err
	}
	w.processes++
	check, err := checkerOf(lines)
	for n := 1; err == nil; n++ {
		var line []byte
		if line, err = lines.ReadBytes('\n'); err != nil {
			break // at the end, or in the record that it was killed in
		}
		w.frames++
		if wrong := check(n, line); wrong != nil {
			w.wrong = append(w.wrong, fmt.Sprintf("frame %d of %s%v\n%.1000s", n, who, wrong, line))
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// checkerOf chooses what frames must be like by the first of them.
func checkerOf(lines *bufio.Reader) (func(n int, line []byte) error, error) {
	switch first, _ := lines.Peek(len(`{"type":"session"`)); {
	case bytes.HasPrefix(first, []byte(`{"type":"ready"`)):
		return checkerOfDialect(rpcmode.XCSH)
	case bytes.HasPrefix(first, []byte(`{"type":"session"`)):
		check, err := checkerOfDialect(rpcmode.Pi)
		return func(n int, line []byte) error {
			if n > 1 {
				return check(n, line)
			}
			decoder := json.NewDecoder(bytes.NewReader(line))
			decoder.DisallowUnknownFields()
			return decoder.Decode(&store.Header{})
		}, err
	}
	return checkerOfDialect(rpcmode.Pi)
}

var contracts = map[rpcmode.Dialect]*contract.Contract{}

func checkerOfDialect(dialect rpcmode.Dialect) (func(int, []byte) error, error) {
	if contracts[dialect] == nil {
		c, err := contract.New(dialect)
		if err != nil {
			return nil, err
		}
		contracts[dialect] = c
	}
	return func(_ int, line []byte) error { return contracts[dialect].Check(line) }, nil
}

// reportWatched gives the exit code of the tests.
func reportWatched(code int) int {
	w, err := checkWatched(watchedFolder())
	if err != nil {
		fmt.Fprintln(os.Stderr, "what the program wrote cannot be checked:", err)
		return 1
	}
	const most = 10
	for _, wrong := range w.wrong[:min(most, len(w.wrong))] {
		fmt.Fprintln(os.Stderr, wrong)
	}
	if len(w.wrong) > 0 {
		fmt.Fprintf(os.Stderr, "%d of %d frames that %d processes wrote do not fit the schema of their type\n", len(w.wrong), w.frames, w.processes)
		return 1
	}
	if testing.Verbose() {
		fmt.Fprintf(os.Stderr, "%d frames that %d processes wrote fit the schema of their type\n", w.frames, w.processes)
	}
	return code
}

func TestWatchedFindsFramesOutsideTheContract(t *testing.T) {
	const who = `{"args":["pi"],"dir":"/"}`
	for name, c := range map[string]struct {
		lines string
		wrong int
	}{
		"pi":                          {`{"type":"agent_start"}` + "\n" + `{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"x"}}` + "\n", 0},
		"xcsh":                        {`{"type":"ready"}` + "\n" + `{"type":"auto_compaction_start","reason":"threshold"}` + "\n", 0},
		"xcsh frames in pi":           {`{"type":"auto_compaction_start","reason":"threshold"}` + "\n", 1},
		"json mode":                   {`{"type":"session","version":3,"id":"x","timestamp":"t","cwd":"/"}` + "\n" + `{"type":"agent_start"}` + "\n", 0},
		"a header in the wrong place": {`{"type":"agent_start"}` + "\n" + `{"type":"session","version":3,"id":"x","timestamp":"t","cwd":"/"}` + "\n", 1},
		"a header with more":          {`{"type":"session","version":3,"id":"x","timestamp":"t","cwd":"/","more":1}` + "\n", 1},
		"an unknown type":             {`{"type":"agent_starts"}` + "\n", 1},
		"an unknown field":            {`{"type":"agent_start","more":1}` + "\n", 1},
		"no frames":                   {"hello\n\n", 2},
		"killed in a record":          {`{"type":"agent_start"}` + "\n" + `{"type":"agent_`, 0},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "1.jsonl"), []byte(who+"\n"+c.lines), 0o600); err != nil {
			t.Fatal(err)
		}
		w, err := checkWatched(dir)
		if err != nil || len(w.wrong) != c.wrong {
			t.Errorf("%s: %v, wrong are %q", name, err, w.wrong)
		}
	}
}

// The copy that is checked is what clients read.
func TestWhatIsWatchedIsWhatClientsRead(t *testing.T) {
	var read bytes.Buffer
	h := newHome(t)
	h.record = &read
	p := h.start(t)
	p.send(`{"id":"p","type":"prompt","message":"SAY hi"}`)
	p.event("agent_settled")
	p.end()
	files, err := filepath.Glob(filepath.Join(watchedFolder(), fmt.Sprintf("%d-*", p.cmd.Process.Pid)))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v: %q", err, files)
	}
	kept, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, frames, _ := strings.Cut(string(kept), "\n"); frames != read.String() || frames == "" {
		t.Errorf("kept %s\nread %s", frames, read.String())
	}
}
