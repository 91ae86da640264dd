package extensions

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// registration is what an extension has said about itself, as far as it may
// have that.
type registration struct {
	name, version, library string
	handlers               map[event.Kind][]handler
	tools                  []tool.Spec
	commands               []*pb.Command
	flags                  []*pb.Flag
	providers              []proto.Provider
	topics                 []string
	// withheldTools and withheldCommands are the names of those that were left
	// out because the manifest does not allow any.
	withheldTools, withheldCommands []string
}

// handler is one registered handler of a kind.
type handler struct {
	failOpen bool
	deadline time.Duration
	tools    []string // nil: all
}

// minds says whether the handler is meant for a tool.
func (h handler) minds(toolName string) bool {
	return len(h.tools) == 0 || slices.Contains(h.tools, toolName)
}

// newRegistration takes over what an extension registered. What it may not
// have, and what this pi does not know, is left out and named in problems.
func newRegistration(resp *pb.RegisterResponse, m *manifest, fallbackName string) (r *registration, problems []error) {
	r = &registration{
		name: resp.GetName(), version: resp.GetVersion(), library: resp.GetLibrary(),
		handlers: map[event.Kind][]handler{},
	}
	if r.name == "" {
		r.name = fallbackName
	}
	if m != nil && m.Name != "" {
		r.name = m.Name
	}
	if r.version == "" && m != nil {
		r.version = m.Version
	}
	may := func(c proto.Capability, what string) bool {
		if m.allows(c) {
			return true
		}
		problems = append(problems, fmt.Errorf("it registered %s, for which its %s does not list the capability %q", what, ManifestName, c))
		return false
	}
	for _, h := range resp.GetHandlers() {
		if err := r.addHandler(h, m, may); err != nil {
			problems = append(problems, err)
		}
	}
	if problem := r.addTools(resp.GetTools(), may); problem != nil {
		problems = append(problems, problem)
	}
	r.addCommands(resp.GetCommands(), may)
	if len(resp.GetProviders()) > 0 && may(proto.CanAddProvider, "providers") {
		for _, p := range resp.GetProviders() {
			config := proto.Provider{}
			if err := json.Unmarshal(p.GetConfig(), &config); err != nil {
				problems = append(problems, fmt.Errorf("the provider %s: %w", p.GetName(), err))
				continue
			}
			config.Name, config.Streams = p.GetName(), p.GetStreams()
			r.providers = append(r.providers, config)
		}
	}
	if len(resp.GetTopics()) > 0 && may(proto.CanPublish, "topics of the bus") {
		r.topics = resp.GetTopics()
	}
	r.flags = resp.GetFlags()
	return r, problems
}

func (r *registration) addTools(tools []*pb.Tool, may func(proto.Capability, string) bool) (problem error) {
	if len(tools) > 0 && !may(proto.CanAddTools, "tools") {
		for _, t := range tools {
			r.withheldTools = append(r.withheldTools, t.GetName())
		}
		return nil
	}
	r.tools, problem = toolSpecs(tools)
	return problem
}

func (r *registration) addCommands(commands []*pb.Command, may func(proto.Capability, string) bool) {
	if len(commands) > 0 && !may(proto.CanAddCommands, "commands") {
		for _, c := range commands {
			r.withheldCommands = append(r.withheldCommands, c.GetName())
		}
		return
	}
	r.commands = commands
}

func (r *registration) addHandler(h *pb.Handler, m *manifest, may func(proto.Capability, string) bool) error {
	kind := event.Kind(h.GetKind())
	info, known := event.Lookup(kind)
	if !known || info.Hook == event.Closed {
		return fmt.Errorf("it has a handler for %q, which this pi does not know: the handler is never called", h.GetKind())
	}
	needs := proto.CanObserve
	if info.Hook == event.Decide {
		needs = proto.CanDecide
	}
	if !may(needs, "a handler for "+h.GetKind()) {
		return nil
	}
	r.handlers[kind] = append(r.handlers[kind], handler{
		failOpen: h.GetFailOpen() || m != nil && m.FailOpen,
		deadline: time.Duration(h.GetDeadlineMs()) * time.Millisecond,
		tools:    h.GetTools(),
	})
	return nil
}

func toolSpecs(tools []*pb.Tool) ([]tool.Spec, error) {
	var specs []tool.Spec
	var problems []error
	for _, t := range tools {
		spec, err := tool.Offered(tool.Spec{
			Name: t.GetName(), Label: t.GetLabel(), Description: t.GetDescription(), Parameters: t.GetParameters(),
			Snippet: t.GetSnippet(), Guidelines: t.GetGuidelines(), Sequential: t.GetSequential(),
		})
		if err != nil {
			problems = append(problems, fmt.Errorf("the tool %q is left out: %w", t.GetName(), err))
			continue
		}
		specs = append(specs, spec)
	}
	return specs, errors.Join(problems...)
}
