package config

import (
	"fmt"
	"slices"

	"github.com/seed-54e836f5/pi/core/message"
)

// Default chooses the model to begin with when none was asked for: the one of
// the settings if it can be used and is in scope, else the first in scope,
// else the first available. The demo model is chosen only if the settings
// name it. Without any it gives an error that wraps ErrNoModel and says what
// to set.
func (c *Catalogue) Default(provider, model string, scoped []Selection) (Selection, error) {
	wanted, warning := c.defaultOf(provider, model)
	if wanted != nil && (len(scoped) == 0 || slices.ContainsFunc(scoped, func(s Selection) bool {
		return s.Model.Provider == wanted.Provider && s.Model.ID == wanted.ID
	})) {
		return Selection{Model: *wanted}, nil
	}
	if len(scoped) > 0 {
		return scoped[0], nil
	}
	for _, id := range c.Providers() {
		if !c.listed(id) {
			continue
		}
		if list := c.provider(id).list(); len(list) > 0 {
			return Selection{Model: list[0], Warning: warning}, nil
		}
	}
	text := "set the API key of a service, e.g. ANTHROPIC_API_KEY, or run `pi auth set <provider>`, or add a provider to models.json, or try `--provider demo`, which needs no key"
	if warning != "" {
		text = warning + " Also: " + text
	}
	return Selection{}, fmt.Errorf("%w: %s", ErrNoModel, text)
}

// defaultOf gives the model that the settings name; nil: none, or one that
// cannot be used, which the warning says.
func (c *Catalogue) defaultOf(provider, model string) (*message.Model, string) {
	if provider == "" && model == "" {
		return nil, ""
	}
	wanted, err := c.Resolve(model, provider)
	if err != nil {
		return nil, fmt.Sprintf("The default model of the settings cannot be used: %v.", err)
	}
	if !c.HasCredentials(wanted.Model.Provider) {
		return nil, fmt.Sprintf("The default model of the settings, %s/%s, has no API key.", wanted.Model.Provider, wanted.Model.ID)
	}
	return &wanted.Model, ""
}
