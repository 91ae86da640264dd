package sdktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/proto"
	"github.com/seed-54e836f5/pi/sdk"
)

// memory is a session that is not there beyond the test.
type memory struct {
	mu         sync.Mutex
	generation uint64
	entries    []json.RawMessage
	leaf       *string
	name       string
	labels     map[string]string
	model      *sdk.Model
	models     []sdk.Model
	thinking   sdk.ThinkingLevel
	tools      []sdk.ToolInfo
	sent       []Sent
	published  []proto.BusMessage
	providers  []proto.Provider
	changes    []string
	veto       bool
}

// Sent is a message that the extension put into the conversation.
type Sent struct {
	// Custom is nil for one in the user's name, whose text is in Text.
	Custom      *sdk.CustomMessage
	Text        string
	DeliverAs   string
	TriggerTurn bool
}

func (m *memory) init(c config) {
	m.generation, m.labels, m.thinking = 1, map[string]string{}, sdk.ThinkingOff
	m.models, m.tools = c.models, c.tools
	if len(m.models) > 0 {
		m.model = &m.models[0]
	}
}

func (m *memory) current() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.generation
}

// AddMessage puts a message into the session, as a conversation would.
func (h *Host) AddMessage(msg sdk.Message) {
	h.t.Helper()
	encoded, err := message.Marshal(msg)
	if err != nil {
		h.t.Fatalf("add a message: %v", err)
	}
	h.session.mu.Lock()
	defer h.session.mu.Unlock()
	if _, err := h.session.add("message", map[string]any{"message": json.RawMessage(encoded)}); err != nil {
		h.t.Fatalf("add a message: %v", err)
	}
}

// Entries lists the entries of the session.
func (h *Host) Entries() []sdk.Entry {
	h.t.Helper()
	h.session.mu.Lock()
	defer h.session.mu.Unlock()
	list := make([]sdk.Entry, len(h.session.entries))
	for n, raw := range h.session.entries {
		if err := json.Unmarshal(raw, &list[n]); err != nil {
			h.t.Fatalf("entry %d: %v", n, err)
		}
	}
	return list
}

// Sent lists the messages that the extension sent.
func (h *Host) Sent() []Sent {
	h.session.mu.Lock()
	defer h.session.mu.Unlock()
	return slices.Clone(h.session.sent)
}

// Published lists the messages that the extension sent to others.
func (h *Host) Published() []proto.BusMessage {
	h.session.mu.Lock()
	defer h.session.mu.Unlock()
	return slices.Clone(h.session.published)
}

// Changes lists what the extension asked for beside messages, in order: abort,
// compact, shutdown, reload, new, fork ID, switch PATH, navigate ID, name NAME,
// label ID LABEL, model P/ID, thinking LEVEL, tools A,B.
func (h *Host) Changes() []string {
	h.session.mu.Lock()
	defer h.session.mu.Unlock()
	return slices.Clone(h.session.changes)
}

// Veto makes the next changes of session cancelled, as another extension
// could.
func (h *Host) Veto(on bool) {
	h.session.mu.Lock()
	defer h.session.mu.Unlock()
	h.session.veto = on
}

// add appends an entry below the leaf; the lock is held.
func (m *memory) add(kind string, fields map[string]any) (json.RawMessage, error) {
	id := fmt.Sprintf("%08x", len(m.entries)+1)
	entry := map[string]any{"type": kind, "id": id, "parentId": m.leaf, "timestamp": "2026-01-01T00:00:00.000Z"}
	for name, value := range fields {
		entry[name] = value
	}
	raw, err := message.Marshal(entry)
	if err != nil {
		return nil, err
	}
	m.entries, m.leaf = append(m.entries, raw), &id
	return raw, nil
}

func (m *memory) branch(to *string) ([]json.RawMessage, error) {
	way := []json.RawMessage{}
	if to == nil {
		to = m.leaf
	}
	for n := len(m.entries) - 1; n >= 0 && to != nil; n-- {
		var e sdk.Entry
		if err := json.Unmarshal(m.entries[n], &e); err != nil {
			return nil, err
		}
		if e.ID == *to {
			way, to = append(way, m.entries[n]), e.ParentID
		}
	}
	slices.Reverse(way)
	return way, nil
}

// change notes what was asked for.
func (m *memory) change(format string, args ...any) {
	m.changes = append(m.changes, fmt.Sprintf(format, args...))
}

// replace is a change of session.
func (m *memory) replace(format string, args ...any) (any, error) {
	if m.veto {
		return proto.Changed{Cancelled: true, Generation: m.generation}, nil
	}
	m.change(format, args...)
	m.generation++
	m.entries, m.leaf, m.name = nil, nil, ""
	return proto.Changed{Generation: m.generation}, nil
}

