package config

import (
	"context"
	"fmt"
	"strings"
)

// A value in models.json or auth.json is a text in which $NAME and ${NAME}
// stand for variables of the environment, $$ for $ and $! for !; or, when it
// begins with !, a command whose output is the value.

// isCommand says whether the value is what a command prints.
func isCommand(value string) bool { return strings.HasPrefix(value, "!") }

// missingNames lists the variables that a value needs and that are not set.
// A command needs none.
func missingNames(value string, env Env) []string {
	if isCommand(value) {
		return nil
	}
	var missing []string
	interpolate(value, func(name string) string {
		v := env(name)
		if v == "" {
			missing = append(missing, name)
		}
		return v
	})
	return missing
}

// resolveValue gives what a value stands for.
func resolveValue(ctx context.Context, value string, env Env, commands *commandCache) (string, error) {
	if isCommand(value) {
		return commands.output(ctx, strings.TrimPrefix(value, "!"))
	}
	if missing := missingNames(value, env); len(missing) > 0 {
		return "", fmt.Errorf("the environment has no %s", strings.Join(missing, ", "))
	}
	return interpolate(value, env), nil
}

// interpolate replaces the variables of a value. A $ that begins nothing is
// itself.
func interpolate(value string, env func(string) string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(value, "$")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, after := variableName(rest)
		switch {
		case name != "":
			out.WriteString(env(name))
		case strings.HasPrefix(rest, "$"), strings.HasPrefix(rest, "!"):
			out.WriteByte(rest[0])
			after = rest[1:]
		default:
			out.WriteByte('$')
			after = rest
		}
		value = after
	}
}

// variableName reads NAME or {NAME} at the beginning of text.
func variableName(text string) (name, after string) {
	if inner, ok := strings.CutPrefix(text, "{"); ok {
		name, after, closed := strings.Cut(inner, "}")
		if closed && nameLength(name) == len(name) {
			return name, after
		}
		return "", text
	}
	n := nameLength(text)
	return text[:n], text[n:]
}

func nameLength(text string) int {
	for i := range len(text) {
		c := text[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return i
		}
	}
	return len(text)
}
