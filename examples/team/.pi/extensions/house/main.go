// House is this team's own extension: it tells who owns a file, and keeps the
// model from editing what a generator writes.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() { sdk.Main(register) }

func register(x *sdk.Extension) {
	x.Info("house", "1.0.0")

	x.Command(sdk.Command{
		Name:        "owner",
		Description: "Say who owns a file",
		Run: func(ctx *sdk.CommandContext, file string) error {
			owner, err := ownerOf(ctx.Cwd(), strings.TrimSpace(file))
			if err != nil {
				return err
			}
			return ctx.UI.Notify(owner, sdk.Info)
		},
	})
	sdk.AddTool(x, sdk.Tool{
		Name:        "owner_of",
		Description: "Say who of the team owns a file, and is to be asked before it changes",
		Snippet:     "Say who owns a file",
	}, func(ctx *sdk.ToolContext, in file) (string, error) { return ownerOf(ctx.Cwd(), in.Path) })
	sdk.On(x, sdk.ToolCall, refuseGenerated, sdk.ForTools("write", "edit"))
}

type file struct {
	Path string `json:"path" jsonschema:"the file, relative to the repository"`
}

// refuseGenerated blocks changes of files that say they are generated.
func refuseGenerated(ctx *sdk.Context, e *sdk.ToolCallEvent) (*sdk.ToolCallResult, error) {
	var in file
	if err := json.Unmarshal(e.Input, &in); err != nil {
		return nil, fmt.Errorf("read the path of the call: %w", err)
	}
	path := in.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(ctx.Cwd(), path)
	}
	first, err := firstLine(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // a new file
	}
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(first, "// Code generated ") {
		return nil, nil
	}
	return &sdk.ToolCallResult{Block: true, Reason: in.Path + " is generated: change what it is generated from. It says: " + first}, nil
}

func firstLine(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	line, err := bufio.NewReaderSize(f, 4096).ReadSlice('\n')
	if len(line) > 0 {
		err = nil // a last line without an end, or a long one
	}
	return strings.TrimSpace(string(line)), errors.Join(err, f.Close())
}

// ownerOf finds the longest path of OWNERS that a file is below.
func ownerOf(root, path string) (string, error) {
	f, err := os.Open(filepath.Join(root, "OWNERS"))
	if err != nil {
		return "", fmt.Errorf("find the owner of %s: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	if relative, err := filepath.Rel(root, path); err == nil && filepath.IsAbs(path) {
		path = relative
	}
	owner, longest := "nobody owns "+path, 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) == 2 && fields[0] != "#" && strings.HasPrefix(filepath.ToSlash(path), fields[0]) && len(fields[0]) > longest {
			owner, longest = fields[1]+" owns "+path, len(fields[0])
		}
	}
	return owner, nil
}
