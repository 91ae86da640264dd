package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-54e836f5/pi/core/config"
)

func write(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAuthSetListRemove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent", "auth.json")
	auth := config.NewAuth(path)
	if list, err := auth.List(); err != nil || len(list) != 0 {
		t.Fatalf("a missing file gives %v, %v", list, err)
	}
	for _, set := range [][2]string{{"openai", "sk-1"}, {"anthropic", "sk-2"}, {"openai", "sk-3"}} {
		if err := auth.Set(set[0], set[1]); err != nil {
			t.Fatal(err)
		}
	}
	want := "{\n  \"openai\": {\n    \"type\": \"api_key\",\n    \"key\": \"sk-3\"\n  },\n  \"anthropic\": {\n    \"type\": \"api_key\",\n    \"key\": \"sk-2\"\n  }\n}\n"
	if got := read(t, path); got != want {
		t.Errorf("the file is\n%s", got)
	}
	for name, wantMode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != wantMode {
			t.Errorf("%s: mode %v, %v; want %v", name, info.Mode(), err, wantMode)
		}
	}
	list, err := auth.List()
	if err != nil || len(list) != 2 || list[0].Provider != "anthropic" || list[1].Key != "sk-3" {
		t.Errorf("list: %+v, %v", list, err)
	}
	if removed, err := auth.Remove("openai"); !removed || err != nil {
		t.Errorf("remove: %v, %v", removed, err)
	}
	if removed, err := auth.Remove("openai"); removed || err != nil {
		t.Errorf("remove again: %v, %v", removed, err)
	}
	if _, ok, _ := auth.Get("openai"); ok {
		t.Error("the removed key is still there")
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestAuthRefusesEmpty(t *testing.T) {
	auth := config.NewAuth(filepath.Join(t.TempDir(), "auth.json"))
	if auth.Set("", "key") == nil || auth.Set("openai", "") == nil {
		t.Error("an empty provider or key was stored")
	}
}

// Logins of the reference agents and entries of their later versions are
// theirs: they stay as they are.
func TestAuthKeepsOthersEntries(t *testing.T) {
	oauth := `"anthropic": {
    "type": "oauth",
    "access": "tok<>&",
    "refresh": "r",
    "expires": 1700000000000,
    "extra": {
      "deep": [
        1,
        2.50
      ]
    }
  }`
	path := write(t, filepath.Join(t.TempDir(), "auth.json"), "{\n  "+oauth+",\n  \"odd\": 5\n}\n")
	auth := config.NewAuth(path)
	if err := auth.Set("openai", "sk-1"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); !strings.Contains(got, oauth) || !strings.Contains(got, `"odd": 5`) {
		t.Errorf("entries were changed:\n%s", got)
	}
	if c, ok, err := auth.Get("anthropic"); err != nil || !ok || c.Type != config.CredentialOAuth || c.Key != "" {
		t.Errorf("the login is %+v, %v, %v", c, ok, err)
	}
	if c, ok, _ := auth.Get("odd"); !ok || c.Type != "unknown" {
		t.Errorf("the odd entry is %+v", c)
	}
}

// A file that was not understood may hold somebody's only copy of a key.
func TestAuthNeverOverwritesWhatItCannotRead(t *testing.T) {
	for name, content := range map[string]string{
		"cut off":   `{"anthropic": {"type": "api_key", "key": "sk-`,
		"not json":  "sk-ant-key\n",
		"not a map": `["sk"]`,
		"trailing":  `{"a": {"type":"api_key","key":"k"}} {`,
		"null":      "null",
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, filepath.Join(t.TempDir(), "auth.json"), content)
			auth := config.NewAuth(path)
			_, removeErr := auth.Remove("anthropic")
			_, _, getErr := auth.Get("anthropic")
			for what, err := range map[string]error{"set": auth.Set("openai", "sk"), "remove": removeErr, "get": getErr} {
				if !errors.Is(err, config.ErrUnreadable) {
					t.Errorf("%s: %v", what, err)
				}
				if err != nil && !strings.Contains(err.Error(), path+":1:") {
					t.Errorf("%s does not say where: %v", what, err)
				}
			}
			if got := read(t, path); got != content {
				t.Errorf("the file was changed to %q", got)
			}
		})
	}
}

func TestAuthSeesOtherProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "auth.json")
	ours, theirs := config.NewAuth(path), config.NewAuth(path)
	for _, key := range []string{"first-key", "second-key-of-another-length"} {
		if err := theirs.Set("openai", key); err != nil {
			t.Fatal(err)
		}
		if c, _, err := ours.Get("openai"); err != nil || c.Key != key {
			t.Errorf("got %q, %v; want %q", c.Key, err, key)
		}
	}
}

func TestAuthLosesNoConcurrentChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "auth.json")
	var all sync.WaitGroup
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	for _, name := range names {
		all.Go(func() {
			if err := config.NewAuth(path).Set(name, "key"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if list, err := config.NewAuth(path).List(); err != nil || len(list) != len(names) {
		t.Errorf("%d of %d keys are there, %v", len(list), len(names), err)
	}
}

func TestAuthKeepsALink(t *testing.T) {
	dir := t.TempDir()
	target := write(t, filepath.Join(dir, "dotfiles", "auth.json"), "{}")
	link := filepath.Join(dir, "auth.json")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := config.NewAuth(link).Set("openai", "sk"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
	if !strings.Contains(read(t, target), "sk") {
		t.Error("the key is not where the link points")
	}
}

func TestAuthNarrowsTheMode(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "auth.json"), "{}")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	_, warnings := config.OpenCatalogue(config.CatalogueOptions{Auth: config.NewAuth(path)})
	if len(warnings) != 1 || !strings.Contains(warnings[0].String(), "chmod 600") {
		t.Errorf("warnings: %v", warnings)
	}
	if err := config.NewAuth(path).Set("openai", "sk"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestDescribeTellsNoKey(t *testing.T) {
	for want, c := range map[string]config.Credential{
		"a stored key that ends in wxyz": {Type: config.CredentialKey, Key: "sk-ant-0123456789-wxyz"},
		"a stored key":                   {Type: config.CredentialKey, Key: "short-key"},
		"made of ${A}_$B":                {Type: config.CredentialKey, Key: "${A}_$B"},
		"what a command prints":          {Type: config.CredentialKey, Key: "!echo $SECRET"},
		"a login of another program":     {Type: config.CredentialOAuth},
		"an entry of another kind":       {Type: "unknown"},
	} {
		if got := c.Describe(); got != want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
