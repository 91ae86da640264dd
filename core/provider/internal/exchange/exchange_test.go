package exchange

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
		const longest = 365 * 24 * time.Hour
		for _, c := range []struct {
			after, ms string
			want      time.Duration
		}{
			{"", "", 0},
			{"7", "", 7 * time.Second},
			{"1.25", "", 1250 * time.Millisecond},
			{" 7 ", "", 7 * time.Second},
			{"0", "", 0},
			{"-5", "", 0},
			{"7", "300", 300 * time.Millisecond},
			{"7", "0.5", 500 * time.Microsecond},
			{"7", "soon", 7 * time.Second},
			{in(90 * time.Second), "", 90 * time.Second},
			{in(-90 * time.Second), "", 0},
			{time.Now().Add(time.Minute).UTC().Format(time.RFC850), "", time.Minute},
			{"soon", "", 0},
			{"7s", "", 0},
			{"NaN", "", 0},
			{"Inf", "", longest},
			{"1e400", "", longest},
			{"99999999", "", longest},
			{"", "99999999999999999999", longest},
			{"Fri, 31 Dec 9999 23:59:59 GMT", "", longest},
		} {
			header := http.Header{}
			if c.after != "" {
				header.Set("Retry-After", c.after)
			}
			if c.ms != "" {
				header.Set("retry-after-ms", c.ms)
			}
			if got := retryAfter(header); got != c.want {
				t.Errorf("%q, %q ms: %s, want %s", c.after, c.ms, got, c.want)
			}
		}
	})
	if got := Seconds("38.5s"); got != 38500*time.Millisecond {
		t.Errorf("38.5s is %s", got)
	}
}

func TestDescriptions(t *testing.T) {
	for _, c := range []struct{ body, whole, inner string }{
		{`{"type":"error","error":{"type":"x","message":"<y> & z"}}`, `500 {"type":"error","error":{"type":"x","message":"<y> & z"}}`, `500: {"type":"x","message":"<y> & z"}`},
		{"{\n  \"error\": {\n    \"a\": 1\n  }\n}\n", `500 {"error":{"a":1}}`, `500: {"a":1}`},
		{`{"error":"words"}`, `500 {"error":"words"}`, `500: "words"`},
		{`{"detail":"x"}`, `500 {"detail":"x"}`, `500: {"detail":"x"}`},
		{" plain words\n", "500 plain words", "500: plain words"},
		{"", "500 Internal Server Error (no body)", "500: Internal Server Error (no body)"},
	} {
		if got := StatusAndBody(500, []byte(c.body)); got != c.whole {
			t.Errorf("%q: %q, want %q", c.body, got, c.whole)
		}
		if got := StatusAndError(500, []byte(c.body)); got != c.inner {
			t.Errorf("%q: %q, want %q", c.body, got, c.inner)
		}
	}
}

func TestShorten(t *testing.T) {
	if got := shorten("short", 5); got != "short" {
		t.Errorf("got %q", got)
	}
	if got := shorten(strings.Repeat("é", 10), 5); got != "éé… (16 more bytes)" {
		t.Errorf("got %q", got)
	}
	for n := range 20 {
		if got := shorten(strings.Repeat("\xff\x80", 20), n); !utf8.ValidString(got) {
			t.Errorf("cut at %d: %q", n, got)
		}
	}
}

func TestWhatIsSecret(t *testing.T) {
	x := Open(t.Context(), provider.Options{}, provider.Request{
		APIKey:  "key-0123456789",
		Model:   message.Model{BaseURL: "http://user:pass-word-1@host/v1"},
		Headers: map[string]string{"Authorization": "Bearer token-01234", "X-Custom": "has key-0123456789 inside", "X-Team": "blue", "Cookie": "session=abcdef"},
	}, Service{})
	defer x.Close()
	for _, secret := range []string{"key-0123456789", "token-01234", "pass-word-1", "session=abcdef"} {
		if got := x.scrub("before " + secret + " behind"); strings.Contains(got, secret) || !strings.HasSuffix(got, " behind") {
			t.Errorf("%s: %q", secret, got)
		}
	}
	for name, want := range map[string]bool{"Authorization": true, "X-Custom": true, "X-Team": false, "cookie": true} {
		if got := x.isSecret(name, x.request.Headers[name]); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
	// The dummy keys of local servers are words.
	dummy := Open(t.Context(), provider.Options{}, provider.Request{APIKey: "ollama"}, Service{})
	defer dummy.Close()
	if got := dummy.scrub("ollama is not running"); got != "ollama is not running" {
		t.Errorf("got %q", got)
	}
}
