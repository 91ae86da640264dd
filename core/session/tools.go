package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-54e836f5/pi/core/agent"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/tool"
)

// toolset is all tools of a session, by who brought them, and which are on.
// Session.mu guards it.
type toolset struct {
	groups   []toolGroup // built-ins first, then extensions in load order, then the client's
	active   []string
	excluded []string
	// usual and unusual are the tools that are on and off at first in the
	// working folder.
	usual, unusual []string
	// only says that the user named the tools to have: what an extension
	// brings is then not on by itself.
	only bool
}

type toolGroup struct {
	owner string
	tools []tool.Tool
}

// Owners of tools that no extension brought.
const (
	builtinTools = ""
	hostTools    = "<host>"
)

func newToolset(config Config) toolset {
	t := toolset{
		groups: []toolGroup{{owner: builtinTools, tools: config.Tools}}, excluded: config.ExcludeTools,
	}
	t.enter(config.Folder)
	return t
}

// enter makes those tools the ones that are on at first which the settings of a
// folder name. A tool that they say of what was said before stays on or off, as
// somebody may have switched it since.
func (t *toolset) enter(f Folder) {
	var active []string
	for _, name := range f.ActiveTools {
		if !slices.Contains(t.excluded, name) && (!slices.Contains(t.usual, name) || slices.Contains(t.active, name)) {
			active = append(active, name)
		}
	}
	for _, name := range t.active {
		newlyOff := slices.Contains(t.usual, name) || slices.Contains(f.InactiveTools, name) && !slices.Contains(t.unusual, name)
		if !newlyOff && !slices.Contains(active, name) {
			active = append(active, name)
		}
	}
	before := t.unusual
	t.active, t.usual, t.unusual, t.only = active, f.ActiveTools, f.InactiveTools, f.OnlyActive
	for _, name := range before {
		if found, owner := t.find(name); found != nil && owner != builtinTools && t.onByItself(found.Spec()) {
			t.active = append(t.active, name)
		}
	}
}

// onByItself says whether a tool that somebody brings is switched on.
func (t *toolset) onByItself(spec tool.Spec) bool {
	return !t.only && !spec.Hidden && !slices.Contains(t.active, spec.Name) && !slices.Contains(t.excluded, spec.Name) &&
		!slices.Contains(t.unusual, spec.Name)
}

// set replaces what an owner brought, in the owner's place. What is new is on,
// unless it is hidden, the user picked the tools, or excluded it; what was
// there before is on or off as it was.
func (t *toolset) set(owner string, tools []tool.Tool) {
	groups := slices.Clone(t.groups)
	at := slices.IndexFunc(groups, func(g toolGroup) bool { return g.owner == owner })
	if at < 0 {
		at = len(groups)
		if last := groups[at-1]; last.owner == hostTools {
			at--
		}
		groups = slices.Insert(groups, at, toolGroup{owner: owner})
	}
	before := groups[at]
	groups[at].tools = tools
	t.groups = groups
	for _, gone := range before.tools {
		if name := gone.Spec().Name; !groups[at].has(name) {
			t.switchOff(name)
		}
	}
	for _, added := range tools {
		if spec := added.Spec(); !before.has(spec.Name) && t.onByItself(spec) {
			t.active = append(slices.Clone(t.active), spec.Name)
		}
	}
}

func (g toolGroup) has(name string) bool {
	return slices.ContainsFunc(g.tools, func(each tool.Tool) bool { return each.Spec().Name == name })
}

// switchOff takes a tool that went away off the active ones, unless another of
// that name comes back in its place.
func (t *toolset) switchOff(name string) {
	if slices.ContainsFunc(t.groups, func(g toolGroup) bool { return g.has(name) }) {
		return
	}
	t.active = slices.DeleteFunc(slices.Clone(t.active), func(other string) bool { return other == name })
}

// find gives the tool that a name stands for: the one brought last.
func (t *toolset) find(name string) (found tool.Tool, owner string) {
	for _, g := range t.groups {
		for _, candidate := range g.tools {
			if candidate.Spec().Name == name {
				found, owner = candidate, g.owner
			}
		}
	}
	return found, owner
}

// on lists the active tools: those named in active that exist, in the order
// in which they were switched on.
func (t *toolset) on() []tool.Tool {
	var list []tool.Tool
	for _, name := range t.active {
		if found, _ := t.find(name); found != nil {
			list = append(list, found)
		}
	}
	return list
}

