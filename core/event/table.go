package event

// Info is one row of the table of kinds.
type Info struct {
	Kind Kind
	// Client says that the event goes to whoever sits behind stdio.
	Client bool
	// Hook says how extensions take part: not at all, as observers, or by
	// deciding.
	Hook Participation
	// Batched marks observed kinds that come in floods: extensions get them in
	// batches, without an answer being awaited.
	Batched bool
	// NewResult makes an empty result value to decode into; nil for kinds that
	// nobody decides.
	NewResult func() any
}

// Participation says how extensions take part in an event.
type Participation int

// How extensions take part.
const (
	Closed  Participation = iota // extensions do not see it
	Observe                      // told, in order; no result
	Decide                       // awaited in load order; the result counts
)

// Lookup gives the row of a kind, and whether there is one.
func Lookup(kind Kind) (Info, bool) {
	info, ok := byKind[kind]
	return info, ok
}

// Table lists all kinds. The caller may keep and change the slice.
func Table() []Info { return append([]Info(nil), table...) }

var table = []Info{
	{Kind: KindAgentStart, Client: true, Hook: Observe},
	{Kind: KindAgentEnd, Client: true, Hook: Observe},
	{Kind: KindAgentSettled, Client: true, Hook: Observe},
	{Kind: KindTurnStart, Client: true, Hook: Observe},
	{Kind: KindTurnEnd, Client: true, Hook: Observe},
	{Kind: KindMessageStart, Client: true, Hook: Observe},
	{Kind: KindMessageUpdate, Client: true, Hook: Observe, Batched: true},
	{Kind: KindMessageEnd, Client: true, Hook: Decide, NewResult: func() any { return new(MessageEndResult) }},
	{Kind: KindToolExecutionStart, Client: true, Hook: Observe},
	{Kind: KindToolExecutionUpdate, Client: true, Hook: Observe, Batched: true},
	{Kind: KindToolExecutionEnd, Client: true, Hook: Observe},
	{Kind: KindBashExecutionUpdate, Client: true},
	{Kind: KindQueueUpdate, Client: true},
	{Kind: KindCompactionStart, Client: true},
	{Kind: KindCompactionEnd, Client: true},
	{Kind: KindAutoRetryStart, Client: true},
	{Kind: KindAutoRetryEnd, Client: true},
	{Kind: KindSummaryRetry, Client: true},
	{Kind: KindSummaryRetryAttempt, Client: true},
	{Kind: KindSummaryRetryFinished, Client: true},
	{Kind: KindExtensionError, Client: true},
	{Kind: KindSessionInfoChanged, Client: true, Hook: Observe},
	{Kind: KindThinkingLevelChanged, Client: true},
	{Kind: KindEntryAppended, Client: true},
	{Kind: KindStorageError, Client: true},

	{Kind: KindProjectTrust, Hook: Decide, NewResult: func() any { return new(ProjectTrustResult) }},
	{Kind: KindResourcesDiscover, Hook: Decide, NewResult: func() any { return new(ResourcesDiscoverResult) }},
	{Kind: KindSessionBeforeSwitch, Hook: Decide, NewResult: func() any { return new(CancelResult) }},
	{Kind: KindSessionBeforeFork, Hook: Decide, NewResult: func() any { return new(CancelResult) }},
	{Kind: KindSessionBeforeCompact, Hook: Decide, NewResult: func() any { return new(SessionBeforeCompactResult) }},
	{Kind: KindSessionBeforeTree, Hook: Decide, NewResult: func() any { return new(SessionBeforeTreeResult) }},
	{Kind: KindInput, Hook: Decide, NewResult: func() any { return new(InputResult) }},
	{Kind: KindBeforeAgentStart, Hook: Decide, NewResult: func() any { return new(BeforeAgentStartResult) }},
	{Kind: KindContext, Hook: Decide, NewResult: func() any { return new(ContextResult) }},
	{Kind: KindBeforeProviderHeaders, Hook: Decide, NewResult: func() any { return new(BeforeProviderHeadersResult) }},
	{Kind: KindBeforeProviderRequest, Hook: Decide, NewResult: func() any { return new(BeforeProviderRequestResult) }},
	{Kind: KindToolCall, Hook: Decide, NewResult: func() any { return new(ToolCallResult) }},
	{Kind: KindToolResult, Hook: Decide, NewResult: func() any { return new(ToolResultPatch) }},
	{Kind: KindUserBash, Hook: Decide, NewResult: func() any { return new(UserBashResult) }},

	{Kind: KindSessionStart, Hook: Observe},
	{Kind: KindSessionCompact, Hook: Observe},
	{Kind: KindSessionCompactFailed, Hook: Observe},
	{Kind: KindSessionTree, Hook: Observe},
	{Kind: KindSessionShutdown, Hook: Observe},
	{Kind: KindUIPromptStart, Hook: Observe},
	{Kind: KindUIPromptEnd, Hook: Observe},
	{Kind: KindAfterProviderResponse, Hook: Observe},
	{Kind: KindModelSelect, Hook: Observe},
	{Kind: KindThinkingLevelSelect, Hook: Observe},
}

var byKind = func() map[Kind]Info {
	rows := make(map[Kind]Info, len(table))
	for _, row := range table {
		rows[row.Kind] = row
	}
	return rows
}()
