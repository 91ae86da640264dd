package config

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-54e836f5/pi/core/message"
)

// Access is what a request needs beside the model.
type Access struct {
	APIKey  string
	Headers map[string]string // nil: none
	BaseURL string            // empty: the adapter's own
	// Compat has the quirks of the server for its adapter, with the model's
	// samplingParams as a member of that name; nil: none.
	Compat json.RawMessage
}

// HasCredentials says whether a request to the provider can be made as far as
// that can be told without running a command.
func (c *Catalogue) HasCredentials(provider string) bool {
	if provider != DemoProvider && !c.known(provider) {
		return false
	}
	if value, _ := c.keyValue(provider); value != "" {
		return len(missingNames(value, c.envOf(provider))) == 0
	}
	return c.needsNoKey(provider)
}

// KeySource says where the key of a provider would come from: --api-key,
// auth.json, models.json or the name of a variable; empty: there is none.
func (c *Catalogue) KeySource(provider string) string {
	_, source := c.keyValue(provider)
	return source
}

// Access resolves the credentials of a model, for one request. It may run a
// command of the user's, which is done once; ctx bounds the wait for it. An
// error that wraps ErrNoCredentials says what to set. No error holds a key.
func (c *Catalogue) Access(ctx context.Context, model message.Model) (Access, error) {
	p := c.provider(model.Provider)
	if p == nil {
		return Access{}, fmt.Errorf("%w %q: it is neither built in nor in models.json, and no extension has registered it", ErrUnknownProvider, model.Provider)
	}
	env := c.envOf(p.id)
	key, err := c.resolveKey(ctx, p, env)
	if err != nil {
		return Access{}, err
	}
	access := Access{APIKey: key, BaseURL: model.BaseURL, Compat: p.compat}
	if p.addressFrom != nil {
		if access.BaseURL, err = p.addressFrom(env); err != nil {
			return Access{}, fmt.Errorf("the address of %s is not known: %w", p.id, err)
		}
	}
	headers := p.headers
	if e := p.entry(model.ID); e != nil {
		headers = mergeMaps(headers, e.headers)
		access.Compat = mergeObjects(access.Compat, e.compat)
		access.Compat = withSampling(access.Compat, e.sampling)
	}
	access.Headers, err = c.resolveHeaders(ctx, p, headers, env)
	if err == nil && p.authHeader && key != "" {
		access.Headers = mergeMaps(access.Headers, map[string]string{"Authorization": "Bearer " + key})
	}
	return access, err
}

// Forget makes the next request ask the commands of a provider again, which
// is what to do when the service says that a key is no longer good.
func (c *Catalogue) Forget(provider string) {
	if value, _ := c.keyValue(provider); isCommand(value) {
		c.commands.forget(strings.TrimPrefix(value, "!"))
	}
	p := c.provider(provider)
	if p == nil {
		return
	}
	for _, value := range p.headers {
		if isCommand(value) {
			c.commands.forget(strings.TrimPrefix(value, "!"))
		}
	}
}

// Redact takes the keys that are set or were in use, and what looks like one,
// out of a text for people, logs or files.
func (c *Catalogue) Redact(text string) string {
	for _, name := range KeyVariables() {
		c.secrets.add(c.options.Env(name))
	}
	stored, err := c.options.Auth.List()
	for _, s := range stored {
		if err == nil && !isCommand(s.Key) && !strings.Contains(s.Key, "$") {
			c.secrets.add(s.Key)
		}
	}
	return c.secrets.redact(text)
}

// keyValue finds where the key of a provider comes from: --api-key, auth.json,
// models.json or an extension, the environment, in this order. models.json
// stands before the environment because whoever wrote a key beside an address
// meant it to go there. The value is still to be resolved; "" is none.
func (c *Catalogue) keyValue(provider string) (value, source string) {
	c.mu.Lock()
	override := c.keys[provider]
	configured := c.file.providers[provider].APIKey
	if r := c.registrationOf(provider); configured == "" && r != nil {
		configured = r.config.APIKey
	}
	c.mu.Unlock()
	if override != "" {
		return literal(override), "--api-key"
	}
	if stored, ok, err := c.options.Auth.Get(provider); err == nil && ok && stored.Type == CredentialKey && stored.Key != "" {
		return stored.Key, "auth.json"
	}
	if configured != "" {
		return configured, "models.json"
	}
	if s, ok := serviceOf(provider); ok {
		env := c.envOf(provider)
		for _, name := range s.keys {
			if env(name) != "" {
				return "${" + name + "}", name
			}
		}
	}
	return "", ""
}

// literal writes a text as a value that stands for just that text.
func literal(text string) string {
	text = strings.ReplaceAll(text, "$", "$$")
	if isCommand(text) {
		return "$" + text
	}
	return text
}

func (c *Catalogue) needsNoKey(provider string) bool {
	if provider == DemoProvider {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.registrationOf(provider)
	return r != nil && r.config.NoKey
}

func (c *Catalogue) resolveKey(ctx context.Context, p *provider, env Env) (string, error) {
	value, from := c.keyValue(p.id)
	if value == "" {
		if p.noKey {
			return "", nil
		}
		return "", fmt.Errorf("%w for %s: %s", ErrNoCredentials, p.id, c.advice(p))
	}
	key, err := resolveValue(ctx, value, env, &c.commands)
	if err != nil {
		return "", fmt.Errorf("%w for %s: %s says where it is, but %w", ErrNoCredentials, p.id, from, err)
	}
	key = strings.TrimSpace(key) // a line end in it would make the header invalid
	c.secrets.add(key)
	return key, nil
}

// advice says how to give a provider a key.
func (c *Catalogue) advice(p *provider) string {
	if _, _, err := c.options.Auth.Get(p.id); err != nil {
		return err.Error()
	}
	ways := []string{}
	if len(p.keyVariables) > 0 {
		ways = append(ways, "set "+p.keyVariables[0])
	}
	ways = append(ways, fmt.Sprintf("run `pi auth set %s`", p.id), "start with --api-key")
	text := strings.Join(ways, ", or ")
	if stored, ok, _ := c.options.Auth.Get(p.id); ok && stored.Type == CredentialOAuth {
		text = "the login in auth.json is not one that this program can use; " + text
	}
	return text
}

func (c *Catalogue) resolveHeaders(ctx context.Context, p *provider, headers map[string]string, env Env) (map[string]string, error) {
	if len(headers) == 0 {
		return nil, nil
	}
	out := make(map[string]string, len(headers))
	for name, value := range headers {
		resolved, err := resolveValue(ctx, value, env, &c.commands)
		if err != nil {
			return nil, fmt.Errorf("%w for %s: the header %s cannot be made: %w", ErrNoCredentials, p.id, name, err)
		}
		if resolved != value {
			c.secrets.add(resolved)
		}
		out[name] = resolved
	}
	return out, nil
}

func withSampling(compat json.RawMessage, sampling map[string]json.RawMessage) json.RawMessage {
	if len(sampling) == 0 {
		return compat
	}
	member, err := message.Marshal(map[string]any{"samplingParams": sampling})
	if err != nil {
		return compat // the values were decoded from JSON, so this cannot be
	}
	return mergeObjects(compat, member)
}
