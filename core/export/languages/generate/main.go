// Command generate takes from chroma's module what core/export/languages keeps:
// the files of the languages that coding sessions are about, their licence, and
// the colours of one light and one dark style. It imports nothing of this
// module.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/styles"
)

const module = "github.com/alecthomas/chroma/v2"

// kept are the names of chroma's files.
var kept = strings.Fields(`
	awk bash bash_session batchfile c c# c++ clojure cmake css csv cue dart diff docker elixir elm erlang fish fsharp
	gdscript gherkin glsl go_template graphql groovy haskell hcl html ini java javascript json julia kotlin lua
	makefile matlab meson nginx_configuration_file nim nix objective-c ocaml perl plaintext postgresql_sql_dialect
	powershell prolog properties protocol_buffer puppet python r react rego ruby rust sass scala scheme scss sed
	solidity sql swift systemd systemverilog tcl terraform tex thrift toml twig typescript v vala verilog vhdl
	viml vue wat xml yaml zig`)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: generate FOLDER")
	}
	if err := generate(os.Args[1]); err != nil {
		log.Fatal("generate: ", err)
	}
}

func generate(folder string) error {
	found, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return fmt.Errorf("find %s: %w", module, err)
	}
	source := strings.TrimSpace(string(found))
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := take(filepath.Join(source, "COPYING"), filepath.Join(folder, "LICENSE")); err != nil {
		return err
	}
	for _, name := range kept {
		if err := take(filepath.Join(source, "lexers", "embedded", name+".xml"), filepath.Join(folder, name+".xml")); err != nil {
			return err
		}
	}
	style, err := style()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "style.css"), style, 0o644)
}

func take(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

func style() ([]byte, error) {
	formatter := html.New(html.WithClasses(true))
	var css bytes.Buffer
	for _, each := range []struct{ media, style string }{
		{"print, (prefers-color-scheme: light)", "github"},
		{"screen and (prefers-color-scheme: dark)", "github-dark"},
	} {
		fmt.Fprintf(&css, "@media %s {\n", each.media)
		if err := formatter.WriteCSS(&css, styles.Get(each.style)); err != nil {
			return nil, err
		}
		css.WriteString("}\n")
	}
	return css.Bytes(), nil
}
