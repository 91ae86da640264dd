package rpcmode

import "fmt"

// Dialect is which of the reference agents the client was written for.
type Dialect string

// The dialects. Every command works in both.
const (
	Pi   Dialect = "pi"
	XCSH Dialect = "xcsh"
)

// ParseDialect reads the name of a dialect; empty means Pi.
func ParseDialect(name string) (Dialect, error) {
	switch d := Dialect(name); d {
	case "":
		return Pi, nil
	case Pi, XCSH:
		return d, nil
	}
	return "", fmt.Errorf("unknown dialect %q: use %s or %s", name, Pi, XCSH)
}
