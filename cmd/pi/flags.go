package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// options are what the command line says.
type options struct {
	mode      string
	print     bool
	dialect   string
	messages  []string // prompts, and files with an @ in front
	search    string   // --list-models with one
	offline   bool
	approve   bool
	noApprove bool

	provider, model, apiKey, thinking string
	models                            []string

	session, sessionID, sessionDir, fork, name string
	noSession, continueLast                    bool

	systemPrompt                           string
	appendSystemPrompt                     []string
	tools, excludeTools                    []string
	noTools, noBuiltinTools                bool
	skills, promptTemplates, extensions    []string
	noSkills, noPromptTemplates, noRules   bool
	noContextFiles, noThemes, noExtensions bool

	// extensionFlags are flags that pi does not know itself: an extension may.
	extensionFlags map[string]string
}

// newCommand makes the command line: the flags that clients of the reference
// agents use already, and prompts.
func newCommand(o *options, start func(*cobra.Command) error) *cobra.Command {
	command := &cobra.Command{
		Use:           "pi [flags] [@file ...] [message ...]",
		Short:         "A coding agent that other programs drive",
		Version:       version,
		Args:          cobra.ArbitraryArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(c *cobra.Command, args []string) error {
			o.messages = args
			if err := o.check(c.Flags()); err != nil {
				return err
			}
			return start(c)
		},
	}
	command.SetVersionTemplate("{{.Version}}\n")
	command.CompletionOptions.DisableDefaultCmd = true
	o.register(command.Flags())
	return command
}

func (o *options) register(f *pflag.FlagSet) {
	f.StringVar(&o.mode, "mode", "", "how to talk: text, json, rpc")
	f.BoolVarP(&o.print, "print", "p", false, "answer the prompt, print the text, exit")
	f.StringVar(&o.dialect, "dialect", "", "rpc dialect: pi, xcsh")

	f.StringVar(&o.provider, "provider", "", "provider of the model")
	f.StringVar(&o.model, "model", "", "model: id, provider/id or a part of it, with :level or without")
	f.StringSliceVar(&o.models, "models", nil, "models to cycle through, as patterns")
	f.StringVar(&o.apiKey, "api-key", "", "API key of the provider, for this process")
	f.StringVar(&o.thinking, "thinking", "", "thinking level: off, minimal, low, medium, high, xhigh, max")
	f.StringVar(&o.search, "list-models", "", "list the models, or those that fit a word, and exit")
	f.Lookup("list-models").NoOptDefVal = listAllModels

	f.StringVar(&o.session, "session", "", "session to open: a path, or the beginning of an id")
	f.StringVar(&o.sessionID, "session-id", "", "session to open or begin, by its exact id")
	f.StringVar(&o.sessionDir, "session-dir", "", "folder of the session files")
	f.BoolVar(&o.noSession, "no-session", false, "keep the session in memory only")
	f.BoolVarP(&o.continueLast, "continue", "c", false, "go on with the latest session of this folder")
	f.StringVar(&o.fork, "fork", "", "begin with a copy of a session: a path, or the beginning of an id")
	f.StringVarP(&o.name, "name", "n", "", "name of the session")

	f.StringVar(&o.systemPrompt, "system-prompt", "", "system prompt in place of the usual one: a text or a file")
	f.StringArrayVar(&o.appendSystemPrompt, "append-system-prompt", nil, "text or file to put behind the system prompt")
	f.StringSliceVarP(&o.tools, "tools", "t", nil, "tools to have, and no others; or +name and -name for more or fewer than usual")
	f.BoolVar(&o.noTools, "no-tools", false, "have no tools (-nt)")
	f.BoolVar(&o.noBuiltinTools, "no-builtin-tools", false, "have no tools but those of extensions (-nbt)")
	f.StringSliceVar(&o.excludeTools, "exclude-tools", nil, "tools not to have (-xt)")

	f.StringArrayVarP(&o.extensions, "extension", "e", nil, "extension to load: an executable, or a folder")
	f.BoolVar(&o.noExtensions, "no-extensions", false, "load no extensions but those of --extension (-ne)")
	f.StringArrayVar(&o.skills, "skill", nil, "skill to load: a file or folder")
	f.BoolVar(&o.noRules, "no-rules", false, "load no rules")
	f.BoolVar(&o.noSkills, "no-skills", false, "load no skills but those of --skill (-ns)")
	f.StringArrayVar(&o.promptTemplates, "prompt-template", nil, "prompt template to load: a file or folder")
	f.BoolVar(&o.noPromptTemplates, "no-prompt-templates", false, "load no prompt templates but those of --prompt-template (-np)")
	f.BoolVar(&o.noContextFiles, "no-context-files", false, "load no AGENTS.md and the like (-nc)")
	f.BoolVar(&o.noThemes, "no-themes", false, "accepted for clients that send it; there are no themes")
	f.BoolVarP(&o.approve, "approve", "a", false, "trust this project, this once")
	f.BoolVar(&o.noApprove, "no-approve", false, "do not trust this project, this once (-na)")
	f.BoolVar(&o.offline, "offline", false, "accepted for clients that send it; nothing goes to the network but model calls")
}

