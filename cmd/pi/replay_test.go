package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-54e836f5/pi/cmd/internal/replay"
)

const transcripts = "testdata/transcripts"

var recordings = replay.Recordings{Dir: os.DirFS(transcripts)}

// TestReplay plays every scenario that needs no extension against the binary.
// What it is expected to do is what the reference agent did when the scenario
// was recorded, but for the overlays, which say why.
func TestReplay(t *testing.T) {
	for group, scenarios := range scenarioGroups(t) {
		t.Run(group, func(t *testing.T) {
			for _, sc := range scenarios {
				if len(sc.Extensions()) > 0 {
					continue // TestReplayExtensions plays it
				}
				t.Run(sc.Name, func(t *testing.T) {
					t.Parallel()
					replayScenario(t, sc, replay.Agent{})
				})
			}
		})
	}
}

// TestReplayExtensions plays the scenarios with extensions. Where they were
// recorded the extension was a TypeScript file, which stays in the scenario to
// be read; here a Go program of the same behaviour takes its place.
func TestReplayExtensions(t *testing.T) {
	programs := extensionPrograms(t)
	for group, scenarios := range scenarioGroups(t) {
		t.Run(group, func(t *testing.T) {
			for _, sc := range scenarios {
				if len(sc.Extensions()) == 0 {
					continue // TestReplay plays it
				}
				t.Run(sc.Name, func(t *testing.T) {
					t.Parallel()
					replayScenario(t, sc, replay.Agent{Extensions: programs.executables(t, sc)})
				})
			}
		})
	}
}

func replayScenario(t *testing.T, sc *replay.Scenario, agent replay.Agent) {
	expected, err := recordings.Expected(sc.Name)
	if err != nil {
		t.Fatal(err)
	}
	var stderr string
	agent.Command = []string{piBinary}
	agent.Log = func(text string) { stderr = text }
	got, err := replay.Play(t.Context(), sc, agent)
	if err != nil {
		t.Fatal(err)
	}
	differences := replay.Compare(expected, got)
	if len(differences) == 0 {
		return
	}
	const most = 20
	if len(differences) > most {
		differences = append(differences[:most:most], fmt.Sprintf("and %d more", len(differences)-most))
	}
	t.Errorf("%s\n%s\nstderr: %s", sc.About, strings.Join(differences, "\n"), stderr)
}

// scenarioGroups returns the scenarios by group, each in exactly one.
func scenarioGroups(t *testing.T) map[string][]*replay.Scenario {
	t.Helper()
	scenarios, err := replay.LoadScenarios(os.DirFS(filepath.Join(transcripts, "scenarios")))
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*replay.Scenario{}
	for _, sc := range scenarios {
		byName[sc.Name] = sc
	}
	var names map[string][]string
	readJSON(t, filepath.Join(transcripts, "groups.json"), &names)
	groups := map[string][]*replay.Scenario{}
	for group, members := range names {
		for _, name := range members {
			if byName[name] == nil {
				t.Fatalf("groups.json: %s: no scenario %s, or one in two groups", group, name)
			}
			groups[group] = append(groups[group], byName[name])
			delete(byName, name)
		}
	}
	if len(byName) > 0 {
		t.Fatalf("groups.json: no group has %s", strings.Join(slices.Sorted(maps.Keys(byName)), ", "))
	}
	return groups
}

func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// programs says which folder of testdata/extensions stands for which file of
// which scenario.
type programs struct {
	folders map[string]map[string]string
	build   func() (string, error) // builds all and returns their folder
}

func extensionPrograms(t *testing.T) programs {
	t.Helper()
	var p programs
	readJSON(t, "testdata/extensions/programs.json", &p.folders)
	all := map[string]bool{}
	for _, files := range p.folders {
		for _, folder := range files {
			all["./testdata/extensions/"+folder] = true
		}
	}
	p.build = sync.OnceValues(func() (string, error) {
		dir := filepath.Join(buildDir, "extensions")
		err := buildFixtures(dir+string(filepath.Separator), slices.Sorted(maps.Keys(all))...)
		return dir, err
	})
	return p
}

// executables returns the program for each extension of the scenario.
func (p programs) executables(t *testing.T, sc *replay.Scenario) map[string]string {
	t.Helper()
	dir, err := p.build()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for file, folder := range p.folders[sc.Name] {
		out[file] = filepath.Join(dir, folder)
	}
	for _, file := range sc.Extensions() {
		if out[file] == "" {
			t.Fatalf("testdata/extensions/programs.json has no program for %s of %s", file, sc.Name)
		}
	}
	return out
}

// TestIntendedDifferences checks that every overlay gives a known reason and
// still fits its recording, and that every known difference is shown
// somewhere.
func TestIntendedDifferences(t *testing.T) {
	differences, err := recordings.Differences()
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, d := range differences {
		if d.ID == "" || d.Reference == "" || d.We == "" {
			t.Errorf("differences.json: %+v lacks a field", d)
		}
		shown[d.ID] = d.Where != ""
		if d.Where != "" {
			checkTestExists(t, d)
		}
	}
	files, err := fs.Glob(recordings.Dir, "overlays/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if _, err := recordings.Expected(name); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		overlays, err := recordings.Overlays(name)
		if err != nil {
			t.Error(err)
		}
		for _, o := range overlays {
			if _, known := shown[o.Difference]; !known {
				t.Errorf("%s: no difference %q in differences.json", file, o.Difference)
			}
			if o.Why == "" {
				t.Errorf("%s: an overlay for %s does not say why", file, o.Difference)
			}
			shown[o.Difference] = true
		}
	}
	for id, is := range shown {
		if !is {
			t.Errorf("differences.json: nothing shows %q", id)
		}
	}
}

// checkTestExists looks for the test that a difference names as "folder Test"
// or "folder Test/case".
func checkTestExists(t *testing.T, d replay.Difference) {
	t.Helper()
	folder, test, _ := strings.Cut(d.Where, " ")
	dir := filepath.Join("../..", filepath.FromSlash(folder))
	name, script, isCase := strings.Cut(test, "/")
	if isCase {
		if _, err := os.Stat(filepath.Join(dir, "testdata/script", script+".txtar")); err != nil {
			t.Errorf("differences.json: %s: %v", d.ID, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(source), "\nfunc "+name+"(") {
			return
		}
	}
	t.Errorf("differences.json: %s: there is no %s in %s", d.ID, name, folder)
}

// TestRecordingsAreComplete checks that scenarios and recordings go together.
func TestRecordingsAreComplete(t *testing.T) {
	for _, scenarios := range scenarioGroups(t) {
		for _, sc := range scenarios {
			if _, err := recordings.Recorded(sc.Name); err != nil {
				t.Errorf("%s: %v", sc.Name, errors.Unwrap(err))
			}
		}
	}
}
