package message

import (
	"cmp"
	"slices"
)

// Usage counts the tokens of one model call, or of many.
type Usage struct {
	Input       int64 `json:"input" doc:"tokens, without those of the cache"`
	Output      int64 `json:"output" doc:"tokens"`
	CacheRead   int64 `json:"cacheRead" doc:"tokens"`
	CacheWrite  int64 `json:"cacheWrite" doc:"tokens"`
	TotalTokens int64 `json:"totalTokens" doc:"all four"`
	Cost        Cost  `json:"cost"`
	// CacheWrite1h is the part of CacheWrite that was written for an hour;
	// nil where the service does not tell.
	CacheWrite1h *int64 `json:"cacheWrite1h,omitempty"`
	// Reasoning is the part of Output that was thinking; nil where the service
	// does not tell.
	Reasoning *int64 `json:"reasoning,omitempty"`
	// Extra keeps fields that this type does not know, for a round trip.
	Extra Fields `json:"-"`
}

// Cost is the price of a usage in dollars.
type Cost struct {
	Input      float64 `json:"input" doc:"dollars"`
	Output     float64 `json:"output" doc:"dollars"`
	CacheRead  float64 `json:"cacheRead" doc:"dollars"`
	CacheWrite float64 `json:"cacheWrite" doc:"dollars"`
	Total      float64 `json:"total" doc:"dollars"`
	// Extra keeps fields that this type does not know, for a round trip.
	Extra Fields `json:"-"`
}

// Add gives the sum of two usages; the parts that not every service tells are
// summed where either has them, and fields that are not known left out.
func (u Usage) Add(v Usage) Usage {
	u.Input += v.Input
	u.Output += v.Output
	u.CacheRead += v.CacheRead
	u.CacheWrite += v.CacheWrite
	u.TotalTokens += v.TotalTokens
	u.Cost.Input += v.Cost.Input
	u.Cost.Output += v.Cost.Output
	u.Cost.CacheRead += v.Cost.CacheRead
	u.Cost.CacheWrite += v.Cost.CacheWrite
	u.Cost.Total += v.Cost.Total
	u.CacheWrite1h = addKnown(u.CacheWrite1h, v.CacheWrite1h)
	u.Reasoning = addKnown(u.Reasoning, v.Reasoning)
	u.Extra, u.Cost.Extra = nil, nil
	return u
}

func addKnown(a, b *int64) *int64 {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	sum := *a + *b
	return &sum
}

// Model describes one model of one provider, in the wire's form.
type Model struct {
	ID            string   `json:"id"`
	Name          string   `json:"name" doc:"for people"`
	API           string   `json:"api" doc:"what is spoken with it, such as anthropic-messages"`
	Provider      string   `json:"provider"`
	BaseURL       string   `json:"baseUrl" doc:"where requests go"`
	Reasoning     bool     `json:"reasoning" doc:"it can think"`
	Input         []string `json:"input" doc:"text, image"`
	Cost          Price    `json:"cost" doc:"dollars for a million tokens"`
	ContextWindow int64    `json:"contextWindow" doc:"tokens"`
	MaxTokens     int64    `json:"maxTokens" doc:"tokens of one answer"`
	// ThinkingLevels lists the levels beyond off, minimal, low, medium and
	// high that the model has (xhigh, max). It is not on the wire.
	ThinkingLevels []ThinkingLevel `json:"-"`
	// ThinkingWords has the service's own word for a level, and nil for a
	// level that the model does not have. What is not in it is as usual. It
	// is thinkingLevelMap of models.json, and not on the wire.
	ThinkingWords map[ThinkingLevel]*string `json:"-"`
}

// Price is what a model costs in dollars per million tokens.
type Price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
}

// Of gives the cost of a usage at this price.
func (p Price) Of(u Usage) Cost {
	const million = 1e6
	c := Cost{
		Input:      p.Input * float64(u.Input) / million,
		Output:     p.Output * float64(u.Output) / million,
		CacheRead:  p.CacheRead * float64(u.CacheRead) / million,
		CacheWrite: p.CacheWrite * float64(u.CacheWrite) / million,
	}
	c.Total = c.Input + c.Output + c.CacheRead + c.CacheWrite
	return c
}

// TakesImages says whether the model accepts images.
func (m Model) TakesImages() bool {
	return slices.Contains(m.Input, "image")
}

// ThinkingLevel says how much a model thinks before it answers.
type ThinkingLevel string

// The thinking levels, from none to most.
const (
	ThinkingOff     ThinkingLevel = "off"
	ThinkingMinimal ThinkingLevel = "minimal"
	ThinkingLow     ThinkingLevel = "low"
	ThinkingMedium  ThinkingLevel = "medium"
	ThinkingHigh    ThinkingLevel = "high"
	ThinkingXHigh   ThinkingLevel = "xhigh"
	ThinkingMax     ThinkingLevel = "max"
)

// ThinkingLevels lists all levels in ascending order.
func ThinkingLevels() []ThinkingLevel {
	return []ThinkingLevel{ThinkingOff, ThinkingMinimal, ThinkingLow, ThinkingMedium, ThinkingHigh, ThinkingXHigh, ThinkingMax}
}

// Levels lists the levels that the model has, in ascending order and at least
// one: only off for one without reasoning.
func (m Model) Levels() []ThinkingLevel {
	if !m.Reasoning {
		return []ThinkingLevel{ThinkingOff}
	}
	var levels []ThinkingLevel
	for _, level := range ThinkingLevels() {
		if m.hasLevel(level) {
			levels = append(levels, level)
		}
	}
	if levels == nil {
		return []ThinkingLevel{ThinkingOff}
	}
	return levels
}

func (m Model) hasLevel(level ThinkingLevel) bool {
	if word, told := m.ThinkingWords[level]; told {
		return word != nil
	}
	if level == ThinkingXHigh || level == ThinkingMax {
		return slices.Contains(m.ThinkingLevels, level)
	}
	return true
}

// Clamp gives the highest level of the model that is not above the one asked
// for, or its lowest where all are above. An unknown word gives the lowest.
func (m Model) Clamp(level ThinkingLevel) ThinkingLevel {
	all, has := ThinkingLevels(), m.Levels()
	best := has[0]
	for _, l := range has {
		if slices.Index(all, l) <= slices.Index(all, level) {
			best = l
		}
	}
	return best
}
