package main_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docBlock is a block of commands of a document, and the lines that it says
// they print.
type docBlock struct {
	commands string
	prints   []string
}

var fence = regexp.MustCompile("(?s)```([a-z]*)\n(.*?)```")

func docBlocks(text string) []docBlock {
	var blocks []docBlock
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		switch m[1] {
		case "sh":
			blocks = append(blocks, docBlock{commands: m[2]})
		case "text":
			last := &blocks[len(blocks)-1]
			last.prints = append(last.prints, strings.Split(strings.TrimSpace(m[2]), "\n")...)
		}
	}
	return blocks
}

func TestTeamsDocument(t *testing.T) { followDocument(t, "teams.md", 8) }

// followDocument runs all commands of a page of docs in one shell, as a new
// user would, and looks for what the page says they print. The page has at
// least so many blocks of commands.
func followDocument(t *testing.T, page string, atLeast int) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	blocks := docBlocks(read(t, filepath.Join(root, "docs", page)))
	const mark = "@@ the next block @@"
	script := "set -eu\n"
	for _, b := range blocks {
		script += b.commands + "echo '" + mark + "'\n"
	}
	h := home{agent: t.TempDir(), work: root}
	shell := exec.CommandContext(t.Context(), "sh", "-c", script)
	shell.Dir = root
	for _, entry := range h.environmentWithGo(t) {
		// The page goes by the usual folders.
		if !strings.HasPrefix(entry, "PI_CODING_AGENT_DIR=") && !strings.HasPrefix(entry, "GOPROXY=") {
			shell.Env = append(shell.Env, entry)
		}
	}
	// Nothing leaves the machine: what is needed was fetched for this test.
	shell.Env = append(shell.Env, "GOPROXY=off", "GOSUMDB=off", "GIT_CONFIG_NOSYSTEM=1")
	var output bytes.Buffer
	shell.Stdout, shell.Stderr = &output, &output
	if err := shell.Run(); err != nil {
		t.Fatalf("%v\n%s", err, output.String())
	}
	printed := strings.Split(output.String(), mark+"\n")
	for i, b := range blocks {
		rest := printed[i]
		for _, line := range b.prints {
			at := strings.Index(rest, line)
			if at < 0 {
				t.Errorf("%s\nprints\n%s\nwithout %q behind the lines before", b.commands, printed[i], line)
				break
			}
			rest = rest[at+len(line):]
		}
	}
	if len(blocks) < atLeast {
		t.Errorf("the page has %d blocks", len(blocks))
	}
}
