package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// sessionsCommand is pi sessions.
func sessionsCommand(std streams) *cobra.Command {
	c := &cobra.Command{Use: "sessions", Short: "List, show and remove sessions"}
	o := &options{}
	c.PersistentFlags().StringVar(&o.sessionDir, "session-dir", "", "folder of the session files")
	run := func(f func(*process, []string) error) func(*cobra.Command, []string) error {
		return func(c *cobra.Command, arguments []string) error {
			p := &process{std: std, options: o, flags: c.Flags()}
			if err := p.readConfiguration(); err != nil {
				return err
			}
			return f(p, arguments)
		}
	}

	var all, asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "List the sessions of this folder, the last used first", Args: cobra.NoArgs,
		RunE: run(func(p *process, _ []string) error { return p.printSessions(all, asJSON) }),
	}
	list.Flags().BoolVar(&all, "all", false, "those of all folders")
	list.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")

	var old string
	var try bool
	gc := &cobra.Command{
		Use:   "gc",
		Short: "Remove what is left of processes that were killed, and old sessions",
		Long:  `Remove locks that nobody holds and halves of migrations; with --older-than, sessions that were not used for so long too. Sessions that are open stay.`,
		Args:  cobra.NoArgs,
		RunE:  run(func(p *process, _ []string) error { return p.collectSessions(old, try) }),
	}
	gc.Flags().StringVar(&old, "older-than", "", "remove sessions not used for so long, such as 90d, 12w or 36h")
	gc.Flags().BoolVar(&try, "dry-run", false, "only say which sessions would be removed")

	c.AddCommand(list, gc, &cobra.Command{
		Use: "show <session>", Short: "Print a conversation", Args: usage(cobra.ExactArgs(1), sessionsFound),
		RunE: run(func(p *process, arguments []string) error { return p.showSession(arguments[0]) }),
	}, &cobra.Command{
		Use: "rm <session>...", Short: "Remove sessions, named by a path or the beginning of an id", Args: usage(cobra.MinimumNArgs(1), sessionsFound),
		RunE: run((*process).removeSessions),
	})
	return c
}

// sessionsFound says where the sessions are that commands take.
const sessionsFound = "`pi sessions list` has the ids, of which the beginning is enough"

func (p *process) printSessions(all, asJSON bool) error {
	dir := p.sessionFolder()
	if all {
		dir = p.sessionsRoot()
	}
	list, err := store.List(dir)
	if err != nil {
		return err
	}
	if asJSON {
		return printSessionLines(p.std.out, list)
	}
	if len(list) == 0 {
		fmt.Fprintf(p.std.err, "There are no sessions in %s.\n", dir)
		return nil
	}
	table := tabwriter.NewWriter(p.std.out, 0, 0, 2, ' ', 0)
	header := "ID\tLAST USED\tMESSAGES\tNAME"
	if all {
		header += "\tFOLDER"
	}
	fmt.Fprintln(table, header)
	for _, s := range list {
		row := fmt.Sprintf("%s\t%s\t%d\t%s", s.ID, s.Modified.Format("2006-01-02 15:04"), s.Messages, called(s))
		if all {
			row += "\t" + s.Cwd
		}
		fmt.Fprintln(table, row)
	}
	return table.Flush()
}

// sessionLine is a session in the form of --json.
type sessionLine struct {
	Path         string    `json:"path"`
	ID           string    `json:"id"`
	Name         string    `json:"name,omitempty"`
	Cwd          string    `json:"cwd"`
	Created      time.Time `json:"created"`
	Modified     time.Time `json:"modified"`
	Messages     int       `json:"messages"`
	FirstMessage string    `json:"firstMessage"`
	Bytes        int64     `json:"bytes"`
}

func printSessionLines(to io.Writer, list []store.Summary) error {
	for _, s := range list {
		line, err := message.Marshal(sessionLine{s.Path, s.ID, s.Name, s.Cwd, s.Created, s.Modified, s.Messages, s.FirstMessage, s.Size})
		if err != nil {
			return err
		}
		if _, err := to.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// called is a session's name, or how it began.
func called(s store.Summary) string {
	text := s.Name
	if text == "" {
		text = s.FirstMessage
	}
	const most = 60
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > most {
		line = append(line[:most-1], '…')
	}
	return string(line)
}

// showSession prints the active branch as a person reads it.
func (p *process) showSession(idOrPath string) error {
	log, err := p.readSession(idOrPath)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.std.out, "session %s\nfile    %s\nfolder  %s\n", log.ID(), log.Path(), log.Header().Cwd)
	if name := log.Name(); name != "" {
		fmt.Fprintf(p.std.out, "name    %s\n", name)
	}
	for _, item := range log.Context(log.Leaf()) {
		m := item.Message()
		fmt.Fprintf(p.std.out, "\n[%s]\n%s", m.Role(), asText(m))
	}
	return nil
}

// readSession opens a session to look at it.
func (p *process) readSession(idOrPath string) (*store.Log, error) {
	path, err := p.findSession(idOrPath)
	if err != nil {
		return nil, err
	}
	return store.Read(path)
}

// asText gives a message as lines that end.
func asText(m message.Message) string {
	var b strings.Builder
	line := func(format string, args ...any) {
		if text := strings.TrimSpace(fmt.Sprintf(format, args...)); text != "" {
			b.WriteString(text + "\n")
		}
	}
	line("%s", message.TextOf(m))
	switch m := m.(type) {
	case *message.Assistant:
		for _, call := range m.ToolCalls() {
			line("%s %s", call.Name, compactJSON(call.Arguments))
		}
		line("%s", m.ErrorMessage)
	case *message.BashExecution:
		line("$ %s", m.Command)
		line("%s", m.Output)
	}
	return b.String()
}

func compactJSON(raw json.RawMessage) string { return strings.Join(strings.Fields(string(raw)), " ") }

func (p *process) removeSessions(names []string) error {
	var failed error
	for _, name := range names {
		path, err := p.findSession(name)
		if err == nil {
			err = store.Remove(path)
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		fmt.Fprintf(p.std.out, "Removed %s\n", path)
	}
	return failed
}

func (p *process) collectSessions(old string, try bool) error {
	root := p.sessionsRoot()
	if !try {
		swept, err := store.Sweep(root)
		for _, path := range swept {
			fmt.Fprintf(p.std.out, "Removed %s\n", path)
		}
		if err != nil {
			return err
		}
	}
	if old == "" {
		return nil
	}
	age, err := parseAge(old)
	if err != nil {
		return err
	}
	list, err := store.List(root)
	if err != nil {
		return err
	}
	what := "Removed"
	if try {
		what = "Would remove"
	}
	var failed error
	for _, s := range list {
		if p.started.Sub(s.Modified) < age {
			continue
		}
		if !try {
			if err := store.Remove(s.Path); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
		}
		fmt.Fprintf(p.std.out, "%s %s (%s, last used %s)\n", what, s.Path, called(s), s.Modified.Format("2006-01-02"))
	}
	return failed
}

// parseAge reads a number of days or weeks, or what Go takes for a duration.
func parseAge(text string) (time.Duration, error) {
	const day = 24 * time.Hour
	for unit, length := range map[string]time.Duration{"d": day, "w": 7 * day} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			if n, err := strconv.ParseUint(number, 10, 32); err == nil && n <= uint64(math.MaxInt64/length) {
				return time.Duration(n) * length, nil
			}
		}
	}
	if age, err := time.ParseDuration(text); err == nil && age >= 0 {
		return age, nil
	}
	return 0, fmt.Errorf("--older-than %q is no time: write 90d, 12w or 36h", text)
}
