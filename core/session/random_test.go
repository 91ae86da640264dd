package session_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-54e836f5/pi/core/compact"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/rule"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/tool"
)

var (
	rounds = flag.Int("rounds", defaultRounds, "rounds of the randomised test")
	seed   = flag.Uint64("seed", 0, "of the first round of the randomised test; 0: a new one")
)

// TestEveryTextEndsInOnePlace lets several clients prompt, steer, follow up,
// abort and clear the queue at varied moments of runs that answer, call tools,
// fail, retry, compact and go against rules. Whatever happens: a text that was accepted ends in
// the transcript or is given back, once; one that was refused or handled is
// nowhere; and what clients are told adds up.
//
// A failure names the seed of its round; go test -run EveryText -rounds 1 -seed
// N plays that round again.
func TestEveryTextEndsInOnePlace(t *testing.T) {
	first := *seed
	if first == 0 {
		first = rand.Uint64()
	}
	folder := t.TempDir()
	for i := range *rounds {
		n := first + uint64(i)
		if n%10 == 0 { // as fast as the machine can
			playRound(t, folder, n, false)
		} else { // spread over time that costs none
			synctest.Test(t, func(t *testing.T) { playRound(t, folder, n, true) })
		}
		if t.Failed() {
			t.Fatalf("round %d failed, with seed %d", i, n)
		}
	}
}

