package config_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/message"
)

func TestResolve(t *testing.T) {
	models := `{"providers": {
		"mock": {"baseUrl": "http://x", "api": "demo", "apiKey": "x", "models": [{"id": "m1", "name": "Mock 1"}, {"id": "m2"}, {"id": "llama3.1:8b"}, {"id": "odd:high"}]},
		"router": {"baseUrl": "http://y", "api": "demo", "apiKey": "x", "models": [{"id": "vendor/fast-1"}, {"id": "vendor/fast-2-20250101"}, {"id": "vendor/fast-10"}, {"id": "openai/own"}]}}}`
	for _, c := range []struct {
		pattern, provider string
		want              string // provider/id:level
		warning           string // a part of it
		err               error
	}{
		{pattern: "m1", provider: "mock", want: "mock/m1:"},
		{pattern: "mock/m1", want: "mock/m1:"},
		{pattern: "mock/m1:low", want: "mock/m1:low"},
		{pattern: "mock/m1", provider: "mock", want: "mock/m1:"},
		{pattern: "m2:max", want: "mock/m2:max"},
		{pattern: "MOCK/M1", want: "mock/m1:"},
		{pattern: "m1", provider: "Mock", want: "mock/m1:"},
		{pattern: "", provider: "mock", want: "mock/m1:"},
		{pattern: ":low", provider: "mock", want: "mock/m1:low"},
		{pattern: "mock/", want: "mock/m1:"},
		// colons that belong to the id
		{pattern: "llama3.1:8b", want: "mock/llama3.1:8b:"},
		{pattern: "llama3.1:8b:high", want: "mock/llama3.1:8b:high"},
		{pattern: "odd:high", want: "mock/odd:high:"},
		// a level that is none
		{pattern: "mock/m1:hihg", want: "mock/m1:", warning: `"hihg" is no thinking level`},
		// slashes that belong to the id
		{pattern: "vendor/fast-1", want: "router/vendor/fast-1:"},
		{pattern: "router/vendor/fast-1:off", want: "router/vendor/fast-1:off"},
		{pattern: "openai/own", want: "router/openai/own:"},
		// a part of an id or name: without a date, and the highest version
		{pattern: "fast", want: "router/vendor/fast-10:"},
		{pattern: "mock 1:low", want: "mock/m1:low"},
		{pattern: "2025", provider: "router", want: "router/vendor/fast-2-20250101:"},
		{pattern: "sonnet:high", want: "anthropic/claude-sonnet-5:high"},
		{pattern: "anthropic/haiku", want: "anthropic/claude-haiku-4-5-20251001:"},
		// unknown ids of known providers
		{pattern: "nope", provider: "mock", want: "mock/nope:", warning: `"nope" is not known for mock`},
		{pattern: "nope:low", provider: "mock", want: "mock/nope:low", warning: "not known"},
		{pattern: "mock/nope", want: "mock/nope:", warning: "not known"},
		{pattern: "mistral-large", provider: "mistral", want: "mistral/mistral-large:", warning: "not known"},
		// unknown providers and patterns
		{pattern: "m1", provider: "nope", err: config.ErrUnknownProvider},
		{pattern: "nobody/knows", err: config.ErrUnknownProvider},
		{pattern: "qqqqq", err: config.ErrUnknownModel},
		{pattern: "", err: config.ErrUnknownModel},
		{pattern: "", provider: "mistral", err: config.ErrUnknownModel},
		// the demo provider, by name only
		{pattern: "", provider: "demo", want: "demo/demo-1:"},
		{pattern: "demo/demo-1:low", want: "demo/demo-1:low"},
		{pattern: "demo", want: "demo/demo-1:"},
		{pattern: "offline)", err: config.ErrUnknownModel},
	} {
		t.Run(c.provider+" "+c.pattern, func(t *testing.T) {
			s, err := open(t, models).Resolve(c.pattern, c.provider)
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if c.err != nil {
				return
			}
			if got := s.Model.Provider + "/" + s.Model.ID + ":" + string(s.Thinking); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if c.warning == "" && s.Warning != "" || !strings.Contains(s.Warning, c.warning) {
				t.Errorf("warning %q, want %q", s.Warning, c.warning)
			}
			if s.Model.API == "" || s.Model.ContextWindow == 0 {
				t.Errorf("the model is not complete: %+v", s.Model)
			}
		})
	}
}

