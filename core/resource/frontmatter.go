package resource

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
)

// What a frontmatter may be. The parser takes long for deep nesting, and what
// is here comes from strangers.
const (
	frontmatterLimit    = 16 << 10 // bytes
	frontmatterBrackets = 500
)

// document is a Markdown file with its frontmatter.
type document struct {
	meta map[string]any // nil: there is none
	body string
}

// parseDocument reads a file: a first line of three dashes begins YAML that
// ends at the next such line. Without the second line all is body. The body
// behind frontmatter is without the white space around it.
func parseDocument(data []byte) (document, error) {
	text := strings.TrimPrefix(strings.ToValidUTF8(string(data), "\uFFFD"), "\uFEFF")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	head, body, ok := cutFrontmatter(text)
	if !ok {
		return document{body: text}, nil
	}
	meta, err := parseYAML(head)
	return document{meta: meta, body: strings.TrimSpace(body)}, err
}

func cutFrontmatter(text string) (head, body string, ok bool) {
	first, rest, more := strings.Cut(text, "\n")
	if !more || strings.TrimRight(first, " \t") != "---" {
		return "", "", false
	}
	for at := 0; at <= len(rest); {
		line, _, more := strings.Cut(rest[at:], "\n")
		if strings.TrimRight(line, " \t") == "---" {
			return rest[:at], strings.TrimPrefix(rest[at+len(line):], "\n"), true
		}
		if !more {
			break
		}
		at += len(line) + 1
	}
	return "", "", false
}

var errNoMapping = errors.New("the frontmatter is not a list of names and values")

// parseYAML reads frontmatter. Descriptions in the wild often hold a colon
// and no quotes, which YAML does not allow; they are read as they were meant.
func parseYAML(text string) (map[string]any, error) {
	if len(text) > frontmatterLimit {
		return nil, fmt.Errorf("the frontmatter is longer than %d bytes", frontmatterLimit)
	}
	if strings.Count(text, "[")+strings.Count(text, "{") > frontmatterBrackets {
		return nil, fmt.Errorf("the frontmatter has more than %d lists in it", frontmatterBrackets)
	}
	meta, err := decodeYAML(text)
	if err == nil {
		return meta, nil
	}
	if quoted := quoteColons(text); quoted != text {
		if meta, second := decodeYAML(quoted); second == nil {
			return meta, nil
		}
	}
	return nil, err
}

func decodeYAML(text string) (meta map[string]any, err error) {
	defer func() {
		// The text is a stranger's, and a parser that gives up on it must not
		// take the agent with it.
		if r := recover(); r != nil {
			err = fmt.Errorf("the frontmatter cannot be read: %v", r)
		}
	}()
	if strings.TrimSpace(text) == "" {
		return map[string]any{}, nil
	}
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("the frontmatter is not YAML: %s", firstLine(err.Error()))
	}
	switch v := value.(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		return v, nil
	default:
		return nil, errNoMapping
	}
}

var plainLine = regexp.MustCompile(`(?m)^([A-Za-z][A-Za-z0-9_-]*):[ \t]+([^"'\[{|>&*!%@\s].*:.*)$`)

func quoteColons(text string) string {
	return plainLine.ReplaceAllStringFunc(text, func(line string) string {
		parts := plainLine.FindStringSubmatch(line)
		return parts[1] + ": " + strconv.Quote(strings.TrimSpace(parts[2]))
	})
}

// text gives a value as text; a number or a truth is written out, and what
// has parts is no text.
func (d document) text(name string) string {
	switch v := d.meta[name].(type) {
	case string:
		return strings.TrimSpace(v)
	case bool, int, int64, uint64, float64:
		return fmt.Sprint(v)
	default:
		return ""
	}
}

// texts gives a value that is a text or a list of texts; nil: it is neither, or
// there is nothing in it.
func (d document) texts(name string) []string {
	values, ok := d.meta[name].([]any)
	if !ok {
		values = []any{d.meta[name]}
	}
	var list []string
	for _, v := range values {
		if text, ok := v.(string); ok && strings.TrimSpace(text) != "" {
			list = append(list, strings.TrimSpace(text))
		}
	}
	return list
}

func (d document) truth(name string) bool {
	return d.text(name) == "true"
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
