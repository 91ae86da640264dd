package session

import (
	"github.com/seed-54e836f5/pi/core/compact"
	"github.com/seed-54e836f5/pi/core/message"
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
	t := log.Totals()
	u := t.Usage
	return Stats{
		SessionFile: log.Path(), SessionID: log.ID(), ContextUsage: s.ContextUsage(),
		UserMessages: t.UserMessages, AssistantMessages: t.AssistantMessages, ToolCalls: t.ToolCalls, ToolResults: t.ToolResults,
		TotalMessages: t.Messages, Cost: u.Cost.Total,
		Tokens: Tokens{
			Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
			Total: u.Input + u.Output + u.CacheRead + u.CacheWrite,
		},
	}
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
