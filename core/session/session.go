// Package session is the live session: its conversation, queues, model and
// tools, what runs in it, and its file. It drives the loop of core/agent,
// retries and compacts, and passes every event to hooks, to its own state and
// to subscribers, in that order.
//
// It imports core packages only; who shows the events and who runs the
// extensions it does not know.
package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-54e836f5/pi/core/compact"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/proc"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/rule"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/core/todo"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/ui"
)

// Config is what a session is made of. New keeps it; nobody changes it later.
type Config struct {
	// Log is the open session, in memory or on disk. The session closes it.
	Log *store.Log
	// Cwd is where tools run at first. A session that is switched to brings
	// its own.
	Cwd string
	// Mode is rpc, json or print, as extensions are told.
	Mode string

	Models Models
	// Model is what the session begins with; nil: none could be chosen, and a
	// prompt is refused with the reason in NoModel.
	Model *message.Model
	// NoModel says what to do about a missing model.
	NoModel string
	// Choose is asked by Start once the extensions are up, for one of them may
	// have brought the model that was wanted. Unless a client has chosen
	// meanwhile, the session goes on with that model and level. A nil model, and
	// no Choose: with Model and Thinking.
	Choose func() (*message.Model, message.ThinkingLevel)
	// Thinking is the level asked for at the start. It is clamped to what the
	// model has.
	Thinking message.ThinkingLevel

	// Tools are the built-in tools, in the order the model sees them.
	Tools []tool.Tool
	// ExcludeTools names tools that are never on.
	ExcludeTools []string

	// Folder is what holds in the working folder that the session begins in.
	Folder
	// Enter is told that the session goes to a working folder, and that it
	// reads anew what holds there: at the start, on reload, and when another
	// session is opened. It gives what holds there, and is called by one
	// goroutine at a time. Nil: Folder holds everywhere.
	Enter func(cwd string) Folder

	// Hooks is the chain of extensions; never nil.
	Hooks *hook.Chain
	// Extensions is whoever runs them; nil: there are none.
	Extensions Extensions
	// UI is how to reach a person; nil: nobody is there.
	UI ui.UI
	// Resources load what prompts are expanded with.
	Resources Loader

	// Diagnostics gives sentences for get_state about what was not loaded. It
	// is called from any goroutine. Nil: there are none.
	Diagnostics func() []string
	// Note tells whoever started the process of something that they should
	// know and that stays so. It is called from any goroutine, and must return
	// soon. Nil: nobody is told.
	Note func(text string)
	// Now is the clock; nil: the real one.
	Now func() time.Time
}

// Folder is what may differ from one working folder to another.
type Folder struct {
	Settings Settings
	// Scoped are the models that cycling is limited to; empty: all available.
	Scoped []ScopedModel
	// ActiveTools names the tools that are on at first.
	ActiveTools []string
	// OnlyActive says that the user named the tools to have: what an extension
	// brings is on only if it is one of them.
	OnlyActive bool
	// InactiveTools names tools of extensions that are off at first.
	InactiveTools []string
}

// Settings are the user's choices that this package acts on.
type Settings struct {
	SteeringMode  QueueMode
	FollowUpMode  QueueMode
	InterruptMode InterruptMode
	Retry         Retry
	Compaction    compact.Settings
	BranchReserve int64 // tokens that a summary of a branch leaves free
	Shell         Shell
}

// Retry says how failed model calls are tried again.
type Retry struct {
	Enabled    bool
	MaxRetries int
	BaseDelay  time.Duration // doubled with each attempt
	MaxDelay   time.Duration // where the doubling ends; 0: nowhere. A service that asks for more gets it
}

// Shell says how the bash command runs.
type Shell struct {
	Path   string // empty: /bin/bash, or sh where there is none
	Prefix string // put in front of every command, on a line of its own
}

// ScopedModel is a model to cycle to, with the level its pattern named;
// empty: the level stays.
type ScopedModel struct {
	Model message.Model
	Level message.ThinkingLevel
}

// Models is where models and what is needed to use them come from. It is
// called from any goroutine.
type Models interface {
	// Available lists the models with credentials, in a stable order.
	Available() []message.Model
	// Find gives an available model; false: there is none of that id.
	Find(provider, id string) (message.Model, bool)
	// Connect resolves the credentials of a model. Its errors say what to set.
	Connect(ctx context.Context, model message.Model) (Connection, error)
}

// Connection is what a model call needs beside the model.
type Connection struct {
	Provider provider.Provider
	APIKey   string            // empty: the service needs none
	BaseURL  string            // empty: the model's own
	Headers  map[string]string // beside the adapter's own; nil: none
	Compat   json.RawMessage   // the service's quirks, as models.json has them; nil: none
}

// Extensions is whoever runs extension processes.
type Extensions interface {
	// Ready is closed when the extensions are up, or have failed to come up.
	Ready() <-chan struct{}
	// Reload brings the extensions to what is on disk now, and returns when
	// they are up.
	Reload(ctx context.Context) error
	// Enter brings the extensions to those of a working folder, and returns
	// when they are up: those of the folder that was left end, all others stay.
	// For the folder that they are of already it does nothing. When ctx ends
	// first, those that are not up are given up, and it is an error.
	Enter(ctx context.Context, cwd string) error
}

// Loader loads templates, skills, rules, context files and the system prompt. It
// is called from any goroutine.
type Loader interface {
	// Load reads them for a working folder, with more places that extensions
	// named. It is called at start, on reload, and when the folder changes.
	// When ctx ends it gives what it has so far.
	Load(ctx context.Context, cwd string, more event.ResourcesDiscoverResult) Resources
}