func TestUnknownModelCopiesTheFirst(t *testing.T) {
	c := open(t, mockModels)
	s, err := c.Resolve("nope", "mock")
	if err != nil {
		t.Fatal(err)
	}
	want, _ := c.Find("mock", "m1")
	want.ID, want.Name = "nope", "nope"
	a, _ := message.Marshal(s.Model)
	b, _ := message.Marshal(want)
	if string(a) != string(b) {
		t.Errorf("got %s, want %s", a, b)
	}
	if access, err := c.Access(t.Context(), s.Model); err != nil || access.APIKey != "x" {
		t.Errorf("access: %+v, %v", access, err)
	}
}

func TestResolvePrefersCredentials(t *testing.T) {
	c := open(t, `{}`, "OPENROUTER_API_KEY=k")
	for _, pattern := range []string{"claude-sonnet-4.5", "sonnet"} {
		if s, err := c.Resolve(pattern, ""); err != nil || s.Model.Provider != "openrouter" {
			t.Errorf("%s: %s/%s, %v", pattern, s.Model.Provider, s.Model.ID, err)
		}
	}
}

func TestDemoIsNeverChosenSilently(t *testing.T) {
	c := open(t, `{}`)
	if s, err := c.Default("", "", nil); !errors.Is(err, config.ErrNoModel) {
		t.Errorf("default: %+v, %v", s, err)
	} else if !strings.Contains(err.Error(), "ANTHROPIC_API_KEY") || !strings.Contains(err.Error(), "--provider demo") {
		t.Errorf("the error does not say what to do: %v", err)
	}
	if list := c.Available(); len(list) != 0 {
		t.Errorf("available: %v", names(list))
	}
	if found, _ := c.Scoped([]string{"*"}); len(found) != 0 {
		t.Errorf("a glob gives %+v", found)
	}
	if s, err := c.Default("demo", "", nil); err != nil || s.Model.ID != "demo-1" {
		t.Errorf("by the settings: %+v, %v", s, err)
	}
	if list := names(c.Available()); !slices.Equal(list, []string{"demo/demo-1"}) {
		t.Errorf("after it was named: %v", list)
	}
	m, _ := c.Find("demo", "demo-1")
	if access, err := c.Access(t.Context(), m); err != nil || access.APIKey != "" {
		t.Errorf("access: %+v, %v", access, err)
	}
}

func TestDefault(t *testing.T) {
	scope := func(c *config.Catalogue, patterns ...string) []config.Selection {
		s, warnings := c.Scoped(patterns)
		if len(warnings) > 0 {
			t.Error(warnings)
		}
		return s
	}
	for _, c := range []struct {
		name            string
		provider, model string
		scoped          []string
		want, warning   string
	}{
		{name: "first available", want: "mock/m1"},
		{name: "settings", provider: "mocko", model: "o1", want: "mocko/o1"},
		{name: "provider only", provider: "mocko", want: "mocko/o1"},
		{name: "model only", model: "m2", want: "mock/m2"},
		{name: "first in scope", scoped: []string{"mocko/o1", "m1"}, want: "mocko/o1"},
		{name: "settings in scope", provider: "mock", model: "m1", scoped: []string{"mocko/o1", "m1"}, want: "mock/m1"},
		{name: "settings out of scope", provider: "mock", model: "m2", scoped: []string{"mocko/o1"}, want: "mocko/o1"},
		{name: "settings without a key", provider: "anthropic", model: "claude-opus-4-6", want: "mock/m1", warning: "anthropic/claude-opus-4-6, has no API key"},
		{name: "unknown provider", provider: "gone", model: "x", want: "mock/m1", warning: "cannot be used"},
	} {
		t.Run(c.name, func(t *testing.T) {
			catalogue := open(t, mockModels)
			s, err := catalogue.Default(c.provider, c.model, scope(catalogue, c.scoped...))
			if got := s.Model.Provider + "/" + s.Model.ID; err != nil || got != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
			if c.warning == "" && s.Warning != "" || !strings.Contains(s.Warning, c.warning) {
				t.Errorf("warning %q, want %q", s.Warning, c.warning)
			}
		})
	}
}

