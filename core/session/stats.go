package session

import (
	"encoding/json"

	"github.com/seed-54e836f5/pi/core/compact"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// Stats counts the whole session, all branches and failed attempts included,
// in wire form.
type Stats struct {
	SessionFile       string        `json:"sessionFile,omitempty"`
	SessionID         string        `json:"sessionId"`
	UserMessages      int           `json:"userMessages"`
	AssistantMessages int           `json:"assistantMessages"`
	ToolCalls         int           `json:"toolCalls"`
	ToolResults       int           `json:"toolResults"`
	TotalMessages     int           `json:"totalMessages"`
	Tokens            Tokens        `json:"tokens"`
	Cost              float64       `json:"cost"` // dollars
	ContextUsage      *ContextUsage `json:"contextUsage,omitempty"`
}

// Tokens are the sums of all model calls of a session, in wire form.
type Tokens struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	Total      int64 `json:"total"`
}

// ContextUsage says how full the model's context is, in wire form. Tokens and
// Percent are nil after a compaction, until the next answer tells.
type ContextUsage struct {
	Tokens        *int64   `json:"tokens"`
	ContextWindow int64    `json:"contextWindow"`
	Percent       *float64 `json:"percent"`
}

// Stats counts the session.
func (s *Session) Stats() Stats {
	log := s.currentConversation().log
	stats := Stats{SessionFile: log.Path(), SessionID: log.ID(), ContextUsage: s.ContextUsage()}
	for _, e := range log.Entries() {
		stats.count(e)
	}
	t := &stats.Tokens
	t.Total = t.Input + t.Output + t.CacheRead + t.CacheWrite
	return stats
}

func (t *Stats) count(e store.Entry) {
	switch e.Type {
	case store.TypeMessage:
		m, err := e.Message()
		if err != nil {
			return
		}
		t.TotalMessages++
		t.countMessage(m)
	case store.TypeCompaction, store.TypeBranchSummary:
		var body struct {
			Usage *message.Usage `json:"usage"`
		}
		if json.Unmarshal(e.Raw, &body) == nil {
			t.add(body.Usage)
		}
	}
}

func (t *Stats) countMessage(m message.Message) {
	switch m := m.(type) {
	case *message.User:
		t.UserMessages++
	case *message.Assistant:
		t.AssistantMessages++
		t.ToolCalls += len(m.ToolCalls())
		t.add(&m.Usage)
	case *message.ToolResult:
		t.ToolResults++
		t.add(m.Usage)
	}
}

func (t *Stats) add(u *message.Usage) {
	if u == nil {
		return
	}
	t.Tokens.Input += u.Input
	t.Tokens.Output += u.Output
	t.Tokens.CacheRead += u.CacheRead
	t.Tokens.CacheWrite += u.CacheWrite
	t.Cost += u.Cost.Total
}

// ContextUsage says how full the context is; nil without a model, or with one
// whose window is unknown.
func (s *Session) ContextUsage() *ContextUsage {
	s.mu.Lock()
	c, model := s.conversation, s.model
	s.mu.Unlock()
	if model == nil || model.ContextWindow <= 0 {
		return nil
	}
	usage := &ContextUsage{ContextWindow: model.ContextWindow}
	items := c.log.Context(c.log.Leaf())
	size := compact.ContextTokens(items)
	tokens := size.Tokens
	if !size.Reported && len(items) > 0 && items[0].Role == message.RoleCompactionSummary {
		return usage
	}
	if len(items) == 0 {
		tokens = 0
	}
	percent := float64(tokens) / float64(model.ContextWindow) * 100
	usage.Tokens, usage.Percent = &tokens, &percent
	return usage
}
