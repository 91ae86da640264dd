package main

import (
	"fmt"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/proto"
)

// streamedAPI is the api of models whose answers an extension streams.
const streamedAPI = "extension"

// registeredProvider is what an extension brought.
type registeredProvider struct {
	owner  string
	stream provider.Provider // nil: an adapter speaks to the service
}

// RegisterProvider implements extensions.Providers.
func (m *models) RegisterProvider(owner string, p proto.Provider, stream provider.Provider) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, taken := m.registered[p.Name]
	if taken && before.owner != owner {
		return fmt.Errorf("register provider %s: the extension %s has registered one of that name", p.Name, before.owner)
	}
	if err := m.catalogue.Register(p.Name, providerConfig(p, stream != nil)); err != nil {
		return err
	}
	m.registered[p.Name] = registeredProvider{owner: owner, stream: stream}
	return nil
}

// UnregisterProvider implements extensions.Providers.
func (m *models) UnregisterProvider(owner, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, r := range m.registered {
		if r.owner == owner && (name == "" || id == name) {
			delete(m.registered, id)
			m.catalogue.Unregister(id)
		}
	}
}

func (m *models) anyRegistered() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.registered) > 0
}

func providerConfig(p proto.Provider, streamed bool) config.ProviderConfig {
	made := config.ProviderConfig{BaseURL: p.BaseURL, API: p.API, APIKey: p.APIKey, Headers: p.Headers, NoKey: streamed && p.APIKey == ""}
	if streamed {
		made.API = streamedAPI
	}
	for _, m := range p.Models {
		reasoning := m.Reasoning
		c := config.ModelConfig{
			ID: m.ID, Name: m.Name, BaseURL: m.BaseURL, Reasoning: &reasoning, Input: m.Input,
			Cost:          &config.PriceConfig{Input: &m.Cost.Input, Output: &m.Cost.Output, CacheRead: &m.Cost.CacheRead, CacheWrite: &m.Cost.CacheWrite},
			ContextWindow: m.ContextWindow, MaxTokens: m.MaxTokens,
		}
		if !streamed {
			c.API = m.API
		}
		made.Models = append(made.Models, c)
	}
	return made
}

// streamOf gives what streams the answers of a model in the place of an
// adapter; nil: nothing does.
func (m *models) streamOf(model message.Model) provider.Provider {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.registered[model.Provider].stream
}
