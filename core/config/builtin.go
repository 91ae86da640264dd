package config

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed-54e836f5/pi/core/config/catalogue"
	"github.com/seed-54e836f5/pi/core/message"
)

// loadBuiltin is catalogue.Load; a test looks at when it is called.
var loadBuiltin = catalogue.Load

// modelsOf gives the catalogue's models of a service, the default one first:
// where a list has a first model, it is the one to choose.
func modelsOf(s service, env Env) []modelEntry {
	if s.catwalk == "" {
		return nil
	}
	p, err := loadBuiltin(s.catwalk)
	if err != nil {
		panic(fmt.Sprintf("service %s: %v", s.id, err))
	}
	baseURL := s.baseURL
	if s.addressFrom != nil {
		// Without the variables there is no address yet; Access says so.
		baseURL, _ = s.addressFrom(env)
	}
	entries := make([]modelEntry, 0, len(p.Models))
	for _, m := range p.Models {
		e := modelEntry{Model: message.Model{
			ID: m.ID, Name: m.Name, API: s.api, Provider: s.id, BaseURL: baseURL,
			Reasoning: m.Reasoning, Input: []string{"text"}, Cost: priceOf(m),
			ContextWindow: m.ContextWindow, MaxTokens: m.MaxTokens,
		}}
		if m.Images {
			e.Model.Input = append(e.Model.Input, "image")
		}
		thinkingOf(&e, m)
		fillModel(&e.Model)
		if m.ID == p.Default {
			entries = slices.Insert(entries, 0, e)
			continue
		}
		entries = append(entries, e)
	}
	return entries
}

// priceOf reads the two cache prices. The catalogue does not always have them
// in the same place; what can be relied on is that a cached read costs no
// more than a fresh one and a cache write no less.
func priceOf(m catalogue.Model) message.Price {
	price := message.Price{Input: m.Input, Output: m.Output}
	if m.InputCached > m.Input {
		price.CacheWrite, price.CacheRead = m.InputCached, m.OutputCached
		return price
	}
	for _, cached := range []float64{m.InputCached, m.OutputCached} {
		if cached > 0 && cached <= m.Input && (price.CacheRead == 0 || cached < price.CacheRead) {
			price.CacheRead = cached
		}
	}
	return price
}

// thinkingOf turns the catalogue's list of efforts into levels. A model
// without a list takes what its API takes by default.
func thinkingOf(e *modelEntry, m catalogue.Model) {
	if !m.Reasoning || len(m.Efforts) == 0 {
		return
	}
	has := func(l message.ThinkingLevel) bool { return slices.Contains(m.Efforts, string(l)) }
	for _, level := range []message.ThinkingLevel{message.ThinkingXHigh, message.ThinkingMax} {
		if has(level) {
			e.Model.ThinkingLevels = append(e.Model.ThinkingLevels, level)
		}
	}
	if e.Model.API == APIAnthropic {
		if len(e.Model.ThinkingLevels) == 0 {
			return // it thinks by budget, and any level is one
		}
		// Claude models with efforts above high no longer take a budget.
		e.compat = json.RawMessage(`{"forceAdaptiveThinking":true}`)
	}
	e.Model.ThinkingWords = map[message.ThinkingLevel]*string{}
	for _, level := range []message.ThinkingLevel{message.ThinkingMinimal, message.ThinkingLow, message.ThinkingMedium, message.ThinkingHigh} {
		if !has(level) {
			e.Model.ThinkingWords[level] = nil
		}
	}
}
