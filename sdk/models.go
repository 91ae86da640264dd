package sdk

import (
	"errors"

	"github.com/seed-54e836f5/pi/proto"
)

// Models reads and sets the model of the session. It belongs to a Context.
type Models struct{ c *Context }

// Current is the session's model; nil: it has none.
func (m *Models) Current() (*Model, error) {
	state, err := m.c.State()
	return state.Model, err
}

// Available lists the models that there are credentials for.
func (m *Models) Available() ([]Model, error) {
	return get[[]Model](m.c, proto.MethodModels, nil)
}

// Set chooses a model for this session.
func (m *Models) Set(provider, id string) (Model, error) {
	return get[Model](m.c, proto.MethodSetModel, proto.SetModelArgs{Provider: provider, ModelID: id})
}

// Thinking is the session's thinking level.
func (m *Models) Thinking() (ThinkingLevel, error) {
	state, err := m.c.State()
	return state.ThinkingLevel, err
}

// SetThinking chooses a thinking level; what the model lacks is lowered to
// what it has.
func (m *Models) SetThinking(level ThinkingLevel) error {
	return m.c.call(proto.MethodSetThinking, proto.SetThinkingArgs{Level: level}, nil)
}

// Tools reads the session's tools and switches them. It belongs to a Context.
type Tools struct{ c *Context }

// All lists the tools, whether they are on or not.
func (t *Tools) All() ([]ToolInfo, error) {
	return get[[]ToolInfo](t.c, proto.MethodTools, nil)
}

// Active lists the names of the tools that the model has.
func (t *Tools) Active() ([]string, error) {
	all, err := t.All()
	var names []string
	for _, tool := range all {
		if tool.Active {
			names = append(names, tool.Name)
		}
	}
	return names, err
}

// SetActive says which tools the model has from the next model call on. No
// names are an error: to switch all off, say so with an empty slice.
func (t *Tools) SetActive(names []string) error {
	if names == nil {
		return errors.New("SetActive: the names are nil; an empty slice switches all tools off")
	}
	return t.c.call(proto.MethodSetActiveTools, proto.SetActiveToolsArgs{Names: names}, nil)
}