func playRound(t *testing.T, folder string, n uint64, timed bool) {
	w := &world{random: rand.New(rand.NewPCG(n, n)), timed: timed, expected: map[string]int{}}
	r := newRigIn(t, folder, nil, w.configure)
	w.rig = r
	var clients sync.WaitGroup
	for c := range 1 + w.pick(3) {
		clients.Go(func() {
			for i := range 1 + w.pick(6) {
				w.pause(4 * time.Second)
				w.act(fmt.Sprintf("%d.%d", c, i))
			}
		})
	}
	clients.Wait()
	w.pending.Wait()
	r.idle()
	w.givenBack(r.ClearQueue())
	w.check(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := r.Close(ctx, "quit"); err != nil {
		t.Errorf("close: %v", err)
	}
}

// world is one round: what is random, and what was promised.
type world struct {
	*rig
	timed bool

	mu       sync.Mutex
	random   *rand.Rand
	expected map[string]int // how often each text must be somewhere
	back     []string       // texts that ClearQueue gave back
	pending  sync.WaitGroup // what was not answered yet
}

func (w *world) pick(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.IntN(n)
}

// pause lets up to d pass, or only lets others run.
func (w *world) pause(d time.Duration) {
	switch part := w.pick(4); {
	case part == 0:
	case w.timed:
		sleep(time.Duration(w.pick(int(d))))
	default:
		for range w.pick(20) {
			runtime.Gosched()
		}
	}
}

func (w *world) configure(c *session.Config) {
	service := provider.Provider(w)
	c.Models = serving{service}
	c.Tools, c.ActiveTools = []tool.Tool{&scripted.Tool{Name: "work", Do: w.work}}, []string{"work"}
	c.Settings.Compaction = compact.Settings{Enabled: w.pick(2) == 0, ReserveTokens: 1000, KeepRecentTokens: 1}
	c.Settings.Retry = session.Retry{Enabled: true, MaxRetries: 2, BaseDelay: time.Second}
	if !w.timed {
		c.Settings.Retry.BaseDelay = 0
	}
	modes := []session.QueueMode{session.All, session.OneAtATime}
	c.Settings.SteeringMode, c.Settings.FollowUpMode = modes[w.pick(2)], modes[w.pick(2)]
	if w.pick(2) == 0 {
		c.Settings.InterruptMode = session.Immediate
	}
	if w.pick(2) == 0 {
		c.Hooks.Set([]hook.Listener{scripted.On(event.KindInput, w.input)})
	}
	if w.pick(2) == 0 {
		interrupt := []rule.Interrupt{rule.Always, rule.Never}[w.pick(2)]
		rules(rule.Settings{Gap: w.pick(3), Interrupt: interrupt}, "text", "x")(c)
	}
}

// input is a hook that takes its time, and sometimes the text.
func (w *world) input(_ context.Context, e *event.Input) (any, error) {
	w.pause(2 * time.Second)
	switch w.pick(8) {
	case 0:
		return &event.InputResult{Action: "handled"}, nil
	case 1:
		return nil, errors.New("lost")
	case 2:
		return &event.InputResult{Action: "transform", Text: e.Text}, nil
	}
	return nil, nil
}

func (w *world) work(ctx context.Context, _ tool.Call, _ func(tool.Result)) (tool.Result, error) {
	w.pause(2 * time.Second)
	return tool.TextResult("done"), ctx.Err()
}

// Stream implements provider.Provider with whatever comes up.
func (w *world) Stream(ctx context.Context, req provider.Request, sink func(provider.Delta) error) error {
	w.pause(2 * time.Second)
	a := scripted.Text("text")
	if len(req.Tools) > 0 { // not for a summary
		switch w.pick(10) {
		case 0:
			a = scripted.Fail(provider.Retryable, "busy")
		case 1:
			a = scripted.Fail(provider.Overflow, "too long")
		case 2:
			a = scripted.Fail(provider.Invalid, "no")
		case 3:
			a.Tokens = 99_500
		case 4, 5:
			a = scripted.Calls(scripted.Call("a", "work"), scripted.Call("b", "work"))
		}
	}
	if w.timed {
		a.Pace = time.Duration(w.pick(int(time.Second)))
	}
	return scripted.NewModel(a).Stream(ctx, req, sink)
}

type serving struct{ service provider.Provider }

func (serving) Available() []message.Model { return []message.Model{thinker} }

func (serving) Find(string, string) (message.Model, bool) { return thinker, true }

func (s serving) Connect(context.Context, message.Model) (session.Connection, error) {
	return session.Connection{Provider: s.service}, nil
}

// act does one thing that a client can do.
func (w *world) act(text string) {
	switch w.pick(12) {
	case 0, 1, 2:
		w.say(w.Prompt, text, "")
	case 3:
		w.say(w.Prompt, text, session.BehaviorSteer)
	case 4:
		w.say(w.Prompt, text, session.BehaviorFollowUp)
	case 5, 6:
		w.say(w.Steer, text, "")
	case 7:
		w.say(w.FollowUp, text, "")
	case 8:
		w.givenBack(w.ClearQueue())
	case 9:
		<-w.Abort()
	case 10:
		w.Abort()
	default:
		w.pending.Add(1)
		wait := w.Compact(context.Background(), "")
		go func() {
			defer w.pending.Done()
			_, _ = wait() // most are too small, or aborted
		}()
	}
}

func (w *world) say(how func(session.Prompt, session.Accepted), text string, behavior session.Behavior) {
	w.pending.Add(1)
	how(session.Prompt{Text: text, Behavior: behavior}, func(d session.Disposition, err error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if _, twice := w.expected[text]; twice {
			w.t.Errorf("%s was answered twice", text)
		}
		w.expected[text] = 0
		if err == nil && d != session.Handled {
			w.expected[text] = 1
		}
		w.pending.Done()
	})
}

func (w *world) givenBack(steering, followUps []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.back = append(append(w.back, steering...), followUps...)
}

func (w *world) check(t *testing.T) {
	found := map[string]int{}
	for _, text := range w.back {
		found[text]++
	}
	for _, m := range w.ForkMessages() { // all that are on file, whatever was compacted
		found[m.Text]++
	}
	for text, want := range w.expected {
		if found[text] != want {
			t.Errorf("%s is in %d places, want %d", text, found[text], want)
		}
		delete(found, text)
	}
	for text := range found {
		t.Errorf("%q was never sent", text)
	}
	if s := w.State(); s.IsStreaming || s.IsCompacting || s.PendingMessageCount != 0 {
		t.Errorf("the state is %+v", s)
	}
	for _, problem := range inconsistencies(w.Lines()) {
		t.Error(problem)
	}
	if t.Failed() {
		t.Logf("given back %q, the conversation\n\t%s\nclients saw\n\t%s", w.back, strings.Join(w.conversation(), "\n\t"), strings.Join(w.Lines("message_update"), "\n\t"))
	}
}

// inconsistencies looks for events that do not fit together.
func inconsistencies(lines []string) (found []string) {
	last := func(prefix string) string {
		for i := len(lines) - 1; i >= 0; i-- {
			if strings.HasPrefix(lines[i], prefix) {
				return lines[i]
			}
		}
		return ""
	}
	if q := last("queue_update"); q != "" && q != "queue_update [] []" {
		found = append(found, "the last that clients hear of the queue is "+q)
	}
	running, turning, open, saga, compacting := false, false, "", false, false
	check := func(ok bool, line string) {
		if !ok {
			found = append(found, "out of place: "+line)
		}
	}
	for _, line := range lines {
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "agent_start":
			check(!running, line)
			running = true
		case "agent_end":
			check(running && !turning && open == "", line)
			running = false
		case "agent_settled":
			check(!running && !saga && !compacting, line)
		case "turn_start":
			check(running && !turning, line)
			turning = true
		case "turn_end":
			check(turning && open == "", line)
			turning = false
		case "message_start":
			check(turning && open == "", line)
			open = line
		case "message_update":
			check(open != "", line)
		case "message_end":
			check(open != "", line)
			open = ""
		case "auto_retry_start":
			check(saga == !strings.HasPrefix(rest, "1/"), line)
			saga = true
		case "auto_retry_end":
			check(saga, line)
			saga = false
		case "compaction_start":
			check(!compacting, line)
			compacting = true
		case "compaction_end":
			// The end without a start says why none follows.
			check(compacting || strings.Contains(line, ": "), line)
			compacting = false
		}
	}
	check(!running && !turning && open == "" && !saga && !compacting, "the end")
	return found
}
