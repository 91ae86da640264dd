package config_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/message"
)

const mockModels = `{"providers": {
	"mock": {"baseUrl": "http://127.0.0.1:1", "api": "anthropic-messages", "apiKey": "x", "models": [
		{"id": "m1", "name": "Mock 1", "reasoning": true, "input": ["text", "image"], "contextWindow": 200000, "maxTokens": 16000,
		 "cost": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}},
		{"id": "m2", "name": "Mock 2"}]},
	"mocko": {"baseUrl": "http://127.0.0.1:1/v1", "api": "openai-completions", "apiKey": "x", "models": [{"id": "o1"}]}}}`

// open makes a catalogue of a models.json and an environment of NAME=value.
func open(t *testing.T, models string, env ...string) *config.Catalogue {
	t.Helper()
	dir := t.TempDir()
	c, warnings := config.OpenCatalogue(config.CatalogueOptions{
		ModelsFile: write(t, filepath.Join(dir, "models.json"), models),
		Auth:       config.NewAuth(filepath.Join(dir, "auth.json")),
		Env:        environment(env...),
	})
	for _, w := range warnings {
		t.Errorf("warning: %s", w)
	}
	return c
}

func environment(pairs ...string) config.Env {
	return func(name string) string {
		for _, pair := range pairs {
			if n, v, _ := strings.Cut(pair, "="); n == name {
				return v
			}
		}
		return ""
	}
}

func names(models []message.Model) []string {
	var list []string
	for _, m := range models {
		list = append(list, m.Provider+"/"+m.ID)
	}
	return list
}

func TestModelsFileDefaults(t *testing.T) {
	c := open(t, mockModels)
	got, ok := c.Find("mocko", "o1")
	want := `{"id":"o1","name":"o1","api":"openai-completions","provider":"mocko","baseUrl":"http://127.0.0.1:1/v1","reasoning":false,"input":["text"],"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"contextWindow":128000,"maxTokens":16384}`
	wire, err := message.Marshal(got)
	if !ok || err != nil || string(wire) != want {
		t.Errorf("the model is %s, %v, %v", wire, ok, err)
	}
	if list := names(c.Available()); !slices.Equal(list, []string{"mock/m1", "mock/m2", "mocko/o1"}) {
		t.Errorf("available: %v", list)
	}
	if m, _ := c.Find("mock", "m1"); m.Cost != (message.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}) || m.ContextWindow != 200000 {
		t.Errorf("the full model is %+v", m)
	}
}

func TestBrokenModelsFileIsEmpty(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "models.json"), "{not json")
	c, warnings := config.OpenCatalogue(config.CatalogueOptions{ModelsFile: path})
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0].String(), path+":1:2: ") {
		t.Errorf("warnings: %v", warnings)
	}
	if _, err := c.Resolve("m1", "mock"); !errors.Is(err, config.ErrUnknownProvider) {
		t.Errorf("the provider of the broken file: %v", err)
	}
	write(t, path, mockModels)
	if warnings := c.Reload(); len(warnings) != 0 {
		t.Errorf("after repair: %v", warnings)
	}
	if _, err := c.Resolve("m1", "mock"); err != nil {
		t.Errorf("after repair: %v", err)
	}
}

func TestModelsWithoutAnAddressAreLeftOut(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "models.json"), `{"providers": {
		"a": {"api": "openai-completions", "models": [{"id": "no-address"}, {"id": "own", "baseUrl": "http://y"}]},
		"b": {"baseUrl": "http://x", "models": [{"id": "no-api"}, {"id": "own", "api": "demo"}]}}}`)
	c, warnings := config.OpenCatalogue(config.CatalogueOptions{ModelsFile: path})
	var text []string
	for _, w := range warnings {
		text = append(text, strings.TrimPrefix(w.String(), path+": "))
	}
	want := []string{
		"providers.a.baseUrl: missing, for the provider or for the model no-address; the model is left out",
		"providers.b.api: missing, for the provider or for the model no-api; the model is left out",
	}
	if !slices.Equal(text, want) {
		t.Errorf("warnings: %q", text)
	}
	for _, provider := range []string{"a", "b"} {
		if _, ok := c.Find(provider, "own"); !ok {
			t.Errorf("%s/own is not there", provider)
		}
	}
}

