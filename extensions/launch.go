package extensions

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// startInstance starts a process of the extension and has it register. ctx
// ends the attempt; the process itself lives on its own.
func startInstance(ctx context.Context, x *extension) (*instance, error) {
	i := &instance{x: x, token: proto.NewToken(), calls: map[string]*call{}}
	i.life, i.die = context.WithCancelCause(context.Background())
	i.batch = newBatch(i)
	i.bus = newBusQueue(i)
	limit := x.startDeadline()
	if err := i.launch(ctx, limit); err != nil {
		i.abandon(err)
		return nil, err
	}
	if i.process != nil {
		x.host.supervisors.Go(i.watchProcess)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &slowError{limit})
	defer cancel()
	if x.host.debugging() {
		ctx = context.WithoutCancel(ctx)
	}
	if err := i.register(ctx); err != nil {
		i.abandon(err)
		return nil, err
	}
	x.host.supervisors.Go(i.batch.send)
	x.host.supervisors.Go(i.bus.send)
	return i, nil
}

// launch starts the process and connects to it.
func (i *instance) launch(ctx context.Context, limit time.Duration) error {
	h := i.x.host
	config := &plugin.ClientConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			ProtocolVersion: proto.Version, MagicCookieKey: proto.CookieKey, MagicCookieValue: proto.CookieValue,
		},
		Plugins:          plugin.PluginSet{"extension": nothing{}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Logger:           hclog.NewNullLogger(),
		SkipHostEnv:      true,
		StartTimeout:     limit,
		SyncStdout:       i.x.lines,
		SyncStderr:       i.x.lines,
		GRPCDialOptions:  proto.DialOptions(i.token),
	}
	target, socketBase, err := h.service.start(i)
	if err != nil {
		return err
	}
	config.UnixSocketConfig = &plugin.UnixSocketConfig{TempDir: socketBase}
	if address := h.reattachAddress(i.x.source.path); address != "" {
		config.UnixSocketConfig = nil
		config.Reattach = i.reattach(address)
	} else if err := i.prepare(ctx, config); err != nil {
		return err
	}
	if err := i.connect(ctx, config, limit); err != nil {
		return err
	}
	i.x.log.Debug("extension connected", "pid", i.pid(), "host", target)
	return nil
}

// prepare fills in how the process is started.
func (i *instance) prepare(ctx context.Context, config *plugin.ClientConfig) error {
	s, h := i.x.source, i.x.host
	path, args, err := s.program(ctx, h)
	if err != nil {
		return err
	}
	var wanted []string
	if s.manifest != nil {
		wanted = s.manifest.Env
	}
	i.process = newProcess(nil, &h.spawn, i.x.lines)
	config.RunnerFunc = func(_ hclog.Logger, spec *exec.Cmd, _ string) (runner.Runner, error) {
		cmd := exec.Command(path, args...)
		cmd.Dir = h.inForce().ProjectDir
		cmd.Env = append(environment(h.options.Env, wanted), spec.Env...)
		if s.form == manifestFolder {
			cmd.Env = append(cmd.Env, "PI_EXTENSION_DIR="+s.path)
		}
		i.process.cmd = cmd
		return i.process, nil
	}
	return nil
}

// connect runs go-plugin's start, and says in words what went wrong.
func (i *instance) connect(ctx context.Context, config *plugin.ClientConfig, limit time.Duration) error {
	i.plugin = plugin.NewClient(config)
	started := time.Now()
	giveUp := context.AfterFunc(ctx, func() {
		if i.process != nil {
			i.process.abort()
		}
	})
	defer giveUp()
	if _, err := i.plugin.Start(); err != nil {
		return i.explain(ctx, err, time.Since(started), limit)
	}
	protocol, err := i.plugin.Client()
	if err != nil {
		return fmt.Errorf("connect to the program: %w", err)
	}
	i.conn = protocol.(*plugin.GRPCClient).Conn
	i.client = pb.NewExtensionServiceClient(i.conn)
	return nil
}

func (i *instance) explain(ctx context.Context, err error, waited, limit time.Duration) error {
	switch {
	case i.process == nil:
		return fmt.Errorf("attach to the extension that waits under a debugger: %w", err)
	case i.process.startErr != nil:
		return explainExec(i.process.cmd.Path, i.process.startErr)
	case i.process.cmd == nil || i.process.cmd.Process == nil:
		return err
	}
	line, shaken := i.process.shakenLine()
	timedOut := waited >= limit
	i.process.end()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if shaken {
		if err := checkVersion(line); err != nil {
			return err
		}
		return fmt.Errorf("the handshake %q came to nothing: %w", clip(line, headBytes), err)
	}
	return explainSilence(i.process, limit, timedOut)
}

// register lets the extension say what it is, and accepts that.
func (i *instance) register(ctx context.Context) error {
	h, s := i.x.host, i.x.host.theSession()
	ctx, cancel := i.bound(ctx)
	defer cancel()
	resp, err := i.client.Register(ctx, &pb.RegisterRequest{
		HostVersion:  h.options.Version,
		Capabilities: hostCapabilities(),
		HostTarget:   h.service.target,
		Token:        i.token,
		Name:         i.x.source.name(),
		Path:         i.x.source.path,
		Mode:         s.Mode(),
		HasUi:        s.UI().Interactive(),
	})
	if err != nil {
		return i.phaseError(ctx, "register", err)
	}
	for _, needed := range resp.GetRequires() {
		if !slices.Contains(hostCapabilities(), needed) {
			return fmt.Errorf("it needs a pi that can do %q, which this one cannot: update pi", needed)
		}
	}
	var problems []error
	i.reg, problems = newRegistration(resp, i.x.source.manifest, i.x.source.name())
	for _, problem := range problems {
		h.report(i.x.source.path, "registration", problem)
	}
	if _, err := i.client.Initialize(ctx, &pb.InitializeRequest{Flags: i.x.flagValues(i.reg)}); err != nil {
		return i.phaseError(ctx, "initialize", err)
	}
	return nil
}

func (i *instance) phaseError(ctx context.Context, phase string, err error) error {
	cause := context.Cause(ctx)
	var slow *slowError
	var gone *goneError
	switch {
	case errors.As(cause, &slow):
		return fmt.Errorf("the program %w (in the phase %s)", slow, phase)
	case errors.As(cause, &gone):
		return fmt.Errorf("%w (in the phase %s)", gone, phase)
	case cause != nil:
		return cause
	case status.Code(err) == codes.Unavailable && i.process != nil:
		select {
		case <-i.life.Done():
			return fmt.Errorf("%w (in the phase %s)", context.Cause(i.life), phase)
		case <-time.After(drainTime * 2):
		}
	}
	return errors.New(status.Convert(err).Message())
}

func hostCapabilities() []string {
	return []string{proto.CapabilityBus, proto.CapabilityProviders, proto.CapabilityUpdate, proto.CapabilitySetup}
}

// nothing fills go-plugin's set of services: the one of the contract is called
// without its help.
type nothing struct{ plugin.NetRPCUnsupportedPlugin }

func (nothing) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error { return nil }

func (nothing) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, nil
}
