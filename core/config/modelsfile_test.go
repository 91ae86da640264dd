package config

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
)

func TestParseModelsFileWarnings(t *testing.T) {
	for _, c := range []struct {
		name, content string
		providers     []string
		warnings      []string // beginnings; "" is any
	}{
		{"empty object", `{}`, nil, nil},
		{"not json", `{not json`, nil, []string{"models.json:1:2: not JSON"}},
		{"cut off", "{\n  \"providers\": {", nil, []string{"models.json:2:17: not JSON"}},
		{"no object", `[1]`, nil, []string{"models.json:1:1: expected a JSON object"}},
		{"comma", "{\n  \"providers\": {\n    \"a\": {},\n  }\n}", nil, []string{"models.json:4:3: not JSON"}},
		{"providers is a list", `{"providers": []}`, nil, []string{"models.json:1:15: providers: expected an object"}},
		{"one bad of two", "{\"providers\": {\n \"bad\": 5,\n \"good\": {\"models\": [{\"id\": \"m\"}]}}}", []string{"good"},
			[]string{"models.json:2:9: providers.bad: expected an object"}},
		{"mistyped field", "{\"providers\": {\n \"p\": {\"baseUrl\": 7,\n \"api\": \"x\"}}}", []string{"p"},
			[]string{"models.json:2:"}},
		{"mistyped model", "{\"providers\": {\n \"p\": {\"models\": [{\"id\": \"a\", \"contextWindow\": \"200k\"}]}}}", []string{"p"},
			[]string{"models.json:2:"}},
		{"model without id", `{"providers": {"p": {"models": [{"name": "x"}, {"id": "ok"}]}}}`, []string{"p"},
			[]string{"models.json:1:21: providers.p.models[0].id: expected the model's id"}},
		{"order kept", `{"providers": {"z": {}, "a": {}, "m": {}}}`, []string{"z", "a", "m"}, nil},
		{"last of a name counts", `{"providers": {"a": {"api": "1"}, "b": {}, "a": {"api": "2"}}}`, []string{"a", "b"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, warnings := parseModelsFile(source{"models.json", []byte(c.content)})
			if !slices.Equal(file.order, c.providers) {
				t.Errorf("providers %v, want %v", file.order, c.providers)
			}
			if len(warnings) != len(c.warnings) {
				t.Fatalf("warnings %v, want %d", warnings, len(c.warnings))
			}
			for i, w := range warnings {
				if !strings.HasPrefix(w.String(), c.warnings[i]) {
					t.Errorf("warning %q, want %q", w, c.warnings[i])
				}
			}
		})
	}
}

func TestMistypedMemberLeavesTheRest(t *testing.T) {
	file, warnings := parseModelsFile(source{"m", []byte(`{"providers": {"p": {"baseUrl": "http://x", "api": "demo", "headers": [],
		"models": [{"id": "a", "contextWindow": "200k", "maxTokens": 7}, {"id": "b"}]}}}`)})
	p := file.providers["p"]
	if len(warnings) == 0 || p.BaseURL != "http://x" || len(p.Models) != 2 || p.Models[0].MaxTokens != 7 || p.Models[0].ContextWindow != 0 {
		t.Errorf("provider %+v, warnings %v", p, warnings)
	}
	if text := warnings[0].String(); !strings.Contains(text, "providers.p.headers: expected an object, found array") {
		t.Errorf("warning: %s", text)
	}
}

func TestLastOfANameCounts(t *testing.T) {
	file, _ := parseModelsFile(source{"m", []byte(`{"providers": {"a": {"api": "1"}, "a": {"api": "2"}}}`)})
	if got := file.providers["a"].API; got != "2" {
		t.Errorf("api %q", got)
	}
}

func TestPriceOf(t *testing.T) {
	c, _ := OpenCatalogue(CatalogueOptions{})
	for _, want := range []struct {
		provider, id string
		price        message.Price
	}{
		// write above and read below the fresh price, as Anthropic has them
		{"anthropic", "claude-sonnet-4-6", message.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}},
		// the same figure in both places
		{"openai", "gpt-5", message.Price{Input: 1.25, Output: 10, CacheRead: 0.125}},
		// reads only, in either place
		{"openai", "gpt-5.4", message.Price{Input: 2.5, Output: 15, CacheRead: 0.25}},
		{"openai", "o3", message.Price{Input: 2, Output: 8, CacheRead: 0.5}},
	} {
		m, ok := c.Find(want.provider, want.id)
		if !ok || m.Cost != want.price {
			t.Errorf("%s/%s: %v %+v, want %+v", want.provider, want.id, ok, m.Cost, want.price)
		}
	}
	for _, m := range c.All() {
		if m.Cost.CacheRead > m.Cost.Input && m.Cost.CacheWrite == 0 {
			t.Errorf("%s/%s: a cached read costs %v, a fresh one %v", m.Provider, m.ID, m.Cost.CacheRead, m.Cost.Input)
		}
	}
}

// Every service of the table must exist in the catalogue under the name that
// the table has for it, and none may bring another program's headers along.
func TestServicesAreInTheCatalogue(t *testing.T) {
	ids := map[string]bool{}
	for _, s := range services {
		if ids[s.id] {
			t.Errorf("%s comes twice", s.id)
		}
		ids[s.id] = true
		if len(s.keys) == 0 || s.api == "" || s.baseURL == "" && s.addressFrom == nil {
			t.Errorf("%s: the row is not complete: %+v", s.id, s)
		}
		if s.catwalk == "" {
			continue
		}
		models := modelsOf(s, func(string) string { return "" })
		if len(models) == 0 {
			t.Errorf("%s: the catalogue has no models of %q", s.id, s.catwalk)
		}
		for _, e := range models {
			m := e.Model
			if m.ID == "" || m.Name == "" || m.ContextWindow <= 0 || m.MaxTokens <= 0 || len(m.Input) == 0 || m.Provider != s.id || e.headers != nil {
				t.Errorf("%s: odd model %+v", s.id, m)
			}
		}
	}
}

func FuzzModelsFile(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"providers":{"p":{"baseUrl":"u","api":"a","apiKey":"$K","models":[{"id":"m","cost":{"input":1},"thinkingLevelMap":{"off":null,"max":"x"}}]}}}`,
		`{"providers":{"anthropic":{"modelOverrides":{"claude-opus-4-6":{"maxTokens":1}}}}}`, `{"providers":{"p":5}}`, `{not json`, `null`, "\xff",
		`{"providers":{"p":{"compat":{"a":1},"models":[{"id":"m","compat":{"b":2},"samplingParams":{"t":1}}]}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, warnings := parseModelsFile(source{"models.json", data})
		for _, w := range warnings {
			if w.Line < 1 || w.Column < 1 || w.Message == "" {
				t.Errorf("a warning without a place: %+v", w)
			}
		}
		c := &Catalogue{options: CatalogueOptions{Env: func(string) string { return "v" }, Auth: NewAuth("")}, file: file, keys: map[string]string{}}
		for _, id := range file.order {
			for _, m := range c.provider(id).list() {
				if m.ID == "" || m.Provider != id || m.ContextWindow <= 0 || m.MaxTokens <= 0 || len(m.Levels()) == 0 {
					t.Errorf("odd model %+v", m)
				}
				if bytes.ContainsAny(data, "!\\") {
					continue // it may name a command, which is not ours to run
				}
				if _, err := c.Access(t.Context(), m); err != nil && strings.Contains(err.Error(), "\x00") {
					t.Error(err)
				}
			}
		}
	})
}