func TestAvailableNeedsCredentials(t *testing.T) {
	c := open(t, `{"providers": {"mock": {"baseUrl": "http://x", "api": "demo", "apiKey": "$NO_SUCH_VARIABLE", "models": [{"id": "m1"}]}}}`)
	if list := c.Available(); len(list) != 0 {
		t.Errorf("available: %v", names(list))
	}
	if _, ok := c.Find("mock", "m1"); !ok {
		t.Error("the model is not known")
	}
	if _, ok := c.FindUsable("mock", "m1"); ok {
		t.Error("the model counts as usable")
	}
	c.SetAPIKey("mock", "given")
	if _, ok := c.FindUsable("mock", "m1"); !ok {
		t.Error("--api-key does not make it usable")
	}
}

func TestBuiltinProviders(t *testing.T) {
	c := open(t, `{}`, "ANTHROPIC_API_KEY=sk-1", "GEMINI_API_KEY=g", "KIMI_API_KEY=k")
	providers := []string{}
	for _, m := range c.Available() {
		if !slices.Contains(providers, m.Provider) {
			providers = append(providers, m.Provider)
		}
	}
	if !slices.Equal(providers, []string{"anthropic", "google", "kimi-coding"}) {
		t.Errorf("providers: %v", providers)
	}
	opus, ok := c.Find("anthropic", "claude-opus-4-7")
	if !ok || opus.API != "anthropic-messages" || opus.BaseURL != "https://api.anthropic.com" || !opus.TakesImages() {
		t.Errorf("opus: %+v, %v", opus, ok)
	}
	levels := func(provider, id string) string {
		m, ok := c.Find(provider, id)
		if !ok {
			t.Errorf("%s/%s is not known", provider, id)
		}
		return fmt.Sprint(m.Levels())
	}
	for model, want := range map[[2]string]string{
		{"anthropic", "claude-opus-4-7"}:          "[off low medium high xhigh max]",
		{"anthropic", "claude-sonnet-4-20250514"}: "[off minimal low medium high]",
		{"openai", "gpt-5"}:                       "[off minimal low medium high]",
		{"openai", "gpt-5.4"}:                     "[off low medium high xhigh]",
		{"openai", "gpt-4o"}:                      "[off]",
	} {
		if got := levels(model[0], model[1]); got != want {
			t.Errorf("%v has the levels %s, want %s", model, got, want)
		}
	}
}

func TestModelsFileOverBuiltin(t *testing.T) {
	c := open(t, `{"providers": {"anthropic": {
		"baseUrl": "https://proxy.example.com", "headers": {"x-team": "core"}, "compat": {"supportsStore": false},
		"modelOverrides": {
			"claude-opus-4-6": {"name": "Ours", "cost": {"input": 1}, "contextWindow": 5, "thinkingLevelMap": {"off": null}},
			"nobody-has-this": {"name": "x"}},
		"models": [{"id": "claude-sonnet-4-6", "maxTokens": 9}, {"id": "new-one", "api": "openai-completions"}]}}}`, "ANTHROPIC_API_KEY=sk-1")
	overridden, _ := c.Find("anthropic", "claude-opus-4-6")
	if overridden.Name != "Ours" || overridden.Cost.Input != 1 || overridden.Cost.Output != 25 || overridden.ContextWindow != 5 ||
		overridden.BaseURL != "https://proxy.example.com" || slices.Contains(overridden.Levels(), message.ThinkingOff) {
		t.Errorf("the overridden model is %+v", overridden)
	}
	replaced, _ := c.Find("anthropic", "claude-sonnet-4-6")
	if replaced.MaxTokens != 9 || replaced.Reasoning || replaced.API != "anthropic-messages" {
		t.Errorf("the replaced model is %+v", replaced)
	}
	if added, ok := c.Find("anthropic", "new-one"); !ok || added.API != "openai-completions" {
		t.Errorf("the added model is %+v, %v", added, ok)
	}
	if _, ok := c.Find("anthropic", "nobody-has-this"); ok {
		t.Error("an override made a model")
	}
	access, err := c.Access(t.Context(), overridden)
	if err != nil || access.Headers["x-team"] != "core" || access.BaseURL != "https://proxy.example.com" {
		t.Errorf("access: %+v, %v", access, err)
	}
	if got := string(access.Compat); got != `{"forceAdaptiveThinking":true,"supportsStore":false}` {
		t.Errorf("compat: %s", got)
	}
}