// Resources are what was loaded. They do not change, and are used from any
// goroutine.
type Resources interface {
	// Expand replaces a skill or template command by its text.
	Expand(text string) string
	// Commands lists templates, then skills.
	Commands() []Command
	// SystemPrompt builds the system prompt for a set of active tools.
	SystemPrompt(tools []tool.Spec) string
	// Rules gives the rules that watch the model; nil: there are none.
	Rules() *rule.Book
}

// ErrClosed is what every call gives that begins something after Close.
var ErrClosed = errors.New("the session is closed")

// Session is one live session. Its methods may be called from any goroutine,
// also from hooks, unless they say otherwise.
type Session struct {
	config       Config
	gate         gate
	life         context.Context // ends with Close
	end          context.CancelFunc
	owned        goroutines // all of the session
	commandCalls goroutines // those of them that carry out a command of an extension

	closing  chan struct{} // closed when Close begins
	over     chan struct{} // closed when Close has ended
	closeErr error         // what Close gives; set before over is closed
	telling  gate          // keeps the events of the queue in order

	background proc.Background // what bash commands left running

	subscribers subscribers

	mu sync.Mutex
	state
}

// state is what mu guards.
type state struct {
	conversation *conversation
	generation   uint64
	model        *message.Model
	wanted       message.ThinkingLevel // before it is clamped to the model
	settings     Settings
	scoped       []ScopedModel
	// chosen are settings that the client made: they hold in every folder.
	chosen     map[string]func(*Settings)
	resources  Resources
	tools      toolset
	commands   []ownedCommands
	queue      queue
	run        *run // nil: idle
	streaming  bool
	compacting *compaction // nil: none
	// uselessCompactions counts the automatic ones since an answer fitted.
	uselessCompactions int
	changing           context.CancelFunc // ends what holds the gate; nil: nothing that can be ended
	bashes             map[*bashRun]struct{}
	closed             bool
	stop               bool // shutdown was asked for
	overdue            bool // and does not wait for commands any more
	stopped            chan struct{}
	todos              todo.List
}

// New makes a session. Nothing runs yet, and nothing is written.
func New(config Config) *Session {
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.UI == nil {
		config.UI = ui.None{}
	}
	s := &Session{config: config}
	s.life, s.end = context.WithCancel(context.Background())
	s.settings, s.scoped, s.chosen = config.Settings, config.Scoped, map[string]func(*Settings){}
	s.model, s.wanted = config.Model, config.Thinking
	s.bashes = map[*bashRun]struct{}{}
	s.stopped, s.closing, s.over = make(chan struct{}), make(chan struct{}), make(chan struct{})
	s.tools = newToolset(config)
	s.conversation = newConversation(config.Log, config.Cwd)
	s.adopt(s.conversation)
	s.resources = config.Resources.Load(s.life, config.Cwd, event.ResourcesDiscoverResult{})
	return s
}

// Start lets the session begin: with extensions it first waits for them and
// tells them of the session, while prompts are held back; commands that do
// not run anything are answered at once. It returns immediately.
func (s *Session) Start(reason, previousFile string) {
	if s.config.Extensions == nil {
		return
	}
	s.gate.hold(func(release func()) {
		s.owned.run(func() {
			defer release()
			select {
			case <-s.config.Extensions.Ready():
			case <-s.closing:
				return
			}
			s.enterFolder()
			s.chooseAgain()
			s.announceStart(event.SessionStart{Reason: reason, PreviousSessionFile: previousFile})
		})
	})
}

// AwaitExtensions returns when the extensions are up, or have failed to come
// up, or else when ctx ends. Without extensions it returns at once.
func (s *Session) AwaitExtensions(ctx context.Context) {
	if s.config.Extensions == nil {
		return
	}
	select {
	case <-s.config.Extensions.Ready():
	case <-ctx.Done():
	case <-s.closing:
	}
}

// Close ends the session: what runs is aborted and its end emitted, bash
// commands are stopped, extensions are told, and the file is closed. Waiting
// for all that is bounded by ctx. The error is that of closing the file.
// Further calls wait for the first, and give the same.
func (s *Session) Close(ctx context.Context, reason string) error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if first {
		close(s.closing)
		s.closeErr = s.close(ctx, reason)
		close(s.over)
		return s.closeErr
	}
	select {
	case <-s.over:
		return s.closeErr
	case <-ctx.Done():
		return fmt.Errorf("wait for the session to close: %w", ctx.Err())
	}
}

func (s *Session) close(ctx context.Context, reason string) error {
	idle := s.AbortInTurn()
	s.AbortBash()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	s.awaitCommands(ctx)
	s.config.Hooks.Tell(ctx, &event.SessionShutdown{Reason: reason})
	s.end()
	select {
	case <-s.owned.none():
	case <-ctx.Done():
	}
	s.background.Close(0)
	return s.currentConversation().log.Close()
}

// closePatience is how long Close waits for commands of extensions before it
// cuts them off: what a client sent right before it closed its end may still
// say what it has to say.
const closePatience = 500 * time.Millisecond

func (s *Session) awaitCommands(ctx context.Context) {
	patience := time.NewTimer(closePatience)
	defer patience.Stop()
	select {
	case <-s.commandCalls.none():
	case <-patience.C:
	case <-ctx.Done():
	}
}

func (s *Session) now() int64 { return event.Milliseconds(s.config.Now()) }
