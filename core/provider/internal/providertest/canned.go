package providertest

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

// Canned answers every request with a stream, without a network.
func Canned(stream string) http.RoundTripper {
	return transportFunc(func(r *http.Request) (*http.Response, error) {
		body := io.NopCloser(strings.NewReader(stream))
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, Request: r}, nil
	})
}

// FuzzStream feeds an adapter what a service might send: whatever it is, the
// deltas obey their order, and an answer ends or fails.
func FuzzStream(f *testing.F, adapter func(provider.Options) provider.Provider, model message.Model) {
	f.Fuzz(func(t *testing.T, stream string) {
		p := adapter(provider.Options{Transport: Canned(stream)})
		req := Say(model, "hi")
		req.Model.BaseURL = "http://service.test"
		deltas, err := Collect(t.Context(), p, req)
		Assemble(t, deltas)
		if err != nil && provider.ClassOf(err) == provider.Aborted {
			t.Fatalf("error %v", err)
		}
		if finished := len(deltas) > 0 && deltas[len(deltas)-1].Kind == provider.Finish; finished != (err == nil) {
			t.Fatalf("finished: %t, error %v", finished, err)
		}
	})
}

// BenchmarkDeltas measures what one delta costs an adapter, from the bytes of
// the stream to the sink.
func BenchmarkDeltas(b *testing.B, adapter func(provider.Options) provider.Provider, model message.Model, stream string, deltas int) {
	p := adapter(provider.Options{Transport: Canned(stream), IdleTimeout: time.Hour})
	req := Say(model, "hi")
	req.Model.BaseURL = "http://service.test"
	b.ReportAllocs()
	for b.Loop() {
		seen := 0
		err := p.Stream(b.Context(), req, func(d provider.Delta) error {
			if d.Kind == provider.TextDelta {
				seen++
			}
			return nil
		})
		if err != nil || seen != deltas {
			b.Fatalf("%d deltas, error %v", seen, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(deltas), "ns/delta")
	b.ReportMetric(0, "ns/op")
}
