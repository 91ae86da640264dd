package main

import (
	"testing"

	"github.com/seed-54e836f5/pi/sdk"
	"github.com/seed-54e836f5/pi/sdk/sdktest"
)

func TestMatch(t *testing.T) {
	for file, want := range map[string]string{
		"main.go": "", "src/.env": ".env", "/home/ada/.env.local": ".env.*", "keys/server.pem": "*.pem", ".git/config": ".git/",
		"a/../.git/hooks/pre-commit": ".git/", ".github/workflows/ci.yml": "", "environment.go": "", "web/node_modules/x/y.js": "node_modules/",
	} {
		if got := match(file, protected); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

func TestWritesToProtectedFilesAreRefused(t *testing.T) {
	pi := sdktest.Start(t, register, sdktest.WithFlag("protect", "CHANGELOG.md, vendor/"))
	for file, blocked := range map[string]bool{"main.go": false, ".env": true, "CHANGELOG.md": true, "vendor/a/b.go": true} {
		result, err := sdktest.Decide(pi, sdk.ToolCall, &sdk.ToolCallEvent{ToolName: "write", Input: sdk.Raw(`{"path":"` + file + `","content":""}`)})
		if err != nil || (result != nil && result.Block) != blocked {
			t.Errorf("%s: %+v, %v", file, result, err)
		}
	}
	pi.WantNotice("Kept the model from changing .env")
}
