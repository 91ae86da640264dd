package extensions

import (
	"context"
	"net"
	"path/filepath"
	"strings"

	plugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"

	"github.com/seed-54e836f5/pi/proto"
)

// reattachAddress gives where an extension of this path waits under a
// debugger; empty: it does not.
func (h *Host) reattachAddress(path string) string {
	for entry := range strings.SplitSeq(lookup(h.options.Env, proto.ReattachEnv), ";") {
		if at, address, ok := strings.Cut(entry, "="); ok && filepath.Clean(at) == path {
			return strings.TrimPrefix(address, "unix:")
		}
	}
	return ""
}

func (i *instance) reattach(address string) *plugin.ReattachConfig {
	return &plugin.ReattachConfig{
		Protocol:        plugin.ProtocolGRPC,
		ProtocolVersion: proto.Version,
		Addr:            &net.UnixAddr{Name: address, Net: "unix"},
		Test:            true, // it is not ours to kill
		ReattachFunc:    func() (runner.AttachedRunner, error) { return &attached{life: i.life}, nil },
	}
}

// attached is a process that somebody else started. It is go-plugin's
// runner.AttachedRunner.
type attached struct{ life context.Context }

// Wait implements runner.AttachedRunner.
func (a *attached) Wait(context.Context) error { <-a.life.Done(); return nil }

// Kill implements runner.AttachedRunner.
func (a *attached) Kill(context.Context) error { return nil }

// ID implements runner.AttachedRunner.
func (a *attached) ID() string { return "attached" }

// PluginToHost implements runner.AttachedRunner.
func (a *attached) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

// HostToPlugin implements runner.AttachedRunner.
func (a *attached) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}