// arrange puts the groups of some owners into the order of a list, and with
// them those of their tools that are on: a model is told of the same tools in
// the same order, whoever brought them first.
func (t *toolset) arrange(owners []string) {
	t.groups = slices.Clone(t.groups)
	arrange(t.groups, owners, func(g toolGroup) string { return g.owner })
	t.active = slices.Clone(t.active)
	arrange(t.active, owners, func(name string) string {
		_, owner := t.find(name)
		return owner
	})
}

func (t *toolset) names() []string {
	var names []string
	for _, g := range t.groups {
		for _, each := range g.tools {
			if name := each.Spec().Name; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// RegisterTools replaces the tools that an owner, an extension's path,
// brought. They stand in for others of the same name and are in force from
// the next model call.
func (s *Session) RegisterTools(owner string, tools []tool.Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools.set(owner, tools)
}

// SetHostTools replaces the tools that the client runs itself.
func (s *Session) SetHostTools(tools []tool.Tool) { s.RegisterTools(hostTools, tools) }

// ToolInfo describes a tool to extensions.
type ToolInfo struct {
	Spec   tool.Spec
	Owner  string // path of the extension that brought it; empty: built in
	Active bool
}

// Tools lists all tools, also those that are off.
func (s *Session) Tools() []ToolInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	var infos []ToolInfo
	for _, name := range s.tools.names() {
		found, owner := s.tools.find(name)
		infos = append(infos, ToolInfo{Spec: found.Spec(), Owner: owner, Active: slices.Contains(s.tools.active, name)})
	}
	return infos
}

// SetActiveTools switches exactly the named tools on, in force from the next
// model call. An unknown name is an error, and nothing changes.
func (s *Session) SetActiveTools(names []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var active []string
	for _, name := range names {
		if found, _ := s.tools.find(name); found == nil {
			return fmt.Errorf("there is no tool named %q; the tools are %s", name, strings.Join(s.tools.names(), ", "))
		}
		if !slices.Contains(s.tools.excluded, name) && !slices.Contains(active, name) {
			active = append(active, name)
		}
	}
	s.tools.active = active
	return nil
}

// SystemPrompt is what the model is told before the conversation, as it would
// be now.
func (s *Session) SystemPrompt() string {
	s.mu.Lock()
	resources, tools := s.resources, s.tools.on()
	s.mu.Unlock()
	specs := make([]tool.Spec, len(tools))
	for i, each := range tools {
		specs[i] = each.Spec()
	}
	return resources.SystemPrompt(specs)
}

func (s *Session) modelTools() []provider.Tool {
	s.mu.Lock()
	tools := s.tools.on()
	s.mu.Unlock()
	list := make([]provider.Tool, len(tools))
	for i, each := range tools {
		spec := each.Spec()
		list[i] = provider.Tool{Name: spec.Name, Description: spec.Description, Parameters: spec.Parameters}
	}
	return list
}

// findTool gives an active tool to the loop.
func (s *Session) findTool(name string) (tool.Tool, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.tools.active, name) {
		return nil, false
	}
	found, _ := s.tools.find(name)
	return found, found != nil
}

// checkToolCall asks the hooks whether a call may run.
func (s *Session) checkToolCall(ctx context.Context, call tool.Call) agent.Verdict {
	if !s.config.Hooks.Wanted(event.KindToolCall) {
		return agent.Verdict{}
	}
	e := &event.ToolCall{ToolName: call.Name, ToolCallID: call.ID, Input: call.Arguments}
	result := hook.Decide[event.ToolCallResult](ctx, s.config.Hooks, e)
	if !result.Block {
		return agent.Verdict{Arguments: e.Input}
	}
	reason := result.Reason
	if reason == "" {
		reason = "The call of " + call.Name + " was blocked by an extension"
	}
	return agent.Verdict{Refused: true, Reason: reason, Terminate: result.Terminate}
}

// finishToolCall lets the hooks change what a call gave.
func (s *Session) finishToolCall(ctx context.Context, call tool.Call, o agent.Outcome) agent.Outcome {
	if !s.config.Hooks.Wanted(event.KindToolResult) {
		return o
	}
	e := &event.ToolResult{
		ToolName: call.Name, ToolCallID: call.ID, Input: call.Arguments,
		Content: o.Result.Content, Details: o.Result.Details, IsError: o.IsError,
	}
	if e.Content == nil {
		e.Content = []message.Block{}
	}
	hook.Decide[event.ToolResultPatch](ctx, s.config.Hooks, e)
	o.Result.Content, o.Result.Details, o.IsError = e.Content, e.Details, e.IsError
	return o
}