func TestRegisteredProviders(t *testing.T) {
	c := open(t, mockModels, "ANTHROPIC_API_KEY=sk-1")
	model := config.ModelConfig{ID: "x1"}
	for id, bad := range map[string]config.ProviderConfig{
		"":     {},
		"a/b":  {},
		"demo": {},
		"ok-1": {Models: []config.ModelConfig{{}}},
		"ok-2": {BaseURL: "http://x", Models: []config.ModelConfig{model}},
		"ok-3": {API: "demo", Models: []config.ModelConfig{model}},
	} {
		if c.Register(id, bad) == nil {
			t.Errorf("%q was registered", id)
		}
	}
	own := config.ProviderConfig{API: "corp-stream", NoKey: true, Models: []config.ModelConfig{model}}
	if err := c.Register("corp", own); err != nil {
		t.Fatal(err)
	}
	if m, ok := c.FindUsable("corp", "x1"); !ok || m.API != "corp-stream" {
		t.Errorf("the registered model is %+v, %v", m, ok)
	}
	if access, err := c.Access(t.Context(), message.Model{Provider: "corp", ID: "x1"}); err != nil || access.APIKey != "" {
		t.Errorf("access: %+v, %v", access, err)
	}
	// Without models it changes what is there; models.json still comes on top.
	before, _ := c.Find("anthropic", "claude-opus-4-6")
	if err := c.Register("anthropic", config.ProviderConfig{BaseURL: "https://gateway"}); err != nil {
		t.Fatal(err)
	}
	if m, _ := c.Find("anthropic", "claude-opus-4-6"); m.BaseURL != "https://gateway" {
		t.Errorf("the address is %s", m.BaseURL)
	}
	if err := c.Register("mock", config.ProviderConfig{API: "demo", BaseURL: "http://z", Models: []config.ModelConfig{{ID: "m1"}, {ID: "m9"}}}); err != nil {
		t.Fatal(err)
	}
	if m, _ := c.Find("mock", "m1"); m.Name != "Mock 1" {
		t.Errorf("the file's model gave way: %+v", m)
	}
	if _, ok := c.Find("mock", "m9"); !ok {
		t.Error("the registered model is not beside the file's")
	}
	for _, id := range []string{"corp", "anthropic", "mock"} {
		if !c.Unregister(id) || c.Unregister(id) {
			t.Errorf("unregister %s", id)
		}
	}
	if _, ok := c.Find("corp", "x1"); ok {
		t.Error("the unregistered provider is still there")
	}
	if m, _ := c.Find("anthropic", "claude-opus-4-6"); m.BaseURL != before.BaseURL {
		t.Errorf("the built-in address did not come back: %s", m.BaseURL)
	}
}

func TestRegisteredModelsReplaceBuiltin(t *testing.T) {
	c := open(t, `{}`, "ANTHROPIC_API_KEY=sk-1")
	if err := c.Register("anthropic", config.ProviderConfig{Models: []config.ModelConfig{{ID: "only"}}}); err != nil {
		t.Fatal(err)
	}
	if list := names(c.Available()); !slices.Equal(list, []string{"anthropic/only"}) {
		t.Errorf("available: %v", list)
	}
}

func TestSearch(t *testing.T) {
	c := open(t, mockModels)
	for query, want := range map[string]int{"": 3, "MOCK 2": 1, "mocko": 1, "mock/": 2, "anthropic": 0, "demo": 0} {
		if got := c.Search(query); len(got) != want {
			t.Errorf("%q finds %v", query, names(got))
		}
	}
}

func TestCatalogueFromManyGoroutines(t *testing.T) {
	c := open(t, mockModels)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			id := fmt.Sprintf("p%d", i)
			if err := c.Register(id, config.ProviderConfig{API: "demo", NoKey: true, Models: []config.ModelConfig{{ID: "m"}}}); err != nil {
				t.Error(err)
			}
			c.SetAPIKey(id, "some-secret-key")
			if m, ok := c.Find(id, "m"); ok {
				if _, err := c.Access(t.Context(), m); err != nil {
					t.Error(err)
				}
			}
			c.Available()
			c.Reload()
			c.Redact("text")
			c.Unregister(id)
		})
	}
	all.Wait()
	if list := names(c.Available()); len(list) != 3 {
		t.Errorf("left: %v", list)
	}
}
