package event

// RulesTriggered says that rules of the user or the project match what the
// model writes: it was stopped, or is going to be reminded. Name and fields are
// those of the xcsh family.
type RulesTriggered struct {
	Rules []Rule `json:"rules"` // at least one
}

// Rule is a rule as its file says it.
type Rule struct {
	Name          string     `json:"name"`    // of the file, without its extension
	Path          string     `json:"path"`    // of the file, absolute
	Content       string     `json:"content"` // what the model is told
	Globs         []string   `json:"globs,omitempty"`
	AlwaysApply   bool       `json:"alwaysApply,omitempty"`
	Description   string     `json:"description,omitempty"`
	Condition     []string   `json:"condition,omitempty"`
	Scope         []string   `json:"scope,omitempty"`
	InterruptMode string     `json:"interruptMode,omitempty"` // empty: that of the settings
	Source        RuleSource `json:"_source"`
}

// RuleSource says where a rule comes from.
type RuleSource struct {
	Provider     string `json:"provider"`     // native, or the source of the package that has it
	ProviderName string `json:"providerName"` // the same for people
	Path         string `json:"path"`
	Level        string `json:"level"` // user, project
}

// Kind implements Event.
func (*RulesTriggered) Kind() Kind { return KindRulesTriggered }
