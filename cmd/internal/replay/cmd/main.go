// Command replay plays the recorded scenarios against any agent that speaks
// the protocol, outside the test suite.
//
//	go run ./cmd/internal/replay/cmd -agent './bin/pi' [flags] [names…]
//
// It prints the differences from what is expected of ours, or, with -plain,
// from the bare recording, which is what a reference agent must not differ
// from. With -record it stores what the agent does instead. With -propose it
// writes, for each scenario that differs, an overlay that would make it pass,
// for a person to judge, to split by difference, and to give reasons to. A name
// picks the scenarios that contain it; without names all are played.
//
// Scenarios with extensions hold them in TypeScript. For an agent that runs
// programs instead, build those and name their folder:
//
//	go build -o /tmp/programs/ ./cmd/pi/testdata/extensions/...
//	go run ./cmd/internal/replay/cmd -agent ./bin/pi -programs /tmp/programs
//
// It imports cmd/internal/replay, and nothing else of this module.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/seed-54e836f5/pi/cmd/internal/replay"
)

type options struct {
	dir    string
	agent  string
	path   string
	env    string
	record string
	// propose is a folder for overlays that would explain what differs.
	propose string
	// programs is a folder with the program for each TypeScript extension.
	programs string
	plain    bool
	stderr   bool
	jobs     int
	max      int
	names    []string
}

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", "cmd/pi/testdata/transcripts", "folder with scenarios, recorded, overlays")
	flag.StringVar(&o.agent, "agent", "", "the agent's command, parted by blanks")
	flag.StringVar(&o.path, "path", "", "folders with helper programs of the agent, parted by colons")
	flag.StringVar(&o.env, "env", "", "NAME=value for the agent, parted by commas")
	flag.StringVar(&o.record, "record", "", "store the transcripts in this folder instead of comparing")
	flag.StringVar(&o.propose, "propose", "", "write overlays that would explain the differences into this folder")
	flag.StringVar(&o.programs, "programs", "", "folder of the programs that stand for TypeScript extensions")
	flag.BoolVar(&o.plain, "plain", false, "compare with the recording as it is, without overlays")
	flag.BoolVar(&o.stderr, "stderr", false, "print what the agent writes to stderr")
	flag.IntVar(&o.jobs, "jobs", 2, "scenarios at the same time")
	flag.IntVar(&o.max, "max", 10, "differences to print for a scenario")
	flag.Parse()
	o.names = flag.Args()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	if o.agent == "" {
		return errors.New("-agent is missing")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	scenarios, err := replay.LoadScenarios(os.DirFS(filepath.Join(o.dir, "scenarios")))
	if err != nil {
		return err
	}
	var mu sync.Mutex // guards the output and the counts
	played, differing := 0, 0
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.jobs)
	for _, sc := range scenarios {
		if !o.picks(sc.Name) {
			continue
		}
		group.Go(func() error {
			report, err := o.play(ctx, sc)
			if err != nil {
				return fmt.Errorf("%s: %w", sc.Name, err)
			}
			mu.Lock()
			defer mu.Unlock()
			played++
			if report != "" {
				differing++
				fmt.Print(report)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	fmt.Printf("%d of %d scenarios differ\n", differing, played)
	if differing > 0 {
		return errors.New("the agent is not as expected")
	}
	return nil
}

func (o options) picks(name string) bool {
	if len(o.names) == 0 {
		return true
	}
	for _, n := range o.names {
		if strings.Contains(name, n) {
			return true
		}
	}
	return false
}

// play returns what there is to report of a scenario, or "".
func (o options) play(ctx context.Context, sc *replay.Scenario) (string, error) {
	agent := replay.Agent{Command: strings.Fields(o.agent)}
	if o.path != "" {
		agent.Path = filepath.SplitList(o.path)
	}
	if o.env != "" {
		agent.Env = strings.Split(o.env, ",")
	}
	if o.programs != "" {
		var err error
		if agent.Extensions, err = o.programsFor(sc.Name); err != nil {
			return "", err
		}
	}
	var stderr string
	agent.Log = func(text string) { stderr = text }
	got, err := replay.Play(ctx, sc, agent)
	if err != nil {
		return "", err
	}
	if o.record != "" {
		return "", store(filepath.Join(o.record, sc.Name+".jsonl"), got)
	}
	recordings := replay.Recordings{Dir: os.DirFS(o.dir)}
	expected, err := recordings.Expected(sc.Name)
	if o.plain {
		expected, err = recordings.Recorded(sc.Name)
	}
	if err != nil {
		return "", err
	}
	differences := replay.Compare(expected, got)
	if o.propose != "" && len(differences) > 0 {
		overlay := replay.Overlay{Difference: "?", Why: "?", Edits: replay.Propose(expected, got)}
		if err := storeOverlay(filepath.Join(o.propose, sc.Name+".json"), overlay); err != nil {
			return "", err
		}
	}
	return o.report(sc.Name, differences, stderr), nil
}

// programsFor finds the program for each extension of a scenario.
func (o options) programsFor(scenario string) (map[string]string, error) {
	data, err := os.ReadFile(filepath.Join(o.dir, "../extensions/programs.json"))
	if err != nil {
		return nil, err
	}
	var all map[string]map[string]string
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("programs.json: %w", err)
	}
	out := map[string]string{}
	for file, program := range all[scenario] {
		if out[file], err = filepath.Abs(filepath.Join(o.programs, program)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func storeOverlay(file string, overlay replay.Overlay) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode([]replay.Overlay{overlay}); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

func (o options) report(name string, differences []string, stderr string) string {
	if len(differences) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d differences\n", name, len(differences))
	for i, d := range differences {
		if i == o.max {
			fmt.Fprintf(&b, "    …\n")
			break
		}
		fmt.Fprintf(&b, "    %s\n", d)
	}
	if o.stderr && stderr != "" {
		fmt.Fprintf(&b, "    stderr: %s\n", strings.TrimSpace(stderr))
	}
	return b.String()
}

func store(file string, t *replay.Transcript) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(t.Write(f), f.Close())
}
