// Package config knows what a user and a project have set: settings, models,
// credentials and trust.
//
// It reads files when it is asked to and touches no network. It must not
// import core/session, core/agent, core/provider, rpcmode, extensions, proto
// or sdk.
package config
