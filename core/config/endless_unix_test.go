//go:build unix

package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-54e836f5/pi/core/config"
)

// A file of pi that has no end, or waits for a writer, is told of as one that
// cannot be read, and is what it was afterwards.
func TestFilesWithoutAnEnd(t *testing.T) {
	device := func(path string) error { return os.Symlink("/dev/zero", path) }
	pipe := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	large := func(path string) error {
		return errors.Join(os.WriteFile(path, []byte("{}"), 0o600), os.Truncate(path, 17<<20))
	}
	settings := func(path string) []config.Warning {
		return config.LoadSettings(config.SettingsOptions{Paths: config.Paths{AgentDir: filepath.Dir(path)}}).Warnings
	}
	models := func(path string) []config.Warning {
		_, warnings := config.OpenCatalogue(config.CatalogueOptions{ModelsFile: path})
		return warnings
	}
	auth := func(path string) []config.Warning {
		_, warnings := config.OpenCatalogue(config.CatalogueOptions{Auth: config.NewAuth(path)})
		return warnings
	}
	set := func(path string) error {
		return config.UpdateSetting(path, "theme", func(json.RawMessage) (any, error) { return "x", nil })
	}
	store := func(path string) error { return config.NewAuth(path).Set("openai", "sk") }
	for _, c := range []struct {
		name, file string
		make       func(path string) error
		warnings   func(path string) []config.Warning // nil: reading it is not tried
		change     func(path string) error            // nil: pi never changes it
	}{
		{"settings, a device", "settings.json", device, settings, set},
		{"settings, a pipe", "settings.json", pipe, settings, set},
		{"settings, too large", "settings.json", large, settings, set},
		{"models, a device", "models.json", device, models, nil},
		{"models, too large", "models.json", large, models, nil},
		{"credentials, a device", "auth.json", device, auth, store},
		{"credentials, too large", "auth.json", large, auth, store},
		{"credentials, a pipe", "auth.json", pipe, nil, store},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(path)
			if c.warnings != nil {
				if w := c.warnings(path); len(w) != 1 || !strings.Contains(w[0].String(), path) {
					t.Errorf("warnings: %v", w)
				}
			}
			if c.change != nil {
				if err := c.change(path); !errors.Is(err, config.ErrUnreadable) || !strings.Contains(err.Error(), path) {
					t.Errorf("change: %v", err)
				}
			}
			after, err := os.Lstat(path)
			if err != nil || !os.SameFile(before, after) || before.Mode() != after.Mode() || before.Size() != after.Size() {
				t.Errorf("it was %v, and is %v, %v", before, after, err)
			}
		})
	}
}

func TestModelsAndCredentialsFromAPipe(t *testing.T) {
	serve := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		go func() { served <- os.WriteFile(path, []byte(text), 0o600) }()
		t.Cleanup(func() {
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
		return path
	}
	c, warnings := config.OpenCatalogue(config.CatalogueOptions{ModelsFile: serve("models.json", mockModels)})
	if _, err := c.Resolve("m1", "mock"); err != nil || len(warnings) > 0 {
		t.Errorf("models: %v, %v", err, warnings)
	}
	key, there, err := config.NewAuth(serve("auth.json", `{"openai": {"type": "api_key", "key": "sk"}}`)).Get("openai")
	if err != nil || !there || key.Key != "sk" {
		t.Errorf("credentials: %v, %v, %v", key, there, err)
	}
}
