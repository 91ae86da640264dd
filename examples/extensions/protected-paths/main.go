// Protected-paths keeps the model from writing to files that people look after
// themselves: keys, lock files, what git keeps.
package main

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() { sdk.Main(register) }

// protected are names, and folders with everything in them.
var protected = []string{".env", ".env.*", "*.pem", "id_*", ".git/", "node_modules/", "go.sum", "package-lock.json"}

func register(x *sdk.Extension) {
	x.Info("protected-paths", "1.0.0")
	extra := x.StringFlag("protect", "More names and folders to protect, with commas between them", "")
	sdk.On(x, sdk.ToolCall, func(ctx *sdk.Context, e *sdk.ToolCallEvent) (*sdk.ToolCallResult, error) {
		return guard(ctx, e, patterns(extra.String()))
	}, sdk.ForTools("write", "edit"))
}

func patterns(extra string) []string {
	list := protected
	for _, pattern := range strings.Split(extra, ",") {
		if pattern = strings.TrimSpace(pattern); pattern != "" {
			list = append(list[:len(list):len(list)], pattern)
		}
	}
	return list
}

func guard(ctx *sdk.Context, e *sdk.ToolCallEvent, patterns []string) (*sdk.ToolCallResult, error) {
	var in struct {
		Path string `json:"path"`
	}
	if err := json.Unmarshal(e.Input, &in); err != nil {
		return nil, fmt.Errorf("read the path: %w", err)
	}
	pattern := match(in.Path, patterns)
	if pattern == "" {
		return nil, nil
	}
	if err := ctx.UI.Notify(fmt.Sprintf("Kept the model from changing %s", in.Path), sdk.Warning); err != nil {
		return nil, err
	}
	return &sdk.ToolCallResult{Block: true, Reason: fmt.Sprintf("%s is protected (%s). Ask the user to change it.", in.Path, pattern)}, nil
}

// match gives the pattern that a path falls under; empty: none.
func match(file string, patterns []string) string {
	parts := strings.Split(filepath.ToSlash(filepath.Clean(file)), "/")
	for _, pattern := range patterns {
		folder, isFolder := strings.CutSuffix(pattern, "/")
		for i, part := range parts {
			last := i == len(parts)-1
			if hit, _ := path.Match(folder, part); hit && last != isFolder {
				return pattern
			}
		}
	}
	return ""
}
