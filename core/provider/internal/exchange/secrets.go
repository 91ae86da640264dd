package exchange

import (
	"net/url"
	"strings"

	"github.com/seed-54e836f5/pi/core/provider"
)

const redacted = "[redacted]"

// shortestSecret is the length below which a key is not looked for in texts:
// the dummy keys of local servers ("x", "ollama") are words.
const shortestSecret = 8

// secretHeaders hold credentials, whatever their value.
var secretHeaders = map[string]bool{
	"authorization":       true,
	"proxy-authorization": true,
	"x-api-key":           true,
	"api-key":             true,
	"x-goog-api-key":      true,
	"cookie":              true,
}

// secretsOf lists what must not appear in a message: the key, the values of
// headers that hold one, and the password of the base URL.
func secretsOf(request provider.Request) []string {
	var out []string
	add := func(value string) {
		if len(value) >= shortestSecret {
			out = append(out, value)
		}
	}
	add(request.APIKey)
	for name, value := range request.Headers {
		if secretHeaders[strings.ToLower(name)] {
			_, token, found := strings.Cut(value, " ") // behind Bearer or Basic
			if found {
				add(strings.TrimSpace(token))
			}
			add(value)
		}
	}
	if base, err := url.Parse(request.Model.BaseURL); err == nil && base.User != nil {
		password, _ := base.User.Password()
		add(password)
	}
	return out
}

func (x *Exchange) scrub(text string) string {
	for _, secret := range x.secrets {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	return text
}

// isSecret says whether a header is kept from hooks.
func (x *Exchange) isSecret(name, value string) bool {
	key := x.request.APIKey
	return secretHeaders[strings.ToLower(name)] || key != "" && strings.Contains(value, key)
}
