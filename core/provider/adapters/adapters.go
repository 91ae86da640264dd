// Package adapters knows all adapters to model services by the name of the
// API that they speak.
//
// It is the only package that imports them; it exports nothing of theirs.
package adapters

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/anthropic"
	"github.com/seed-54e836f5/pi/core/provider/demo"
	"github.com/seed-54e836f5/pi/core/provider/google"
	"github.com/seed-54e836f5/pi/core/provider/openai"
)

// byAPI makes the adapter of an API. The names are those of models.json.
var byAPI = map[string]func(provider.Options) provider.Provider{
	anthropic.API:         func(o provider.Options) provider.Provider { return anthropic.New(o) },
	openai.APICompletions: func(o provider.Options) provider.Provider { return openai.NewCompletions(o) },
	openai.APIResponses:   func(o provider.Options) provider.Provider { return openai.NewResponses(o) },
	google.API:            func(o provider.Options) provider.Provider { return google.New(o) },
	demo.API:              func(provider.Options) provider.Provider { return demo.New() },
}

// ForAPI makes the adapter for an API, which may be called from any
// goroutine. An unknown name is an error that lists the known ones.
func ForAPI(api string, o provider.Options) (provider.Provider, error) {
	make, ok := byAPI[api]
	if !ok {
		return nil, fmt.Errorf("no adapter speaks the API %q: models.json may name %s", api, strings.Join(slices.Sorted(maps.Keys(byAPI)), ", "))
	}
	return make(o), nil
}
