package main_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/provider"
)

func TestSessionsDocument(t *testing.T) { followDocument(t, "docs/sessions.md", 5) }

func TestModelsDocument(t *testing.T) { followDocument(t, "docs/models.md", 3) }

// The statuses that docs/sessions.md lists are asked again, or not, as it says.
func TestRetryTableOfTheDocument(t *testing.T) {
	status := regexp.MustCompile(`\b[45]\d\d\b`)
	checked := 0
	for line := range strings.Lines(read(t, filepath.Join("..", "..", "docs", "sessions.md"))) {
		cells := strings.Split(line, " | ")
		if len(cells) != 2 {
			continue
		}
		for _, digits := range status.FindAllString(cells[0], -1) {
			code, err := strconv.Atoi(digits)
			if err != nil {
				t.Fatal(err)
			}
			class := provider.Classify(code, "")
			if want := strings.HasPrefix(cells[1], "yes"); want != (class == provider.Retryable) {
				t.Errorf("status %d is of class %s, and the page says %q", code, class, cells[1])
			}
			if want := strings.Contains(cells[1], "compacted"); want != (class == provider.Overflow) {
				t.Errorf("status %d is of class %s, and the page says %q", code, class, cells[1])
			}
			checked++
		}
	}
	if checked < 15 {
		t.Errorf("the page's table has %d statuses", checked)
	}
}
