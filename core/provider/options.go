package provider

import (
	"net/http"
	"net/url"
	"time"
)

// Options are what the constructors of the adapters take.
type Options struct {
	// IdleTimeout is how long a service may send no byte, from the request on,
	// before Stream gives up with a Retryable error; 0: no limit. Time that
	// the sink takes does not count.
	IdleTimeout time.Duration
	// Transport carries the requests; nil: one that all adapters share, with
	// the proxy of the environment.
	Transport http.RoundTripper
	// LongCache asks for prompt caches that are kept for long (an hour, a
	// day) where a service has them, which costs more to fill.
	LongCache bool
}

// NewTransport makes a transport for requests to model services. It opens
// nothing. proxy says which proxy a request goes through; nil: that of the
// environment.
func NewTransport(proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	if proxy != nil {
		t.Proxy = proxy
	}
	// Streams of small events gain nothing from being packed, and lose time.
	t.DisableCompression = true
	// Finds a connection that died with a sleeping laptop or a lost network
	// long before the idle deadline does.
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second}
	return t
}
