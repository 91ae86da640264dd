package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"
)

// longestMessage bounds what a failure puts into the session file.
const longestMessage = 8 << 10

// StatusAndBody words a failure as `<status> <response body>`.
func StatusAndBody(status int, body []byte) string {
	return fmt.Sprintf("%d %s", status, oneLine(status, body))
}

// StatusAndError words a failure as `<status>: <error object>`, or the whole
// body where it has no member error.
func StatusAndError(status int, body []byte) string {
	var envelope struct {
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(body, &envelope); err == nil && len(envelope.Error) > 0 {
		body = envelope.Error
	}
	return fmt.Sprintf("%d: %s", status, oneLine(status, body))
}

func oneLine(status int, body []byte) string {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return fmt.Sprintf("%s (no body)", http.StatusText(status))
	}
	var compact bytes.Buffer
	if json.Compact(&compact, body) == nil {
		return compact.String()
	}
	return string(body)
}

// shorten cuts a text to about n bytes, and says so.
func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	cut := n
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d more bytes)", strings.ToValidUTF8(text[:cut], "\ufffd"), len(text)-cut)
}
