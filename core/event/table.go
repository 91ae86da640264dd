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
	// New makes an empty event of the kind to decode into.
	New func() Event
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
	{Kind: KindAgentStart, Client: true, Hook: Observe, New: func() Event { return new(AgentStart) }},
	{Kind: KindAgentEnd, Client: true, Hook: Observe, New: func() Event { return new(AgentEnd) }},
	{Kind: KindAgentSettled, Client: true, Hook: Observe, New: func() Event { return new(AgentSettled) }},
	{Kind: KindTurnStart, Client: true, Hook: Observe, New: func() Event { return new(TurnStart) }},
	{Kind: KindTurnEnd, Client: true, Hook: Observe, New: func() Event { return new(TurnEnd) }},
	{Kind: KindMessageStart, Client: true, Hook: Observe, New: func() Event { return new(MessageStart) }},
	{Kind: KindMessageUpdate, Client: true, Hook: Observe, Batched: true, New: func() Event { return new(MessageUpdate) }},
	{Kind: KindMessageEnd, Client: true, Hook: Decide, NewResult: func() any { return new(MessageEndResult) }, New: func() Event { return new(MessageEnd) }},
	{Kind: KindToolExecutionStart, Client: true, Hook: Observe, New: func() Event { return new(ToolExecutionStart) }},
	{Kind: KindToolExecutionUpdate, Client: true, Hook: Observe, Batched: true, New: func() Event { return new(ToolExecutionUpdate) }},
	{Kind: KindToolExecutionEnd, Client: true, Hook: Observe, New: func() Event { return new(ToolExecutionEnd) }},
	{Kind: KindBashExecutionUpdate, Client: true, New: func() Event { return new(BashExecutionUpdate) }},
	{Kind: KindQueueUpdate, Client: true, New: func() Event { return new(QueueUpdate) }},
	{Kind: KindCompactionStart, Client: true, New: func() Event { return new(CompactionStart) }},
	{Kind: KindCompactionEnd, Client: true, New: func() Event { return new(CompactionEnd) }},
	{Kind: KindAutoRetryStart, Client: true, New: func() Event { return new(AutoRetryStart) }},
	{Kind: KindAutoRetryEnd, Client: true, New: func() Event { return new(AutoRetryEnd) }},
	{Kind: KindSummaryRetry, Client: true, New: func() Event { return new(SummaryRetry) }},
	{Kind: KindSummaryRetryAttempt, Client: true, New: func() Event { return new(SummaryRetryAttempt) }},
	{Kind: KindSummaryRetryFinished, Client: true, New: func() Event { return new(SummaryRetryFinished) }},
	{Kind: KindExtensionError, Client: true, New: func() Event { return new(ExtensionError) }},
	{Kind: KindSessionInfoChanged, Client: true, Hook: Observe, New: func() Event { return new(SessionInfoChanged) }},
	{Kind: KindThinkingLevelChanged, Client: true, New: func() Event { return new(ThinkingLevelChanged) }},
	{Kind: KindEntryAppended, Client: true, New: func() Event { return new(EntryAppended) }},
	{Kind: KindStorageError, Client: true, New: func() Event { return new(StorageError) }},
	{Kind: KindTodoReminder, Client: true, New: func() Event { return new(TodoReminder) }},
	{Kind: KindTodoAutoClear, Client: true, New: func() Event { return new(TodoAutoClear) }},

	{Kind: KindProjectTrust, Hook: Decide, NewResult: func() any { return new(ProjectTrustResult) }, New: func() Event { return new(ProjectTrust) }},
	{Kind: KindResourcesDiscover, Hook: Decide, NewResult: func() any { return new(ResourcesDiscoverResult) }, New: func() Event { return new(ResourcesDiscover) }},
	{Kind: KindSessionBeforeSwitch, Hook: Decide, NewResult: func() any { return new(CancelResult) }, New: func() Event { return new(SessionBeforeSwitch) }},
	{Kind: KindSessionBeforeFork, Hook: Decide, NewResult: func() any { return new(CancelResult) }, New: func() Event { return new(SessionBeforeFork) }},
	{Kind: KindSessionBeforeCompact, Hook: Decide, NewResult: func() any { return new(SessionBeforeCompactResult) }, New: func() Event { return new(SessionBeforeCompact) }},
	{Kind: KindSessionBeforeTree, Hook: Decide, NewResult: func() any { return new(SessionBeforeTreeResult) }, New: func() Event { return new(SessionBeforeTree) }},
	{Kind: KindInput, Hook: Decide, NewResult: func() any { return new(InputResult) }, New: func() Event { return new(Input) }},
	{Kind: KindBeforeAgentStart, Hook: Decide, NewResult: func() any { return new(BeforeAgentStartResult) }, New: func() Event { return new(BeforeAgentStart) }},
	{Kind: KindContext, Hook: Decide, NewResult: func() any { return new(ContextResult) }, New: func() Event { return new(Context) }},
	{Kind: KindBeforeProviderHeaders, Hook: Decide, NewResult: func() any { return new(BeforeProviderHeadersResult) }, New: func() Event { return new(BeforeProviderHeaders) }},
	{Kind: KindBeforeProviderRequest, Hook: Decide, NewResult: func() any { return new(BeforeProviderRequestResult) }, New: func() Event { return new(BeforeProviderRequest) }},
	{Kind: KindToolCall, Hook: Decide, NewResult: func() any { return new(ToolCallResult) }, New: func() Event { return new(ToolCall) }},
	{Kind: KindToolResult, Hook: Decide, NewResult: func() any { return new(ToolResultPatch) }, New: func() Event { return new(ToolResult) }},
	{Kind: KindUserBash, Hook: Decide, NewResult: func() any { return new(UserBashResult) }, New: func() Event { return new(UserBash) }},

	{Kind: KindSessionStart, Hook: Observe, New: func() Event { return new(SessionStart) }},
	{Kind: KindSessionCompact, Hook: Observe, New: func() Event { return new(SessionCompact) }},
	{Kind: KindSessionCompactFailed, Hook: Observe, New: func() Event { return new(SessionCompactFailed) }},
	{Kind: KindSessionTree, Hook: Observe, New: func() Event { return new(SessionTree) }},
	{Kind: KindSessionShutdown, Hook: Observe, New: func() Event { return new(SessionShutdown) }},
	{Kind: KindUIPromptStart, Hook: Observe, New: func() Event { return new(UIPromptStart) }},
	{Kind: KindUIPromptEnd, Hook: Observe, New: func() Event { return new(UIPromptEnd) }},
	{Kind: KindAfterProviderResponse, Hook: Observe, New: func() Event { return new(AfterProviderResponse) }},
	{Kind: KindModelSelect, Hook: Observe, New: func() Event { return new(ModelSelect) }},
	{Kind: KindThinkingLevelSelect, Hook: Observe, New: func() Event { return new(ThinkingLevelSelect) }},
}

var byKind = func() map[Kind]Info {
	rows := make(map[Kind]Info, len(table))
	for _, row := range table {
		rows[row.Kind] = row
	}
	return rows
}()
