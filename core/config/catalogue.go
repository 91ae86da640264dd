package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed-54e836f5/pi/core/message"
)

// Errors that callers branch on; they are wrapped in texts that say more.
var (
	ErrUnknownProvider = errors.New("unknown provider")
	ErrUnknownModel    = errors.New("unknown model")
	ErrNoCredentials   = errors.New("no API key")
	ErrNoModel         = errors.New("no model can be used")
)

// CatalogueOptions say where a catalogue takes its parts from.
type CatalogueOptions struct {
	ModelsFile string // models.json; empty: none
	Auth       *Auth  // nil: no stored credentials
	Env        Env    // nil: an empty environment
}

// Catalogue knows providers and models: the built-in list, models.json over
// it, and what extensions register. It finds the credentials of a model when
// a request needs them. Nothing of the built-in list is read before a
// built-in provider matters. Methods may be called from any goroutine; none
// of them touches the network.
type Catalogue struct {
	options  CatalogueOptions
	commands commandCache
	secrets  secretSet

	mu         sync.Mutex
	file       modelsFile
	registered []registration
	keys       map[string]string    // --api-key by provider
	merged     map[string]*provider // what provider made; dropped when a part changes
	demo       bool                 // somebody asked for the demo provider
}

type registration struct {
	id     string
	config ProviderConfig
}

// OpenCatalogue reads models.json. Warnings say what of it cannot be used;
// the rest is.
func OpenCatalogue(options CatalogueOptions) (*Catalogue, []Warning) {
	if options.Env == nil {
		options.Env = func(string) string { return "" }
	}
	if options.Auth == nil {
		options.Auth = NewAuth("")
	}
	c := &Catalogue{options: options, keys: map[string]string{}}
	return c, append(options.Auth.check(), c.Reload()...)
}

// Reload reads models.json again. Models that were handed out stay as they
// are.
func (c *Catalogue) Reload() []Warning {
	var file modelsFile
	var warnings []Warning
	if c.options.ModelsFile != "" {
		file, warnings = readModelsFile(c.options.ModelsFile)
	}
	c.mu.Lock()
	c.file, c.merged = file, nil
	c.mu.Unlock()
	for _, id := range file.order {
		// Built-in providers have all that a model needs, and looking at one
		// would read its models.
		if _, builtin := serviceOf(id); builtin {
			continue
		}
		if p := c.provider(id); p != nil {
			warnings = append(warnings, p.warningsFor(c.options.ModelsFile)...)
		}
	}
	return warnings
}

// SetAPIKey makes a key count for a provider before all others, in memory
// only: --api-key. An empty key takes it back.
func (c *Catalogue) SetAPIKey(provider, key string) {
	c.secrets.add(key)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys[provider] = key
	if key == "" {
		delete(c.keys, provider)
	}
}

