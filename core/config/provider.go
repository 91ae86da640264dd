package config

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/seed-54e836f5/pi/core/message"
)

// What models.json need not say of a model, as the reference has it.
const (
	defaultContextWindow = 128000
	defaultMaxTokens     = 16384
)

// provider is one provider with all its parts merged. It does not change once
// the catalogue has it.
type provider struct {
	id, name     string
	api, baseURL string
	apiKey       string // as models.json or an extension has it; empty: not said
	headers      map[string]string
	authHeader   bool
	noKey        bool
	compat       json.RawMessage
	keyVariables []string
	addressFrom  func(Env) (string, error)
	models       []modelEntry
	problems     []Warning // without the file, which merge does not know
}

// modelEntry is a model with what its requests need beside it.
type modelEntry struct {
	Model    message.Model
	headers  map[string]string
	compat   json.RawMessage
	sampling map[string]json.RawMessage
}

func demoProvider() *provider {
	return &provider{id: DemoProvider, name: DemoProvider, api: APIDemo, noKey: true, models: []modelEntry{{Model: message.Model{
		ID: "demo-1", Name: "Demo (offline)", API: APIDemo, Provider: DemoProvider, Reasoning: true,
		Input: []string{"text", "image"}, ContextWindow: defaultContextWindow, MaxTokens: defaultMaxTokens,
	}}}}
}

// list gives the models; a nil provider has none.
func (p *provider) list() []message.Model {
	if p == nil {
		return nil
	}
	models := make([]message.Model, len(p.models))
	for i, e := range p.models {
		models[i] = e.Model
	}
	return models
}

func (p *provider) find(id string) (message.Model, bool) {
	if e := p.entry(id); e != nil {
		return e.Model, true
	}
	return message.Model{}, false
}

func (p *provider) entry(id string) *modelEntry {
	if p == nil {
		return nil
	}
	for i := range p.models {
		if p.models[i].Model.ID == id {
			return &p.models[i]
		}
	}
	return nil
}

// custom makes a model of an id that the provider does not list: with the
// fields of its first model, or the defaults where it has none.
func (p *provider) custom(id string) message.Model {
	model := message.Model{API: p.api, Provider: p.id, BaseURL: p.baseURL}
	if len(p.models) > 0 {
		model = p.models[0].Model
	}
	model.ID, model.Name = id, id
	fillModel(&model)
	return model
}

func (p *provider) warningsFor(file string) []Warning {
	list := make([]Warning, len(p.problems))
	for i, w := range p.problems {
		w.File = file
		list[i] = w
	}
	return list
}

// apply puts a part of the configuration over what is there.
func (p *provider) apply(c ProviderConfig) {
	if c.Name != "" {
		p.name = c.Name
	}
	if c.API != "" {
		p.api = c.API
	}
	if c.APIKey != "" {
		p.apiKey = c.APIKey
	}
	if c.BaseURL != "" {
		p.baseURL, p.addressFrom = c.BaseURL, nil
		for i := range p.models {
			p.models[i].Model.BaseURL = c.BaseURL
		}
	}
	p.authHeader = p.authHeader || c.AuthHeader
	p.noKey = p.noKey || c.NoKey
	p.headers = mergeMaps(p.headers, c.Headers)
	p.compat = mergeObjects(p.compat, c.Compat)
	for id, override := range c.ModelOverrides {
		if e := p.entry(id); e != nil {
			e.apply(override)
		}
	}
	for _, m := range c.Models {
		p.upsert(m)
	}
}

// upsert adds a model or puts it in place of the one with its id.
func (p *provider) upsert(m ModelConfig) {
	e := modelEntry{Model: message.Model{ID: m.ID, Name: m.ID, API: p.api, Provider: p.id, BaseURL: p.baseURL}}
	e.apply(m)
	fillModel(&e.Model)
	for _, missing := range []struct{ field, value string }{{"api", e.Model.API}, {"baseUrl", e.Model.BaseURL}} {
		if missing.value == "" && !p.noKey && p.addressFrom == nil {
			p.problems = append(p.problems, Warning{
				Key:     fmt.Sprintf("providers.%s.%s", p.id, missing.field),
				Message: fmt.Sprintf("missing, for the provider or for the model %s; the model is left out", m.ID),
			})
			return
		}
	}
	if old := p.entry(m.ID); old != nil {
		*old = e
		return
	}
	p.models = append(p.models, e)
}

// apply puts the fields that a configuration has over a model's.
func (e *modelEntry) apply(m ModelConfig) {
	model := &e.Model
	setIf(&model.Name, m.Name)
	setIf(&model.API, m.API)
	setIf(&model.BaseURL, m.BaseURL)
	setIf(&model.ContextWindow, m.ContextWindow)
	setIf(&model.MaxTokens, m.MaxTokens)
	if m.Reasoning != nil {
		model.Reasoning = *m.Reasoning
	}
	if m.Input != nil {
		model.Input = m.Input
	}
	if m.ThinkingLevels != nil {
		model.ThinkingWords = maps.Clone(m.ThinkingLevels)
	}
	if cost := m.Cost; cost != nil {
		setTo(&model.Cost.Input, cost.Input)
		setTo(&model.Cost.Output, cost.Output)
		setTo(&model.Cost.CacheRead, cost.CacheRead)
		setTo(&model.Cost.CacheWrite, cost.CacheWrite)
	}
	e.headers = mergeMaps(e.headers, m.Headers)
	e.compat = mergeObjects(e.compat, m.Compat)
	e.sampling = mergeMaps(e.sampling, m.SamplingParams)
}

// fillModel gives a model what it must have.
func fillModel(m *message.Model) {
	if m.Name == "" {
		m.Name = m.ID
	}
	if len(m.Input) == 0 {
		m.Input = []string{"text"}
	}
	if m.ContextWindow <= 0 {
		m.ContextWindow = defaultContextWindow
	}
	if m.MaxTokens <= 0 {
		m.MaxTokens = defaultMaxTokens
	}
}

func setIf[T comparable](field *T, value T) {
	var zero T
	if value != zero {
		*field = value
	}
}

func setTo[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// mergeMaps gives a new map of both, the second's values first.
func mergeMaps[V any](a, b map[string]V) map[string]V {
	if len(b) == 0 {
		return a
	}
	out := maps.Clone(b)
	for k, v := range a {
		if _, there := out[k]; !there {
			out[k] = v
		}
	}
	return out
}

// mergeObjects merges the members of two JSON objects, the second's first. A
// value that is no object gives way to one that is.
func mergeObjects(a, b json.RawMessage) json.RawMessage {
	var x, y map[string]json.RawMessage
	if json.Unmarshal(b, &y) != nil || len(y) == 0 {
		return a
	}
	if json.Unmarshal(a, &x) != nil || len(x) == 0 {
		return b
	}
	merged, err := message.Marshal(mergeMaps(x, y))
	if err != nil {
		return b // both were just decoded, so this cannot be
	}
	return merged
}
