package modelserver

import (
	"encoding/json"
	"strings"
)

// conversation is what the script needs to know of a request.
type conversation struct {
	model    string
	system   string
	tools    int             // how many tools the request offers
	messages json.RawMessage // as sent, for ECHO
	ask      string          // the last user text
	answers  int             // assistant messages after it
	results  []string        // texts of the tool results at the end of the request
}

// content is a message's content: a string, or blocks of which those with a
// text count.
type content string

func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = content(text)
		return nil
	}
	var blocks []struct {
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(data, &blocks); err != nil {
		return err
	}
	var texts []string
	for _, b := range blocks {
		if b.Text != nil {
			texts = append(texts, *b.Text)
		}
	}
	*c = content(strings.Join(texts, "\n"))
	return nil
}
