// Package packages brings what is shared as packages: folders and git
// repositories with prompts, skills, rules and extensions, named in the settings
// and pinned in a lock file that can be checked in.
//
// Only what a person asks for touches the network, through the user's own git;
// finding what is installed does not. Nothing here runs anything of a package.
// It imports core/config and must not import core/resource, core/session,
// rpcmode, extensions, proto or sdk.
package packages
