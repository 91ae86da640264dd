package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-54e836f5/pi/core/agent"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/rule"
	"github.com/seed-54e836f5/pi/core/store"
)

// reminderType is the custom type of messages that tell the model of rules. The
// name, and that of the rules in the details, are those of the xcsh family. The
// messages are also how a session knows what the model was told.
const reminderType = "ttsr-injection"

// reminderDetails are the details of such a message.
type reminderDetails struct {
	Rules []string `json:"rules"`
}

// watchRules begins to watch a run with the rules of the folder; nil: there are
// none.
func (s *Session) watchRules() *rule.Watcher {
	book := s.currentResources().Rules()
	if book == nil {
		return nil
	}
	c := s.currentConversation()
	return book.Watch(toldRules(c.log.Branch(c.log.Leaf())))
}

// toldRules gives the rules that the model was told on a branch, with how many
// complete answers came since.
func toldRules(branch []store.Entry) map[string]int {
	told := map[string]int{}
	for _, e := range branch {
		if stop := e.StopReason(); e.Role() == message.RoleAssistant && stop != message.StopError && stop != message.StopAborted {
			for name := range told {
				told[name]++
			}
		}
		if e.Type != store.TypeCustomMessage || !bytes.Contains(e.Raw, []byte(reminderType)) {
			continue
		}
		var body store.CustomMessage
		var details reminderDetails
		if e.Decode(&body) != nil || body.CustomType != reminderType || json.Unmarshal(body.Details, &details) != nil {
			continue // another agent's, in a form that we do not know
		}
		for _, name := range details.Rules {
			told[name] = 0
		}
	}
	return told
}

// stoppedError ends an answer that rules do not want to go on.
type stoppedError struct{ rules []*rule.Rule }

// Error implements error.
func (e *stoppedError) Error() string {
	if len(e.rules) == 1 {
		return "The rule " + e.rules[0].Name + " stopped this answer"
	}
	return "The rules " + strings.Join(ruleNames(e.rules), ", ") + " stopped this answer"
}

// stoppedBy gives the error of a low-level run that rules ended; nil: they did
// not.
func stoppedBy(result agent.Result) *stoppedError {
	var stop *stoppedError
	errors.As(result.Err, &stop)
	return stop
}

// willGoOn says whether a low-level run that ended like this is followed by
// another one that does its work.
func (s *Session) willGoOn(r *run, result agent.Result) bool {
	if stoppedBy(result) != nil {
		return r.ctx.Err() == nil
	}
	return s.mayRetry(r, result)
}

// watch is how the loop shows the answers of a run to the rules; nil: there are
// none.
func (s *Session) watch(r *run) func(*event.MessageUpdate) error {
	if r.rules == nil {
		return nil
	}
	return func(e *event.MessageUpdate) error {
		matched, stop := r.rules.See(&e.Update)
		if len(matched) == 0 {
			return nil
		}
		triggered := &event.RulesTriggered{}
		for _, m := range matched {
			triggered.Rules = append(triggered.Rules, m.Rule)
		}
		s.emit(s.tellContext(r), triggered)
		if !stop {
			return nil
		}
		return &stoppedError{r.rules.Take()}
	}
}

// remind makes a run begin anew with the rules that stopped its last answer.
// That stays in the conversation as any aborted one, which the model is not
// sent; where the settings keep it, it is quoted.
func (s *Session) remind(r *run, answer *message.Assistant, stop *stoppedError) step {
	before := "Your answer was stopped while you wrote it, because it goes against what you were asked to keep to. Nothing of it counts, and no tool was called. Begin the answer anew, and keep to this:"
	if s.currentResources().Rules().KeepAnswer {
		before = "Your answer was stopped while you wrote it, because it goes against what you were asked to keep to. No tool was called. This is how far you had come:\n\n" +
			"<stopped_answer>\n" + draft(answer) + "\n</stopped_answer>\n\nWrite what is left of the answer, or write it anew, and keep to this:"
	}
	r.reminder = agent.Queued{Message: s.reminderOf(before, stop.rules)}
	return reminded
}

// draft is what there is of an answer, for the model that wrote it.
func draft(answer *message.Assistant) string {
	var parts []string
	for _, b := range answer.Content {
		switch b.Type {
		case message.BlockText:
			parts = append(parts, b.Text)
		case message.BlockToolCall:
			arguments := b.Unparsed
			if arguments == "" {
				arguments = string(b.Arguments)
			}
			parts = append(parts, fmt.Sprintf("(call of %s with %s)", b.Name, arguments))
		}
	}
	return strings.Join(parts, "\n")
}

// withReminders lets the model know, behind what is queued, of rules that its
// last answer goes against and that did not stop it.
func (s *Session) withReminders(r *run, take func(taken int) (agent.Queued, bool)) func(taken int) (agent.Queued, bool) {
	if r.rules == nil {
		return take
	}
	return func(taken int) (agent.Queued, bool) {
		if queued, ok := take(taken); ok {
			return queued, true
		}
		rules := r.rules.Take()
		if len(rules) == 0 {
			return agent.Queued{}, false
		}
		return agent.Queued{Message: s.reminderOf("Your last answer goes against what you were asked to keep to. Put right what has to be, and keep to this from now on:", rules)}, true
	}
}

// reminderOf makes the message that tells the model of rules.
func (s *Session) reminderOf(before string, rules []*rule.Rule) message.Message {
	text := before
	for _, r := range rules {
		text += fmt.Sprintf("\n\n<rule name=%q path=%q>\n%s\n</rule>", r.Name, r.Path, r.Content)
	}
	details, err := message.Marshal(reminderDetails{ruleNames(rules)})
	if err != nil {
		panic(err) // texts always encode
	}
	return &message.Custom{CustomType: reminderType, Content: message.PlainContent(text), Details: details, Timestamp: s.now()}
}

func ruleNames(rules []*rule.Rule) []string {
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = r.Name
	}
	return names
}
