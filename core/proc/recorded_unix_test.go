//go:build unix

package proc_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/proc"
)

// What the reference agent's bash command gave, and sent while it ran. Long
// texts are there by size and hash.
func TestRecorded(t *testing.T) {
	type outcome struct {
		Command   string `json:"command"`
		Deltas    any    `json:"deltas"`
		Output    any    `json:"output"`
		ExitCode  int    `json:"exitCode"`
		Truncated bool   `json:"truncated"`
	}
	data, err := os.ReadFile("testdata/recorded.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded []outcome
	if err := json.Unmarshal(data, &recorded); err != nil || len(recorded) == 0 {
		t.Fatalf("%d recordings, %v", len(recorded), err)
	}
	for _, want := range recorded {
		t.Run(want.Command, func(t *testing.T) {
			dir := t.TempDir()
			var deltas strings.Builder
			ran := run(t, t.Context(), proc.Options{
				Command: want.Command, Capture: proc.NewCapture(dir),
				OnOutput: func(delta string) { deltas.WriteString(delta) },
			})
			got := outcome{want.Command, short(deltas.String()), short(ran.Output.Text), ran.ExitCode, ran.Output.Truncation != nil}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
			if got.Truncated {
				checkLog(t, ran.Output, dir, deltas.String())
			}
		})
	}
}

func short(text string) any {
	const long = 400
	if len(text) <= long {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return map[string]any{"bytes": float64(len(text)), "sha256": hex.EncodeToString(sum[:])}
}
