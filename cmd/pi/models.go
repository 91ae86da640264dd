package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"text/tabwriter"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/adapters"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
)

// models gives the session its models: from the catalogue, with the adapters
// that speak to them.
type models struct {
	catalogue *config.Catalogue
	images    resizer

	mu         sync.Mutex
	settings   config.Settings // of the folder that the session works in
	byAPI      map[string]provider.Provider
	registered map[string]registeredProvider // by extensions, by provider
}

func newModels(catalogue *config.Catalogue, settings config.Settings) *models {
	return &models{
		catalogue: catalogue, settings: settings,
		byAPI: map[string]provider.Provider{}, registered: map[string]registeredProvider{},
	}
}

// use makes other settings hold, from the next model call on.
func (m *models) use(settings config.Settings) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if settings.StreamIdleTimeout != m.settings.StreamIdleTimeout || settings.HTTPProxy != m.settings.HTTPProxy {
		m.byAPI = map[string]provider.Provider{} // they were made for other settings
	}
	m.settings = settings
}

func (m *models) inForce() config.Settings {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.settings
}

// Available implements session.Models.
func (m *models) Available() []message.Model { return m.catalogue.Available() }

// Find implements session.Models.
func (m *models) Find(provider, id string) (message.Model, bool) {
	return m.catalogue.FindUsable(provider, id)
}

// Connect implements session.Models.
func (m *models) Connect(ctx context.Context, model message.Model) (session.Connection, error) {
	adapter := m.streamOf(model)
	if adapter == nil && model.API == streamedAPI {
		return session.Connection{}, fmt.Errorf("no extension streams the answers of %s/%s any more: choose another model", model.Provider, model.ID)
	}
	if adapter == nil {
		var err error
		if adapter, err = m.adapter(model.API); err != nil {
			return session.Connection{}, fmt.Errorf("model %s/%s: %w", model.Provider, model.ID, err)
		}
	}
	access, err := m.catalogue.Access(ctx, model)
	if err != nil {
		return session.Connection{}, err
	}
	return session.Connection{
		Provider: &guard{adapter, m.catalogue, m.inForce(), &m.images}, APIKey: access.APIKey, BaseURL: access.BaseURL, Headers: access.Headers, Compat: access.Compat,
	}, nil
}

func (m *models) adapter(api string) (provider.Provider, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if adapter, ok := m.byAPI[api]; ok {
		return adapter, nil
	}
	options := provider.Options{
		IdleTimeout: m.settings.StreamIdleTimeout,
		LongCache:   os.Getenv("PI_CACHE_RETENTION") == "long", // as the reference agent reads it
	}
	if m.settings.HTTPProxy != "" {
		options.Transport = proxied(m.settings.HTTPProxy)
	}
	adapter, err := adapters.ForAPI(api, options)
	if err != nil {
		return nil, err
	}
	m.byAPI[api] = adapter
	return adapter, nil
}

// chosen is the model that a session begins with.
type chosen struct {
	model    *message.Model
	thinking message.ThinkingLevel // empty: nothing named one
	none     string                // why there is no model, and what to do
	// byDefault: no flag named it, and the session did not have it.
	byDefault bool
}

// chooseModel finds the model: by flag, else the one that the session had,
// else by the settings, else the first that can be used. A flag that names none
// is an error, unless extensions are yet to come up, which may bring it.
func (p *process) chooseModel(had store.BranchState, extensionsCome bool) (chosen, error) {
	c := chosen{}
	if p.options.model != "" || p.options.provider != "" {
		selection, err := p.catalogue.Resolve(p.options.model, p.options.provider)
		if err != nil && extensionsCome {
			c.none = err.Error()
			return c, nil
		}
		if err != nil {
			return chosen{}, err
		}
		if p.options.apiKey != "" {
			p.catalogue.SetAPIKey(selection.Model.Provider, p.options.apiKey)
		}
		return c.take(p, selection), nil
	}
	if model, ok := p.catalogue.FindUsable(had.Provider, had.ModelID); ok {
		c.model = &model
		return c, nil
	}
	c.byDefault = true
	scoped, _ := p.catalogue.Scoped(p.settings().EnabledModels) // see folderOf
	selection, err := p.catalogue.Default(p.settings().DefaultProvider, p.settings().DefaultModel, scoped)
	if err != nil {
		c.none = err.Error()
		return c, nil
	}
	return c.take(p, selection), nil
}

// chooseLater chooses once the extensions are up, where the first choice was
// none or a default and they have brought providers.
func (p *process) chooseLater(first chosen, had store.BranchState) func() (*message.Model, message.ThinkingLevel) {
	return func() (*message.Model, message.ThinkingLevel) {
		choice := first
		if p.models.anyRegistered() && (first.model == nil || first.byDefault) {
			choice, _ = p.chooseModel(had, true) // with extensions it has no error
		}
		switch {
		case choice.model == nil && !choice.byDefault: // of a default a prompt will say it soon enough
			warn(p.std.err, "%s", choice.none)
			return nil, ""
		case choice.model == first.model:
			return nil, ""
		}
		return choice.model, p.thinking(choice, had)
	}
}

func (c chosen) take(p *process, s config.Selection) chosen {
	if s.Warning != "" {
		warn(p.std.err, "%s", s.Warning)
	}
	c.model, c.thinking = &s.Model, s.Thinking
	return c
}

// listModels prints the models that can be used, or those that fit a word.
func (p *process) listModels() error {
	query := p.options.search
	if query == listAllModels {
		query = ""
		if len(p.options.messages) > 0 {
			query = p.options.messages[0]
		}
	}
	list := p.catalogue.Search(query)
	switch {
	case len(list) == 0 && len(p.catalogue.Search("")) > 0:
		fmt.Fprintf(p.std.err, "No model fits %q. `pi --list-models` lists those that you have keys for.\n", query)
		return nil
	case len(list) == 0:
		fmt.Fprintf(p.std.err, "No provider has a key: set e.g. ANTHROPIC_API_KEY, or run `pi auth set <provider>`. The model of `--provider demo` needs none.\n")
		return nil
	}
	return printModels(p.std.out, list)
}

func printModels(to io.Writer, list []message.Model) error {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PROVIDER\tMODEL\tCONTEXT\tANSWER\tTHINKING\tIMAGES")
	for _, m := range list {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\t%s\n", m.Provider, m.ID, m.ContextWindow, m.MaxTokens, yesNo(m.Reasoning), yesNo(m.TakesImages()))
	}
	return table.Flush()
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
