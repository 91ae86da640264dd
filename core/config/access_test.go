package config_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/message"
)

// setup is what credentials can come from.
type setup struct {
	models, auth string
	flag         string
	env          []string
}

func (s setup) open(t *testing.T) *config.Catalogue {
	t.Helper()
	dir := t.TempDir()
	if s.models == "" {
		s.models = "{}"
	}
	if s.auth == "" {
		s.auth = "{}"
	}
	c, warnings := config.OpenCatalogue(config.CatalogueOptions{
		ModelsFile: write(t, filepath.Join(dir, "models.json"), s.models),
		Auth:       config.NewAuth(write(t, filepath.Join(dir, "auth.json"), s.auth)),
		Env:        environment(s.env...),
	})
	if len(warnings) > 0 {
		t.Error(warnings)
	}
	if s.flag != "" {
		c.SetAPIKey("anthropic", s.flag)
	}
	return c
}

func TestWhereAKeyComesFrom(t *testing.T) {
	file := `{"providers": {"anthropic": {"apiKey": "from-file"}}}`
	stored := `{"anthropic": {"type": "api_key", "key": "from-auth"}}`
	env := []string{"ANTHROPIC_API_KEY=from-env", "OTHER=other", "PART=p"}
	for _, c := range []struct {
		name  string
		setup setup
		want  string
	}{
		{"flag first", setup{file, stored, "from-flag", env}, "from-flag"},
		{"flag is literal", setup{flag: "$OTHER", env: env}, "$OTHER"},
		{"flag is no command", setup{flag: "!echo no", env: env}, "!echo no"},
		{"auth.json second", setup{file, stored, "", env}, "from-auth"},
		{"models.json third", setup{models: file, env: env}, "from-file"},
		{"environment last", setup{env: env}, "from-env"},
		{"variable in auth.json", setup{auth: `{"anthropic": {"type": "api_key", "key": "${PART}_$OTHER"}}`, env: env}, "p_other"},
		{"command in auth.json", setup{auth: `{"anthropic": {"type": "api_key", "key": "!echo said"}}`}, "said"},
		{"command in models.json", setup{models: `{"providers": {"anthropic": {"apiKey": "!printf ' said '"}}}`}, "said"},
		{"own environment of the entry", setup{auth: `{"anthropic": {"type": "api_key", "key": "$OTHER", "env": {"OTHER": "own"}}}`, env: env}, "own"},
		{"a login is not a key", setup{auth: `{"anthropic": {"type": "oauth", "access": "a", "refresh": "r"}}`, env: env}, "from-env"},
		{"white space around it", setup{auth: `{"anthropic": {"type": "api_key", "key": " pasted\n"}}`}, "pasted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			catalogue := c.setup.open(t)
			model, ok := catalogue.FindUsable("anthropic", "claude-opus-4-6")
			if !ok {
				t.Fatal("the model does not count as usable")
			}
			if catalogue.KeySource("anthropic") == "" {
				t.Error("the key comes from nowhere")
			}
			access, err := catalogue.Access(t.Context(), model)
			if err != nil || access.APIKey != c.want {
				t.Errorf("got %q, %v; want %q", access.APIKey, err, c.want)
			}
		})
	}
}

func TestSecondVariableOfAService(t *testing.T) {
	c := open(t, `{}`, "GOOGLE_API_KEY=second")
	m, ok := c.FindUsable("google", "gemini-2.5-pro")
	if access, err := c.Access(t.Context(), m); !ok || err != nil || access.APIKey != "second" {
		t.Errorf("got %+v, %v, %v", access, ok, err)
	}
}

