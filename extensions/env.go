package extensions

import (
	"slices"
	"strings"
)

// passedOn are the variables of our environment that every extension gets.
// Keys of model services are in none of them: an extension that needs one
// names it in its manifest.
var passedOn = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TERM", "COLORTERM", "NO_COLOR", "TZ",
	"LANG", "LANGUAGE", "TMPDIR", "TEMP", "TMP", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "PI_CODING_AGENT_DIR", "PI_OFFLINE",
	"SystemRoot", "SystemDrive", "ComSpec", "PATHEXT", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "ProgramData",
}

var passedOnPrefixes = []string{"LC_", "XDG_"}

// environment is what an extension gets: the allowed part of ours, then what
// its manifest asks for, which wins. An entry of wanted is NAME, passed on if
// we have it, or NAME=value.
func environment(ours, wanted []string) []string {
	var env []string
	for _, entry := range ours {
		name, _, _ := strings.Cut(entry, "=")
		if isPassedOn(name) {
			env = append(env, entry)
		}
	}
	for _, entry := range wanted {
		if name, _, isSet := strings.Cut(entry, "="); isSet {
			env = append(env, entry)
		} else if value := lookup(ours, name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func isPassedOn(name string) bool {
	return slices.Contains(passedOn, name) ||
		slices.ContainsFunc(passedOnPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// lookup gives the value of a variable; empty: it is not there.
func lookup(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(env[i], name+"="); ok {
			return value
		}
	}
	return ""
}
