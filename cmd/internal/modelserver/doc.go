// Package modelserver is a scripted stand-in for the model services that the
// agent talks to: it listens on loopback, speaks their real streams, and does
// what the last user message orders, one verb a line.
//
// It imports the standard library only, and nothing of core, rpcmode,
// extensions or sdk: the agent must meet it as it meets a vendor.
//
// # Orders
//
//	SAY <text>            stream the text word by word
//	BURST <n> [bytes]     stream n text deltas of that many bytes (5) as fast as possible
//	THINK <text>          think before the answer
//	TOOL <name> <json>    call a tool; once its result is back, answer "tool said: …"
//	SLOW <ms>             wait between deltas
//	FAIL <status> [n]     answer the next n (1) requests of this text with that HTTP status
//	FAILMSG <text>        the error text that FAIL sends
//	RETRYAFTER <seconds>  the retry-after header that FAIL sends
//	HANG                  send one delta, then nothing until the client leaves
//	CUT                   send one delta, then drop the connection
//	STOP <reason>         finish with that stop reason, in the service's own word
//	EMPTY                 answer with no content at all
//	USAGE <input>         report that many input tokens (else a quarter of the request's bytes)
//	ECHO                  answer with the JSON of the request's messages
//	THEN                  end a round: what follows is for the next request that answers
//	                      the same user message, so that one prompt scripts several turns
//
// A message without orders is answered with one fixed sentence. A request for
// a summary (it has no tools and speaks of summarizing, or its last user
// message opens with <conversation>) is answered with [Summary], whatever
// orders the conversation holds, except for two that are looked for anywhere
// in it:
//
//	SUMFAIL <status> [n]  answer the next n (1) summary requests with that HTTP status
//	SUMSLOW <ms>          wait that long before a summary
//
// # Services
//
// Each service is one file: anthropic.go, chat.go. A service turns its request
// into a conversation and a plan into its stream; a new one is such a file and
// a row in the table of server.go.
package modelserver