func TestMissingKeySaysWhatToSet(t *testing.T) {
	for _, c := range []struct {
		name, provider, model string
		setup                 setup
		want                  []string
	}{
		{"built in", "anthropic", "claude-opus-4-6", setup{}, []string{"ANTHROPIC_API_KEY", "pi auth set anthropic", "--api-key"}},
		{"variable of models.json", "mock", "m1", setup{models: `{"providers": {"mock": {"baseUrl": "u", "api": "demo", "apiKey": "$NOT_SET", "models": [{"id": "m1"}]}}}`}, []string{"mock", "models.json", "NOT_SET"}},
		{"no key in models.json", "mock", "m1", setup{models: `{"providers": {"mock": {"baseUrl": "u", "api": "demo", "models": [{"id": "m1"}]}}}`}, []string{"pi auth set mock"}},
		{"command fails", "mock", "m1", setup{models: `{"providers": {"mock": {"baseUrl": "u", "api": "demo", "apiKey": "!exit 7", "models": [{"id": "m1"}]}}}`}, []string{"exit code 7"}},
		{"header", "mock", "m1", setup{models: `{"providers": {"mock": {"baseUrl": "u", "api": "demo", "apiKey": "x", "headers": {"x-team": "$NOT_SET"}, "models": [{"id": "m1"}]}}}`}, []string{"x-team", "NOT_SET"}},
		{"login only", "anthropic", "claude-opus-4-6", setup{auth: `{"anthropic": {"type": "oauth", "access": "a"}}`}, []string{"login", "ANTHROPIC_API_KEY"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			catalogue := c.setup.open(t)
			model, ok := catalogue.Find(c.provider, c.model)
			if !ok {
				t.Fatal("the model is not known")
			}
			_, err := catalogue.Access(t.Context(), model)
			if !errors.Is(err, config.ErrNoCredentials) {
				t.Fatalf("got %v", err)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
	if _, err := open(t, `{}`).Access(t.Context(), message.Model{Provider: "gone", ID: "x"}); !errors.Is(err, config.ErrUnknownProvider) {
		t.Errorf("an unknown provider gives %v", err)
	}
}

func TestBrokenAuthFileIsTold(t *testing.T) {
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "auth.json"), "{broken")
	c, warnings := config.OpenCatalogue(config.CatalogueOptions{Auth: config.NewAuth(path)})
	if len(warnings) != 1 || !strings.Contains(warnings[0].String(), path+":1:2") {
		t.Errorf("warnings: %v", warnings)
	}
	m, _ := c.Find("anthropic", "claude-opus-4-6")
	if _, err := c.Access(t.Context(), m); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("access: %v", err)
	}
}

func TestHeadersAndCompat(t *testing.T) {
	c := setup{models: `{"providers": {"corp": {
		"baseUrl": "https://corp/v1", "api": "openai-completions", "apiKey": "$KEY", "authHeader": true,
		"headers": {"x-a": "provider", "x-b": "$TOKEN", "x-c": "!echo said"},
		"compat": {"supportsStore": false, "maxTokensField": "max_tokens"},
		"models": [{"id": "m", "headers": {"x-a": "model"}, "compat": {"supportsStore": true}, "samplingParams": {"top_p": 0.5}}, {"id": "plain"}]}}}`,
		env: []string{"KEY=secret-key-1", "TOKEN=secret-token-2"}}.open(t)
	m, _ := c.Find("corp", "m")
	access, err := c.Access(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"x-a": "model", "x-b": "secret-token-2", "x-c": "said", "Authorization": "Bearer secret-key-1"} {
		if access.Headers[name] != want {
			t.Errorf("header %s is %q, want %q", name, access.Headers[name], want)
		}
	}
	if got, want := string(access.Compat), `{"maxTokensField":"max_tokens","samplingParams":{"top_p":0.5},"supportsStore":true}`; got != want {
		t.Errorf("compat %s, want %s", got, want)
	}
	plain, _ := c.Find("corp", "plain")
	if access, err = c.Access(t.Context(), plain); err != nil || access.Headers["x-a"] != "provider" || string(access.Compat) != `{"supportsStore": false, "maxTokensField": "max_tokens"}` {
		t.Errorf("the plain model: %+v, %v", access, err)
	}
	text := "failed with secret-key-1 and secret-token-2 for said"
	if got, want := c.Redact(text), "failed with [redacted] and [redacted] for said"; got != want {
		t.Errorf("redacted: %q", got)
	}
}

func TestForgetAsksTheCommandAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	write(t, file, "old-key")
	c := open(t, `{"providers": {"corp": {"baseUrl": "u", "api": "demo", "apiKey": "!cat '`+file+`'", "headers": {"x": "!cat '`+file+`'"}, "models": [{"id": "m"}]}}}`)
	m, _ := c.Find("corp", "m")
	for _, step := range []struct {
		write, want string
		forget      bool
	}{{"old-key", "old-key", false}, {"new-key", "old-key", false}, {"new-key", "new-key", true}} {
		write(t, file, step.write)
		if step.forget {
			c.Forget("corp")
		}
		if access, err := c.Access(t.Context(), m); err != nil || access.APIKey != step.want || access.Headers["x"] != step.want {
			t.Errorf("got %+v, %v; want %q", access, err, step.want)
		}
	}
	c.Forget("nobody")
}

