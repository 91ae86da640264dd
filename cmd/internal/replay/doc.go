// Package replay plays a recorded scenario against an agent, as a client
// would, and compares what the agent does with what was recorded.
//
// It imports the standard library, a JSON Patch library and modelserver, and
// nothing of core, rpcmode, extensions or sdk: an agent is a command to it,
// whoever built it.
//
// # Files
//
// scenarios/NAME.json says what is played: the files in the agent's folders,
// its arguments, and steps (see [Scenario] and [Step]).
//
// recorded/NAME.jsonl is what a reference agent did (see [Transcript]), one
// thing a line: {"in": …} and {"out": …} for the lines of the conversation,
// {"timeout": …} for a wait that was not met, {"exited": n}, and at the end
// {"requests": […]} that reached the model, {"work": {…}} for the files in the
// working directory, and {"exit": n, "stderr": …, "sessions": […]}.
//
// overlays/NAME.json changes a recording where an agent is meant to differ
// from it, and says why (see [Overlay]); differences.json lists the reasons.
//
// # Normal form
//
// What changes from run to run is replaced before anything is stored or
// compared: <root> for the run's folder, <iso> and 0 for times, <e1>, <e2>…
// for entry ids, <u1>… for uuids, <t1>… for tool calls, <q1>… for dialogs,
// <resp> for the service's ids, 0 for token counts and costs. Two transcripts
// agree on ids when one is the other with the ids renamed. Deltas of one block
// are joined, output of one bash command too, and of the updates of one tool
// call the last stays. Sentences that an agent words for itself are <text>
// (see texts.go).
package replay