// Register adds a provider of an extension, or changes one that is there:
// with models it replaces the models of a built-in one, without it changes
// address, key and headers only. models.json still comes on top. A second
// registration of an id replaces the first.
func (c *Catalogue) Register(id string, config ProviderConfig) error {
	if id == "" || strings.ContainsAny(id, "/: \t\n") || id == DemoProvider {
		return fmt.Errorf("register provider %q: the id must be a word without slash and colon, and not %s", id, DemoProvider)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	base := c.baseOf(id)
	for _, m := range config.Models {
		switch {
		case m.ID == "":
			return fmt.Errorf("register provider %s: a model has no id", id)
		case m.API == "" && config.API == "" && base.api == "":
			return fmt.Errorf("register provider %s: the model %s has no api; name it for the provider or the model", id, m.ID)
		case m.BaseURL == "" && config.BaseURL == "" && base.baseURL == "" && !config.NoKey:
			return fmt.Errorf("register provider %s: the model %s has no base URL; name it for the provider or the model", id, m.ID)
		}
	}
	c.registered = slices.DeleteFunc(c.registered, func(r registration) bool { return r.id == id })
	c.registered = append(c.registered, registration{id, config})
	delete(c.merged, id)
	return nil
}

// Unregister takes a provider of an extension away; what was there without it
// is there again. It says whether there was one.
func (c *Catalogue) Unregister(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := len(c.registered)
	c.registered = slices.DeleteFunc(c.registered, func(r registration) bool { return r.id == id })
	delete(c.merged, id)
	return len(c.registered) < before
}

// Providers lists the ids of all providers, in the order in which a default
// model is looked for: built-in ones, those of models.json, those of
// extensions, and the demo provider last.
func (c *Catalogue) Providers() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []string
	seen := map[string]bool{DemoProvider: true}
	add := func(id string) {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	for _, s := range services {
		add(s.id)
	}
	for _, id := range c.file.order {
		add(id)
	}
	for _, r := range c.registered {
		add(r.id)
	}
	return append(ids, DemoProvider)
}

// Available lists the models whose providers have credentials. Models of one
// provider stand together, the one to choose by default first. The demo model
// is there only after it was asked for by name.
func (c *Catalogue) Available() []message.Model {
	var models []message.Model
	for _, id := range c.Providers() {
		if c.listed(id) {
			models = append(models, c.provider(id).list()...)
		}
	}
	return models
}

// All lists the models of all providers, with or without credentials, the
// demo model last. It reads the whole catalogue.
func (c *Catalogue) All() []message.Model {
	var models []message.Model
	for _, id := range c.Providers() {
		models = append(models, c.provider(id).list()...)
	}
	return models
}

// Find gives a model by its exact id, with or without credentials.
func (c *Catalogue) Find(provider, id string) (message.Model, bool) {
	return c.provider(provider).find(id)
}

// FindUsable gives a model by its exact id if it has credentials.
func (c *Catalogue) FindUsable(provider, id string) (message.Model, bool) {
	model, ok := c.Find(provider, id)
	return model, ok && c.HasCredentials(provider)
}

// Search lists the available models of which provider/id or name contain all
// words of the query, whatever their case. An empty query gives all.
func (c *Catalogue) Search(query string) []message.Model {
	words := strings.Fields(strings.ToLower(query))
	return slices.DeleteFunc(c.Available(), func(m message.Model) bool {
		text := strings.ToLower(m.Provider + "/" + m.ID + " " + m.Name)
		return slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	})
}

// listed says whether a provider's models are offered without being named.
func (c *Catalogue) listed(id string) bool {
	if id == DemoProvider {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.demo
	}
	return c.HasCredentials(id)
}

func (c *Catalogue) askedForDemo() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.demo = true
}

// known says whether a provider of this id exists, without parsing anything.
func (c *Catalogue) known(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, builtin := serviceOf(id)
	_, inFile := c.file.providers[id]
	return builtin || inFile || id == DemoProvider || c.registrationOf(id) != nil
}

// provider gives a provider with all its parts merged; nil: there is none.
func (c *Catalogue) provider(id string) *provider {
	env := c.envOf(id) // it may read auth.json, so not under the lock
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, done := c.merged[id]; done {
		return p
	}
	p := c.merge(id, env)
	if c.merged == nil {
		c.merged = map[string]*provider{}
	}
	c.merged[id] = p
	return p
}

// merge puts the parts of a provider together: built-in, extension, file. It
// is called with the lock held.
func (c *Catalogue) merge(id string, env Env) *provider {
	if id == DemoProvider {
		return demoProvider()
	}
	service, builtin := serviceOf(id)
	config, inFile := c.file.providers[id]
	registered := c.registrationOf(id)
	if !builtin && !inFile && registered == nil {
		return nil
	}
	p := c.baseOf(id)
	if builtin && (registered == nil || len(registered.config.Models) == 0) {
		p.models = modelsOf(service, env)
	}
	if registered != nil {
		p.apply(registered.config)
	}
	if inFile {
		p.apply(config)
	}
	return p
}

// baseOf makes a provider with what is built in about it, without models.
func (c *Catalogue) baseOf(id string) *provider {
	p := &provider{id: id, name: id}
	if s, ok := serviceOf(id); ok {
		p.api, p.baseURL, p.keyVariables, p.addressFrom = s.api, s.baseURL, s.keys, s.addressFrom
	}
	return p
}

func (c *Catalogue) registrationOf(id string) *registration {
	for i := range c.registered {
		if c.registered[i].id == id {
			return &c.registered[i]
		}
	}
	return nil
}

// envOf gives the environment as a provider sees it: the values of its entry
// in auth.json, then the process's.
func (c *Catalogue) envOf(id string) Env {
	credential, _, err := c.options.Auth.Get(id)
	if err != nil || len(credential.Env) == 0 {
		return c.options.Env
	}
	own := maps.Clone(credential.Env)
	return func(name string) string {
		if v := own[name]; v != "" {
			return v
		}
		return c.options.Env(name)
	}
}
