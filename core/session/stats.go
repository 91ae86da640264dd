package session

import (
	"github.com/seed-54e836f5/pi/core/compact"
	"github.com/seed-54e836f5/pi/core/message"
)

// Stats counts the whole session, all branches and failed attempts included.
type Stats struct {
	SessionFile       string
	SessionID         string
	UserMessages      int
	AssistantMessages int
	ToolCalls         int
	ToolResults       int
	TotalMessages     int
	Tokens            Tokens
	Cost              float64       // dollars
	ContextUsage      *ContextUsage // nil: see Session.ContextUsage
}

// Tokens are the sums of all model calls of a session.
type Tokens struct {
	Input      int64
	Output     int64
	CacheRead  int64
	CacheWrite int64
	Total      int64
}

// ContextUsage says how full the model's context is. Tokens and Percent are nil
// after a compaction, until the next answer tells.
type ContextUsage struct {
	Tokens        *int64
	ContextWindow int64
	Percent       *float64
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
