// Package catalogue holds what is known of the models of the usual services.
//
// The data is that of charm.land/catwalk, one file for each of its providers:
// its own embedded list can only be parsed as a whole, which takes longer than
// everything else at a start. After an update of catwalk run go generate.
//
// It imports the standard library only.
package catalogue

import (
	"embed"
	"encoding/json"
	"fmt"
)

//go:generate go run ./generate data

//go:embed data/*.json
var data embed.FS

// Provider is what the catalogue has of one provider.
type Provider struct {
	Default string  `json:"default,omitempty"` // id of the model to choose; empty: not said
	Models  []Model `json:"models"`
}

// Model is one model. Prices are dollars per million tokens, sizes tokens.
type Model struct {
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	Input         float64  `json:"input,omitempty"`
	Output        float64  `json:"output,omitempty"`
	InputCached   float64  `json:"inputCached,omitempty"`  // for most providers what writing to the cache costs
	OutputCached  float64  `json:"outputCached,omitempty"` // for most providers what reading from it costs
	ContextWindow int64    `json:"contextWindow,omitempty"`
	MaxTokens     int64    `json:"maxTokens,omitempty"`
	Reasoning     bool     `json:"reasoning,omitempty"`
	Efforts       []string `json:"efforts,omitempty"` // none, minimal, low, …; empty: not said
	Images        bool     `json:"images,omitempty"`
}

// Load gives a provider by catwalk's name for it. It parses the file each
// time. An error is a fault of the program: the name comes from a table.
func Load(name string) (Provider, error) {
	content, err := data.ReadFile("data/" + name + ".json")
	if err != nil {
		return Provider{}, fmt.Errorf("the catalogue has no provider %q: %w", name, err)
	}
	var p Provider
	if err := json.Unmarshal(content, &p); err != nil {
		return Provider{}, fmt.Errorf("the catalogue of %s: %w", name, err)
	}
	return p, nil
}