// setUp fills a session that has just begun; the lock is held.
func (m *memory) setUp(setup []json.RawMessage) error {
	for _, raw := range setup {
		var fields map[string]any
		if err := json.Unmarshal(raw, &fields); err != nil {
			return err
		}
		kind, _ := fields["type"].(string)
		if name, is := fields["name"].(string); is && kind == "session_info" {
			m.name = name
		}
		if _, err := m.add(kind, fields); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) state(h *Host) proto.State {
	return proto.State{
		Generation: m.generation, Cwd: h.config.cwd, Mode: h.config.mode, HasUI: h.config.hasUI,
		ProjectTrusted: h.config.trusted, SessionID: "test", SessionName: m.name, Model: m.model,
		ThinkingLevel: m.thinking, IsIdle: true,
	}
}

// locked makes a method that has the lock.
func locked[A any](run func(h *Host, m *memory, arguments A) (any, error)) func(*Host, []byte) (any, error) {
	return with(func(h *Host, arguments A) (any, error) {
		h.session.mu.Lock()
		defer h.session.mu.Unlock()
		return run(h, &h.session, arguments)
	})
}

type none struct{}

var methods = map[string]func(*Host, []byte) (any, error){
	proto.MethodState: locked(func(h *Host, m *memory, _ none) (any, error) { return m.state(h), nil }),
	proto.MethodEntries: locked(func(_ *Host, m *memory, a proto.EntriesArgs) (any, error) {
		return proto.Entries{Entries: m.since(a.Since), LeafID: m.leaf}, nil
	}),
	proto.MethodBranch: locked(func(_ *Host, m *memory, a proto.BranchArgs) (any, error) {
		way, err := m.branch(a.EntryID)
		return proto.Entries{Entries: way, LeafID: m.leaf}, err
	}),
	proto.MethodTree: locked(func(_ *Host, m *memory, _ none) (any, error) { return m.tree() }),
	proto.MethodMessages: locked(func(_ *Host, m *memory, _ none) (any, error) {
		list := []json.RawMessage{}
		way, err := m.branch(nil)
		for _, raw := range way {
			var e struct{ Message json.RawMessage }
			if json.Unmarshal(raw, &e) == nil && len(e.Message) > 0 {
				list = append(list, e.Message)
			}
		}
		return list, err
	}),
	proto.MethodSystemPrompt: locked(func(*Host, *memory, none) (any, error) { return "You are a test.", nil }),
	proto.MethodAppendEntry: locked(func(_ *Host, m *memory, a proto.AppendEntryArgs) (any, error) {
		return m.add("custom", map[string]any{"customType": a.CustomType, "data": a.Data})
	}),
	proto.MethodSetName: locked(func(_ *Host, m *memory, a proto.SetNameArgs) (any, error) {
		m.name = a.Name
		m.change("name %s", a.Name)
		return nil, nil
	}),
	proto.MethodSetLabel: locked(func(_ *Host, m *memory, a proto.SetLabelArgs) (any, error) {
		m.labels[a.EntryID] = a.Label
		m.change("label %s %s", a.EntryID, a.Label)
		return nil, nil
	}),

	proto.MethodWaitForIdle: locked(func(*Host, *memory, none) (any, error) { return nil, nil }),
	proto.MethodNewSession: locked(func(_ *Host, m *memory, a proto.NewSessionArgs) (any, error) {
		changed, err := m.replace("new")
		if err != nil || m.veto {
			return changed, err
		}
		return changed, m.setUp(a.Setup)
	}),
	proto.MethodFork: locked(func(_ *Host, m *memory, a proto.ForkArgs) (any, error) {
		return m.replace("fork %s", a.EntryID)
	}),
	proto.MethodSwitch: locked(func(_ *Host, m *memory, a proto.SwitchArgs) (any, error) {
		return m.replace("switch %s", a.SessionPath)
	}),
	proto.MethodReload: locked(func(_ *Host, m *memory, _ none) (any, error) { return m.replace("reload") }),
	proto.MethodNavigate: locked(func(_ *Host, m *memory, a proto.NavigateArgs) (any, error) {
		m.leaf = &a.TargetID
		m.change("navigate %s", a.TargetID)
		return proto.Navigated{Cancelled: m.veto}, nil
	}),

	proto.MethodAbort:    noted("abort"),
	proto.MethodShutdown: noted("shutdown"),
	proto.MethodCompact: locked(func(_ *Host, m *memory, _ proto.CompactArgs) (any, error) {
		m.change("compact")
		return sdk.CompactionResult{Summary: "a summary"}, nil
	}),
	proto.MethodSendMessage: locked(func(_ *Host, m *memory, a proto.SendMessageArgs) (any, error) {
		m.sent = append(m.sent, Sent{Custom: &a.Message, Text: message.Text(a.Message.Content.Blocks()), DeliverAs: a.DeliverAs, TriggerTurn: a.TriggerTurn})
		return nil, nil
	}),
	proto.MethodSendUserMessage: locked(func(_ *Host, m *memory, a proto.SendUserMessageArgs) (any, error) {
		m.sent = append(m.sent, Sent{Text: message.Text(a.Content.Blocks()), DeliverAs: a.DeliverAs, TriggerTurn: true})
		return nil, nil
	}),

	proto.MethodModels: locked(func(_ *Host, m *memory, _ none) (any, error) { return append([]sdk.Model{}, m.models...), nil }),
	proto.MethodSetModel: locked(func(_ *Host, m *memory, a proto.SetModelArgs) (any, error) {
		for n := range m.models {
			if m.models[n].Provider == a.Provider && m.models[n].ID == a.ModelID {
				m.model = &m.models[n]
				m.change("model %s/%s", a.Provider, a.ModelID)
				return m.model, nil
			}
		}
		return nil, fmt.Errorf("Model not found: %s/%s", a.Provider, a.ModelID) //nolint:staticcheck // the wire's words
	}),
	proto.MethodSetThinking: locked(func(_ *Host, m *memory, a proto.SetThinkingArgs) (any, error) {
		m.thinking = a.Level
		m.change("thinking %s", a.Level)
		return nil, nil
	}),
	proto.MethodTools: locked(func(_ *Host, m *memory, _ none) (any, error) { return append([]sdk.ToolInfo{}, m.tools...), nil }),
	proto.MethodSetActiveTools: locked(func(_ *Host, m *memory, a proto.SetActiveToolsArgs) (any, error) {
		for n := range m.tools {
			m.tools[n].Active = slices.Contains(a.Names, m.tools[n].Name)
		}
		m.change("tools %v", a.Names)
		return nil, nil
	}),
	proto.MethodCommands: locked(func(h *Host, _ *memory, _ none) (any, error) {
		list := []sdk.CommandInfo{}
		for _, c := range h.reg.GetCommands() {
			list = append(list, sdk.CommandInfo{Name: c.GetName(), Description: c.GetDescription(), Source: "extension"})
		}
		return list, nil
	}),
	proto.MethodPublish: locked(func(_ *Host, m *memory, a proto.BusMessage) (any, error) {
		m.published = append(m.published, a)
		return nil, nil
	}),
	proto.MethodRegisterProvider: locked(func(_ *Host, m *memory, a proto.Provider) (any, error) {
		m.providers = append(m.providers, a)
		return nil, nil
	}),
	proto.MethodUnregisterProvider: locked(func(_ *Host, m *memory, a proto.UnregisterProviderArgs) (any, error) {
		m.providers = slices.DeleteFunc(m.providers, func(p proto.Provider) bool { return p.Name == a.Name })
		return nil, nil
	}),
}

func noted(what string) func(*Host, []byte) (any, error) {
	return locked(func(_ *Host, m *memory, _ none) (any, error) {
		m.change("%s", what)
		return nil, nil
	})
}

func (m *memory) since(id *string) []json.RawMessage {
	if id == nil {
		return append([]json.RawMessage{}, m.entries...)
	}
	for n, raw := range m.entries {
		var e sdk.Entry
		if json.Unmarshal(raw, &e) == nil && e.ID == *id {
			return append([]json.RawMessage{}, m.entries[n+1:]...)
		}
	}
	return []json.RawMessage{}
}

// Providers lists the providers that the extension has registered.
func (h *Host) Providers() []proto.Provider {
	h.t.Helper()
	h.session.mu.Lock()
	defer h.session.mu.Unlock()
	list := slices.Clone(h.session.providers)
	for _, p := range h.reg.GetProviders() {
		var config proto.Provider
		if err := json.Unmarshal(p.GetConfig(), &config); err != nil {
			h.t.Fatalf("the provider %s: %v", p.GetName(), err)
		}
		list = append(list, config)
	}
	return list
}

func (m *memory) tree() (proto.Tree, error) {
	tree := proto.Tree{Nodes: []proto.TreeNode{}, LeafID: m.leaf}
	places := map[string]int{}
	for at, raw := range m.entries {
		var e sdk.Entry
		if err := json.Unmarshal(raw, &e); err != nil {
			return tree, err
		}
		node := proto.TreeNode{Entry: raw, Parent: -1, Label: m.labels[e.ID]}
		if e.ParentID != nil {
			parent, known := places[*e.ParentID]
			if !known {
				return tree, errors.New("an entry has no parent")
			}
			node.Parent = parent
		}
		places[e.ID] = at
		tree.Nodes = append(tree.Nodes, node)
	}
	return tree, nil
}
