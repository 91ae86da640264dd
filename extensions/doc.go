// Package extensions runs extensions: it finds them, starts each as a process
// of its own, calls them, serves what they ask, restarts them when they die,
// and ends them. To the rest of pi an extension is a hook.Listener, tools,
// commands and providers.
//
// It imports the core, proto, go-plugin and gRPC. It must not import rpcmode,
// sdk or cmd, and none of go-plugin's or gRPC's types leave it.
package extensions
