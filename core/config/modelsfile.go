package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/readfile"
)

// ProviderConfig is one provider of models.json, or one that an extension
// registers. The form is that of the reference agents.
type ProviderConfig struct {
	Name       string            `json:"name,omitempty"` // for people; empty: the id
	BaseURL    string            `json:"baseUrl,omitempty"`
	API        string            `json:"api,omitempty"`
	APIKey     string            `json:"apiKey,omitempty"` // literal, $NAME, ${NAME} or !command
	Headers    map[string]string `json:"headers,omitempty"`
	AuthHeader bool              `json:"authHeader,omitempty"` // also send Authorization: Bearer <key>
	Compat     json.RawMessage   `json:"compat,omitempty"`     // quirks of the server, for its adapter
	Models     []ModelConfig     `json:"models,omitempty"`
	// ModelOverrides change models that are there without it, by id.
	ModelOverrides map[string]ModelConfig `json:"modelOverrides,omitempty"`
	// NoKey marks a provider that is used without a key, e.g. one whose
	// streaming an extension does itself. It is not part of models.json.
	NoKey bool `json:"-"`
}

// ModelConfig is one model of models.json; nil and zero fields are left to
// the defaults, or to the model that is overridden.
type ModelConfig struct {
	ID             string                            `json:"id"`
	Name           string                            `json:"name,omitempty"`
	API            string                            `json:"api,omitempty"`
	BaseURL        string                            `json:"baseUrl,omitempty"`
	Reasoning      *bool                             `json:"reasoning,omitempty"`
	ThinkingLevels map[message.ThinkingLevel]*string `json:"thinkingLevelMap,omitempty"`
	Input          []string                          `json:"input,omitempty"`
	Cost           *PriceConfig                      `json:"cost,omitempty"`
	ContextWindow  int64                             `json:"contextWindow,omitempty"` // tokens
	MaxTokens      int64                             `json:"maxTokens,omitempty"`     // tokens
	SamplingParams map[string]json.RawMessage        `json:"samplingParams,omitempty"`
	Headers        map[string]string                 `json:"headers,omitempty"`
	Compat         json.RawMessage                   `json:"compat,omitempty"`
}

// PriceConfig is what a model costs in dollars per million tokens; nil fields
// keep what is there.
type PriceConfig struct {
	Input      *float64 `json:"input,omitempty"`
	Output     *float64 `json:"output,omitempty"`
	CacheRead  *float64 `json:"cacheRead,omitempty"`
	CacheWrite *float64 `json:"cacheWrite,omitempty"`
}

// modelsFile is models.json as it was read: providers in the file's order.
type modelsFile struct {
	order     []string
	providers map[string]ProviderConfig
}

// readModelsFile reads models.json. What cannot be used is left out with a
// warning; a file that is missing is an empty one.
func readModelsFile(path string) (modelsFile, []Warning) {
	data, err := readfile.OrPipe(path, readfile.Largest)
	if errors.Is(err, os.ErrNotExist) {
		return modelsFile{}, nil
	}
	if err != nil {
		return modelsFile{}, []Warning{{File: path, Message: fmt.Sprintf("cannot be read, so no provider of it is known: %v", err)}}
	}
	return parseModelsFile(source{path, data})
}

func parseModelsFile(s source) (modelsFile, []Warning) {
	file := modelsFile{providers: map[string]ProviderConfig{}}
	if w, ok := checkObject(s); !ok {
		w.Message += "; no provider of this file is known"
		return file, []Warning{w}
	}
	var warnings []Warning
	top, _ := members(s.data, 0) // it was just found to be an object
	for _, m := range top {
		if m.name != "providers" {
			continue
		}
		list, err := members(m.value, m.offset)
		if err != nil {
			warnings = append(warnings, s.warn(m.offset, "providers", "expected an object of providers by name; it is left out"))
			continue
		}
		for _, p := range list {
			config, w := decodeProvider(s, p)
			warnings = append(warnings, w...)
			if config != nil {
				file.order = append(file.order, p.name)
				file.providers[p.name] = *config
			}
		}
	}
	return file, warnings
}

// decodeProvider reads one provider. A member of the wrong type is left out,
// the rest is used; only what is no object at all gives no provider.
func decodeProvider(s source, m member) (*ProviderConfig, []Warning) {
	key := "providers." + m.name
	var config ProviderConfig
	var warnings []Warning
	if err := json.Unmarshal(m.value, &config); err != nil {
		var mistyped *json.UnmarshalTypeError
		if !errors.As(err, &mistyped) || mistyped.Field == "" {
			return nil, []Warning{s.warn(m.offset, key, "expected an object; the provider is left out")}
		}
		warnings = append(warnings, s.warn(m.offset+mistyped.Offset, key+"."+mistyped.Field,
			"expected %s, found %s; it is ignored", jsonKind(mistyped.Type), mistyped.Value))
	}
	models := config.Models[:0]
	for i, model := range config.Models {
		if model.ID == "" {
			warnings = append(warnings, s.warn(m.offset, fmt.Sprintf("%s.models[%d].id", key, i), "expected the model's id; the model is left out"))
			continue
		}
		models = append(models, model)
	}
	config.Models = models
	return &config, warnings
}
