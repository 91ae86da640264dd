package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-54e836f5/pi/core/event"
)

// Command is something that a prompt can call with a slash.
type Command struct {
	Name        string
	Description string // empty: none
	Source      string // extension, prompt, skill
	Location    string // user, project, path; empty for extensions
	Path        string
	SourceInfo  SourceInfo
}

// SourceInfo says where a command or an extension was loaded from.
type SourceInfo struct {
	Path    string
	Source  string // auto, cli, inline, extension:<name>
	Scope   string // user, project, temporary
	Origin  string // top-level, package
	BaseDir string // folder it was found under
}

// ExtensionCommand is a slash command of an extension.
type ExtensionCommand struct {
	Name        string // without the slash
	Description string // empty: none
	Info        SourceInfo
	// Run carries the command out. ctx ends when the process shuts down, not
	// when a run is aborted: commands begin and abort runs themselves.
	Run func(ctx context.Context, arguments string) error
	// Complete suggests arguments; nil: none.
	Complete func(ctx context.Context, prefix string) ([]Completion, error)
}

// Completion is what a command suggests for its arguments.
type Completion struct {
	Value       string // the arguments as they would stand behind the command
	Label       string // what is shown for it; empty: the value
	Description string
}

// ownedCommands is what one extension brought.
type ownedCommands struct {
	owner    string
	commands []ExtensionCommand
}

// RegisterCommands replaces the commands that an owner, an extension's path,
// brought; none takes them away.
func (s *Session) RegisterCommands(owner string, commands []ExtensionCommand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands = slices.Clone(s.commands)
	for i := range s.commands {
		if s.commands[i].owner == owner {
			s.commands[i].commands = commands
			return
		}
	}
	s.commands = append(s.commands, ownedCommands{owner, commands})
}

// Arrange puts what owners, extensions by their paths, brought into the order
// of a list: which of two tools of one name counts, and which number a command
// gets, hangs on it.
func (s *Session) Arrange(owners []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands = slices.Clone(s.commands)
	arrange(s.commands, owners, func(c ownedCommands) string { return c.owner })
	s.tools.arrange(owners)
}

// arrange sorts the elements of some owners among the places that they have.
func arrange[E any](list []E, owners []string, owner func(E) string) {
	rank := func(e E) int { return slices.Index(owners, owner(e)) }
	var places []int
	var sorted []E
	for i, e := range list {
		if rank(e) >= 0 {
			places, sorted = append(places, i), append(sorted, e)
		}
	}
	slices.SortStableFunc(sorted, func(a, b E) int { return rank(a) - rank(b) })
	for i, at := range places {
		list[at] = sorted[i]
	}
}

// Commands lists what a prompt can call with a slash: commands of extensions,
// then templates, then skills.
func (s *Session) Commands() []Command {
	s.mu.Lock()
	own, resources := s.extensionCommands(), s.resources
	s.mu.Unlock()
	list := []Command{}
	for _, c := range own {
		list = append(list, Command{
			Name: c.Name, Description: c.Description, Source: "extension", Path: c.Info.Path, SourceInfo: c.Info,
		})
	}
	return append(list, resources.Commands()...)
}

// extensionCommands lists the commands of extensions in load order, by the
// names they are called by: where two have one name, each gets a number. The
// caller holds mu.
func (s *state) extensionCommands() []ExtensionCommand {
	var list []ExtensionCommand
	count := map[string]int{}
	for _, g := range s.commands {
		for _, c := range g.commands {
			list = append(list, c)
			count[c.Name]++
		}
	}
	number := map[string]int{}
	for i, c := range list {
		if count[c.Name] > 1 {
			number[c.Name]++
			list[i].Name = fmt.Sprintf("%s:%d", c.Name, number[c.Name])
		}
	}
	return list
}

// findCommand finds the command that a text calls. The caller holds mu.
func (s *state) findCommand(text string) (command ExtensionCommand, arguments string, ok bool) {
	name, arguments, ok := isCommand(text)
	if !ok {
		return ExtensionCommand{}, "", false
	}
	for _, c := range s.extensionCommands() {
		if c.Name == name {
			return c, arguments, true
		}
	}
	return ExtensionCommand{}, "", false
}

// BeginsRun says whether a prompt with this text, while no run is on, begins
// one: all do but commands of extensions. Until extensions are up a slash
// command that nobody knows may still turn out to be one, and counts as such.
// It does not wait.
func (s *Session) BeginsRun(text string) bool {
	if !strings.HasPrefix(text, "/") {
		return true
	}
	s.mu.Lock()
	_, _, isCommand := s.findCommand(text)
	resources := s.resources
	s.mu.Unlock()
	if isCommand {
		return false
	}
	if s.extensionsUp() {
		return true
	}
	words := strings.Fields(text[1:])
	return len(words) > 0 && slices.ContainsFunc(resources.Commands(), func(c Command) bool { return c.Name == words[0] })
}

// extensionsUp says whether all commands of extensions are known.
func (s *Session) extensionsUp() bool {
	if s.config.Extensions == nil {
		return true
	}
	select {
	case <-s.config.Extensions.Ready():
		return true
	default:
		return false
	}
}

// CompleteArguments suggests arguments for a command of an extension, whose
// name comes without the slash. It waits for the extension; none are suggested
// for a command that has nothing to say about its arguments.
func (s *Session) CompleteArguments(ctx context.Context, name, prefix string) ([]Completion, error) {
	s.mu.Lock()
	command, _, ok := s.findCommand("/" + name)
	s.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("there is no extension command named %q: see get_commands", name)
	}
	if command.Complete == nil {
		return nil, nil
	}
	return command.Complete(ctx, prefix)
}

// runCommand carries out a command. A failure is the extension's, reported as
// such: the prompt that called it was handled all the same.
func (s *Session) runCommand(c ExtensionCommand, arguments string, accepted Accepted) {
	if err := c.Run(s.life, arguments); err != nil && !s.isClosed() { // what the end cuts off is no fault of the command
		s.emit(s.life, &event.ExtensionError{ExtensionPath: "command:" + c.Name, Event: "command", Error: err.Error()})
	}
	accepted(Handled, nil)
	s.commandCalls.done()
	s.checkShutdown()
}