func TestAzureAddress(t *testing.T) {
	for _, c := range []struct {
		env  string
		want string
	}{
		{"AZURE_OPENAI_RESOURCE_NAME=corp", "https://corp.openai.azure.com/openai/v1"},
		{"AZURE_OPENAI_BASE_URL=https://corp.ai.azure.com", "https://corp.ai.azure.com/openai/v1"},
		{"AZURE_OPENAI_BASE_URL=https://corp.ai.azure.com/openai/", "https://corp.ai.azure.com/openai/v1"},
		{"AZURE_OPENAI_BASE_URL=http://proxy/custom/v2/", "http://proxy/custom/v2"},
		{"AZURE_OPENAI_BASE_URL=nonsense", ""},
		{"NOTHING=1", ""},
	} {
		catalogue := open(t, `{}`, "AZURE_OPENAI_API_KEY=k", c.env)
		m, ok := catalogue.Find("azure-openai-responses", "gpt-4.1")
		if !ok {
			t.Fatal("the model is not known")
		}
		access, err := catalogue.Access(t.Context(), m)
		if access.BaseURL != c.want || (err == nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), "AZURE_OPENAI_") {
			t.Errorf("%s: %q, %v", c.env, access.BaseURL, err)
		}
	}
	own := open(t, `{"providers": {"azure-openai-responses": {"baseUrl": "http://own"}}}`, "AZURE_OPENAI_API_KEY=k")
	m, _ := own.Find("azure-openai-responses", "gpt-4.1")
	if access, err := own.Access(t.Context(), m); err != nil || access.BaseURL != "http://own" {
		t.Errorf("models.json: %+v, %v", access, err)
	}
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"nothing to hide": "nothing to hide",
		"key sk-ant-" + strings.Repeat("aB3_", 8) + " is wrong": "key [redacted] is wrong",
		"Incorrect API key provided: sk-proj-********abcdWXYZ":  "Incorrect API key provided: [redacted]",
		"?key=AIzaSyA1234567890abcdefghijklmnopqrstuv&alt=sse":  "?key=[redacted]&alt=sse",
		"gsk_abcdefghijklmnop1234 xai-abcdefghijklmnop1234":     "[redacted] [redacted]",
		`{"Authorization": "Bearer abcdef123456"}`:              `{"Authorization": "Bearer [redacted]"}`,
		"a task-oriented sk-shaped word, risk-free":             "a task-oriented sk-shaped word, risk-free",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-_123 ok":  "[redacted] ok",
	} {
		if got := config.Redact(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// Every key that is set must be taken out of texts, also before it was used;
// the dummy keys of local servers are words, and stay.
func TestCatalogueRedactsWhatIsSet(t *testing.T) {
	c := setup{
		models: mockModels,
		auth:   `{"openai": {"type": "api_key", "key": "stored-key-value"}, "groq": {"type": "api_key", "key": "$NAME_ONLY"}}`,
		env:    []string{"ANTHROPIC_API_KEY=env-key-value", "NAME_ONLY=x"},
	}.open(t)
	c.SetAPIKey("mock", "flag-key-value-long")
	c.SetAPIKey("mocko", "flag-key-value")
	got := c.Redact("a stored-key-value b env-key-value c flag-key-value-long d flag-key-value e $NAME_ONLY x")
	if want := "a [redacted] b [redacted] c [redacted] d [redacted] e $NAME_ONLY x"; got != want {
		t.Errorf("got %q", got)
	}
}

func TestKeySource(t *testing.T) {
	c := setup{
		models: `{"providers": {"mock": {"baseUrl": "u", "api": "demo", "apiKey": "x", "models": [{"id": "m1"}]}}}`,
		auth:   `{"groq": {"type": "api_key", "key": "k"}}`, flag: "k", env: []string{"OPENAI_API_KEY=k"},
	}.open(t)
	for provider, want := range map[string]string{
		"anthropic": "--api-key", "groq": "auth.json", "mock": "models.json", "openai": "OPENAI_API_KEY", "xai": "", "demo": "", "nobody": "",
	} {
		if got := c.KeySource(provider); got != want {
			t.Errorf("%s: %q, want %q", provider, got, want)
		}
	}
}

func TestKeyVariables(t *testing.T) {
	got := strings.Join(config.KeyVariables(), " ")
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "GROQ_API_KEY", "AZURE_OPENAI_API_KEY"} {
		if strings.Count(" "+got+" ", " "+name+" ") != 1 {
			t.Errorf("%s is not there once: %s", name, got)
		}
	}
}
