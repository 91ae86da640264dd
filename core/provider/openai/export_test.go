package openai

// Hosts lists the domains with quirks of their own.
func Hosts() []string {
	var out []string
	for _, row := range hosts {
		out = append(out, row.domain)
	}
	return out
}
