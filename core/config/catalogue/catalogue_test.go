package catalogue_test

import (
	"testing"

	"github.com/seed-54e836f5/pi/core/config/catalogue"
)

func TestLoad(t *testing.T) {
	p, err := catalogue.Load("anthropic")
	if err != nil || len(p.Models) == 0 {
		t.Fatalf("%d models, %v", len(p.Models), err)
	}
	found := false
	for _, m := range p.Models {
		found = found || m.ID == p.Default
		if m.ID == "" || m.Name == "" || m.ContextWindow <= 0 || m.MaxTokens <= 0 || m.Input <= 0 || m.Output <= 0 {
			t.Errorf("odd model %+v", m)
		}
	}
	if !found {
		t.Errorf("the default %q is none of the models", p.Default)
	}
	if _, err := catalogue.Load("nobody"); err == nil {
		t.Error("an unknown provider has models")
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, name := range []string{"anthropic", "openrouter"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := catalogue.Load(name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
