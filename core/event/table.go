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
	// Doc says in a sentence or two what happened; empty for kinds that
	// clients do not see.
	Doc string
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
	{Kind: KindAgentStart, Client: true, Hook: Observe, New: func() Event { return new(AgentStart) },
		Doc: "A low-level run begins: one chain of turns."},
	{Kind: KindAgentEnd, Client: true, Hook: Observe, New: func() Event { return new(AgentEnd) },
		Doc: "A low-level run ends. With willRetry an automatic retry follows; a compaction or a queued message may follow too."},
	{Kind: KindAgentSettled, Client: true, Hook: Observe, New: func() Event { return new(AgentSettled) },
		Doc: "All that a prompt began is over, retries, compactions and queued messages included. Exactly one for each prompt that began a run."},
	{Kind: KindTurnStart, Client: true, Hook: Observe, New: func() Event { return new(TurnStart) },
		Doc: "A turn begins: one answer and the tool calls in it."},
	{Kind: KindTurnEnd, Client: true, Hook: Observe, New: func() Event { return new(TurnEnd) },
		Doc: "A turn ends, with its answer and the results of its tool calls."},
	{Kind: KindMessageStart, Client: true, Hook: Observe, New: func() Event { return new(MessageStart) },
		Doc: "A message begins. That of an assistant is as far as it has come."},
	{Kind: KindMessageUpdate, Client: true, Hook: Observe, Batched: true, New: func() Event { return new(MessageUpdate) },
		Doc: "A step of an assistant message. It has the delta only; usage is there when it changed."},
	{Kind: KindMessageEnd, Client: true, Hook: Decide, NewResult: func() any { return new(MessageEndResult) }, New: func() Event { return new(MessageEnd) },
		Doc: "A message in its final form, as it is stored."},
	{Kind: KindToolExecutionStart, Client: true, Hook: Observe, New: func() Event { return new(ToolExecutionStart) },
		Doc: "A tool call begins."},
	{Kind: KindToolExecutionUpdate, Client: true, Hook: Observe, Batched: true, New: func() Event { return new(ToolExecutionUpdate) },
		Doc: "The result of a tool call so far: all of it, not a delta."},
	{Kind: KindToolExecutionEnd, Client: true, Hook: Observe, New: func() Event { return new(ToolExecutionEnd) },
		Doc: "A tool call ends."},
	{Kind: KindBashExecutionUpdate, Client: true, New: func() Event { return new(BashExecutionUpdate) },
		Doc: "Output of the bash command, with the id of that command."},
	{Kind: KindQueueUpdate, Client: true, New: func() Event { return new(QueueUpdate) },
		Doc: "The texts that wait, whenever they changed."},
	{Kind: KindCompactionStart, Client: true, New: func() Event { return new(CompactionStart) },
		Doc: "The conversation is being summarised."},
	{Kind: KindCompactionEnd, Client: true, New: func() Event { return new(CompactionEnd) },
		Doc: "A summary took the place of what came before, or did not."},
	{Kind: KindAutoRetryStart, Client: true, New: func() Event { return new(AutoRetryStart) },
		Doc: "A failed answer is tried again after a wait."},
	{Kind: KindAutoRetryEnd, Client: true, New: func() Event { return new(AutoRetryEnd) },
		Doc: "The retries are over."},
	{Kind: KindSummaryRetry, Client: true, New: func() Event { return new(SummaryRetry) },
		Doc: "A summary failed and is tried again after a wait."},
	{Kind: KindSummaryRetryAttempt, Client: true, New: func() Event { return new(SummaryRetryAttempt) },
		Doc: "A summary is tried again."},
	{Kind: KindSummaryRetryFinished, Client: true, New: func() Event { return new(SummaryRetryFinished) },
		Doc: "The retries of a summary are over."},
	{Kind: KindExtensionError, Client: true, New: func() Event { return new(ExtensionError) },
		Doc: "An extension failed. The session goes on."},
	{Kind: KindSessionInfoChanged, Client: true, Hook: Observe, New: func() Event { return new(SessionInfoChanged) },
		Doc: "The session was named."},
	{Kind: KindThinkingLevelChanged, Client: true, New: func() Event { return new(ThinkingLevelChanged) },
		Doc: "The thinking level changed."},
	{Kind: KindEntryAppended, Client: true, New: func() Event { return new(EntryAppended) },
		Doc: "An entry was appended to the session."},
	{Kind: KindStorageError, Client: true, New: func() Event { return new(StorageError) },
		Doc: "Something could not be stored."},
	{Kind: KindTodoReminder, Client: true, New: func() Event { return new(TodoReminder) },
		Doc: "A run ended while tasks of the todo list were open."},
	{Kind: KindTodoAutoClear, Client: true, New: func() Event { return new(TodoAutoClear) },
		Doc: "All tasks were done, and the todo list was cleared."},
	{Kind: KindRulesTriggered, Client: true, Hook: Observe, New: func() Event { return new(RulesTriggered) },
		Doc: "Rules match what the model writes: its answer is stopped and tried again with them in mind, or it is reminded of them afterwards, as they and the settings say."},

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