func TestDefaultOfABuiltinProvider(t *testing.T) {
	c := open(t, `{}`, "ANTHROPIC_API_KEY=sk-1")
	if s, err := c.Default("", "", nil); err != nil || s.Model.ID != "claude-sonnet-4-6" {
		t.Errorf("got %s, %v: the default must be the catalogue's choice, not the dearest model", s.Model.ID, err)
	}
}

func TestScoped(t *testing.T) {
	models := `{"providers": {
		"mock": {"baseUrl": "http://x", "api": "demo", "apiKey": "x", "models": [{"id": "m1"}, {"id": "m2"}]},
		"router": {"baseUrl": "http://y", "api": "demo", "apiKey": "x", "models": [{"id": "vendor/fast-1"}, {"id": "vendor/slow-1"}]},
		"locked": {"baseUrl": "http://y", "api": "demo", "models": [{"id": "m3"}]}}}`
	for _, c := range []struct {
		patterns, want []string // provider/id:level
		warnings       int
	}{
		{nil, nil, 0},
		{[]string{"mock/m1:low", "router/vendor/fast-1"}, []string{"mock/m1:low", "router/vendor/fast-1:"}, 0},
		{[]string{"m*"}, []string{"mock/m1:", "mock/m2:"}, 0},
		{[]string{"M*:high"}, []string{"mock/m1:high", "mock/m2:high"}, 0},
		{[]string{"router/*"}, []string{"router/vendor/fast-1:", "router/vendor/slow-1:"}, 0},
		{[]string{"*/fast-*"}, []string{"router/vendor/fast-1:"}, 0},
		{[]string{"m2", "m*"}, []string{"mock/m2:", "mock/m1:"}, 0}, // each once, first come
		{[]string{"{m2,nothing}"}, []string{"mock/m2:"}, 0},
		{[]string{" m1 "}, []string{"mock/m1:"}, 0},
		{[]string{"slow:off"}, []string{"router/vendor/slow-1:off"}, 0},
		{[]string{"locked/m3"}, nil, 1},
		{[]string{"locked/*"}, nil, 1},
		{[]string{"zzz*", "m1"}, []string{"mock/m1:"}, 1},
		{[]string{"[", "m1:hihg"}, []string{"mock/m1:"}, 2},
	} {
		t.Run(strings.Join(c.patterns, " "), func(t *testing.T) {
			scoped, warnings := open(t, models).Scoped(c.patterns)
			var got []string
			for _, s := range scoped {
				got = append(got, s.Model.Provider+"/"+s.Model.ID+":"+string(s.Thinking))
			}
			if !slices.Equal(got, c.want) || len(warnings) != c.warnings {
				t.Errorf("got %v and the warnings %v, want %v and %d", got, warnings, c.want, c.warnings)
			}
		})
	}
}

func FuzzResolve(f *testing.F) {
	for _, seed := range []string{"m1", "mock/m1:low", "*", "a/b/c:d", ":", "/", "sonnet:", "llama3.1:8b", "[", "m\x00"} {
		f.Add(seed, "mock")
	}
	path := filepath.Join(f.TempDir(), "none.json")
	c, _ := config.OpenCatalogue(config.CatalogueOptions{ModelsFile: path})
	if err := c.Register("mock", config.ProviderConfig{API: "demo", NoKey: true, Models: []config.ModelConfig{{ID: "m1"}, {ID: "llama3.1:8b"}}}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, pattern, provider string) {
		for _, p := range []string{"", provider} {
			s, err := c.Resolve(pattern, p)
			if err == nil && (s.Model.Provider == "" || s.Model.API == "" || s.Model.ID == "" && pattern != "") {
				t.Errorf("%q of %q gives %+v", pattern, p, s)
			}
		}
		scoped, warnings := c.Scoped([]string{pattern})
		if len(scoped) == 0 && len(warnings) == 0 {
			t.Errorf("%q fits nothing, and nobody is told", pattern)
		}
	})
}
