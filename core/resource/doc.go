// Package resource loads what users and projects check in for the model:
// prompt templates, skills, rules, context files and the parts of the system
// prompt.
//
// Nothing here runs anything that it loads. It must not import core/config,
// core/session, core/agent, rpcmode, extensions, proto or sdk.
package resource