// listAllModels is what --list-models without a word stands for.
const listAllModels = "*"

// longShorthands are flags that clients of the reference agent know. Read letter
// by letter -nt would name the session t.
var longShorthands = map[string]string{
	"-nt": "--no-tools", "-nbt": "--no-builtin-tools", "-xt": "--exclude-tools",
	"-ne": "--no-extensions", "-ns": "--no-skills", "-np": "--no-prompt-templates", "-nc": "--no-context-files",
	"-na": "--no-approve",
}

// expandShorthands writes longShorthands out, where they are not the value of
// another flag.
func expandShorthands(f *pflag.FlagSet, arguments []string) []string {
	expanded := slices.Clone(arguments)
	for i := 0; i < len(expanded) && expanded[i] != "--"; i++ {
		if long, ok := longShorthands[expanded[i]]; ok {
			expanded[i] = long
		}
		if takesNext(f, expanded[i]) {
			i++
		}
	}
	return expanded
}

// takesNext says whether the argument behind a flag is its value.
func takesNext(f *pflag.FlagSet, argument string) bool {
	var known *pflag.Flag
	if name, isLong := strings.CutPrefix(argument, "--"); isLong {
		known = f.Lookup(name) // nil for --name=value
	} else if len(argument) == 2 && argument[0] == '-' {
		known = f.ShorthandLookup(argument[1:])
	}
	return known != nil && known.NoOptDefVal == ""
}

// setUnknown takes the flags that the command does not have out of the
// arguments and keeps them for extensions: --name=value, --name value where a
// value follows, or --name alone for true.
func (o *options) setUnknown(f *pflag.FlagSet, arguments []string) (rest []string) {
	for i := 0; i < len(arguments); i++ {
		name, isLong := strings.CutPrefix(arguments[i], "--")
		if arguments[i] == "--" {
			return append(rest, arguments[i:]...)
		}
		name, value, hasValue := strings.Cut(name, "=")
		if !isLong || name == "help" || name == "version" {
			rest = append(rest, arguments[i])
			continue
		}
		if known := f.Lookup(name); known != nil {
			rest = append(rest, arguments[i])
			if !hasValue && known.NoOptDefVal == "" && i+1 < len(arguments) {
				i++
				rest = append(rest, arguments[i])
			}
			continue
		}
		if !hasValue {
			value = "true"
			if i+1 < len(arguments) && !strings.HasPrefix(arguments[i+1], "-") {
				i++
				value = arguments[i]
			}
		}
		if o.extensionFlags == nil {
			o.extensionFlags = map[string]string{}
		}
		o.extensionFlags[name] = value
	}
	return rest
}

// contradictions are flags that cannot both be meant.
var contradictions = [][2]string{
	{"no-session", "session"},
	{"no-session", "session-id"},
	{"no-session", "continue"},
	{"no-session", "fork"},
	{"session", "session-id"},
	{"session", "continue"},
	{"session", "fork"},
	{"session-id", "continue"},
	{"continue", "fork"},
	{"approve", "no-approve"},
	{"tools", "no-tools"},
}

func (o *options) check(f *pflag.FlagSet) error {
	for _, pair := range contradictions {
		if given(f, pair[0]) && given(f, pair[1]) {
			return fmt.Errorf("--%s and --%s contradict each other: give one of them", pair[0], pair[1])
		}
	}
	if f.Changed("session-id") && o.sessionID == "" {
		return errors.New("--session-id is empty: give the id, or leave the flag out")
	}
	if o.apiKey != "" && o.provider == "" && o.model == "" {
		return errors.New("--api-key needs --provider or --model, to know whose key it is")
	}
	if added := signed(o.tools); added > 0 && added < len(o.tools) {
		return errors.New("--tools names tools to have, or has a + or - in front of each to change which are on: not both")
	}
	if o.mode == "rpc" {
		if o.print {
			return errors.New("--print and --mode rpc contradict each other: give one of them")
		}
		if slices.ContainsFunc(o.messages, func(m string) bool { return strings.HasPrefix(m, "@") }) {
			return errors.New("@file arguments are not supported in rpc mode: send the text with a prompt")
		}
	}
	return nil
}

// picksTools says whether the flags name the tools to have, other than to add
// some or take some away.
func (o *options) picksTools() bool { return len(o.tools) > 0 && signed(o.tools) == 0 }

// signed counts the names with + or - in front.
func signed(names []string) int {
	n := 0
	for _, name := range names {
		if strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-") {
			n++
		}
	}
	return n
}

// given says whether a flag was given a value that means something.
func given(f *pflag.FlagSet, name string) bool {
	flag := f.Lookup(name)
	return flag.Changed && flag.Value.String() != "false"
}

// warn tells the person who started the process something that does not stop
// it.
func warn(to io.Writer, format string, args ...any) {
	fmt.Fprintf(to, "Warning: "+format+"\n", args...)
}
