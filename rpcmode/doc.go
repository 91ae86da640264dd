// Package rpcmode lets a client drive a session with JSON lines: one table of
// commands, the encoding of events, dialogs and host tools over the same two
// streams, and the two dialects that clients speak.
//
// Frames are typed in the subfolder wire, framed in jsonl, and spoken by a Go
// client in client.
//
// It imports core packages only. It knows nothing of plugins: never
// extensions, proto or sdk.
package rpcmode

//go:generate go run ./internal/reference ../docs/protocol.md ../docs/protocol.d.ts
