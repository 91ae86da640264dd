package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-54e836f5/pi/core/config/catalogue"
)

// Starting with a provider of models.json must not pay for the embedded
// catalogue.
func TestCatalogueIsNotParsedWithoutNeed(t *testing.T) {
	load := loadBuiltin
	defer func() { loadBuiltin = load }()
	loadBuiltin = func(name string) (catalogue.Provider, error) {
		t.Errorf("the catalogue of %s was parsed", name)
		return load(name)
	}
	path := filepath.Join(t.TempDir(), "models.json")
	if err := os.WriteFile(path, []byte(`{"providers": {"mock": {"baseUrl": "http://x", "api": "anthropic-messages", "apiKey": "x", "models": [{"id": "m1"}]},
		"anthropic": {"baseUrl": "http://proxy"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := OpenCatalogue(CatalogueOptions{ModelsFile: path})
	for _, ask := range [][2]string{{"m1", "mock"}, {"mock/m1:low", ""}, {"m1", ""}, {"other", "mock"}, {"", "demo"}, {"demo/demo-1", ""}} {
		s, err := c.Resolve(ask[0], ask[1])
		if err != nil {
			t.Fatalf("%v: %v", ask, err)
		}
		if _, err := c.Access(t.Context(), s.Model); err != nil {
			t.Errorf("%v: %v", ask, err)
		}
	}
	if _, err := c.Resolve("m1", "nobody"); err == nil {
		t.Error("an unknown provider was found")
	}
	if s, err := c.Default("", "", nil); err != nil || s.Model.ID != "m1" {
		t.Errorf("default: %+v, %v", s, err)
	}
	c.Available()
	c.Scoped([]string{"mock/*", "m1:high"})
	c.Search("x")
}
