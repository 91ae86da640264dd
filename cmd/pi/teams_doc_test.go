package main_test

import (
	"bytes"
	"os"
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

func TestTeamsDocument(t *testing.T) { followDocument(t, "docs/teams.md", 8) }

func TestExtensionsDocument(t *testing.T) { followDocument(t, "sdk/README.md", 5) }

func TestReadmeMakesAnExtension(t *testing.T) {
	_, section, _ := strings.Cut(read(t, "../../README.md"), "## Write an extension\n")
	section, _, _ = strings.Cut(section, "\n## ")
	followText(t, section, 1)
}

// followDocument runs all commands of a page in one shell, as a new user
// would, and looks for what the page says they print. The page has at least so
// many blocks of commands.
func followDocument(t *testing.T, page string, atLeast int) {
	t.Helper()
	followText(t, read(t, filepath.Join("../..", page)), atLeast)
}

func followText(t *testing.T, text string, atLeast int) {
	t.Helper()
	root := absolute(t, "../..")
	blocks := docBlocks(text)
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
		switch name, value, _ := strings.Cut(entry, "="); name {
		case "PI_CODING_AGENT_DIR", "GOPROXY":
		case "PATH":
			shell.Env = append(shell.Env, "PATH="+filepath.Dir(piBinary)+string(os.PathListSeparator)+value)
		default:
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
