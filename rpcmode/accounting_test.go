package rpcmode_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-54e836f5/pi/core/message"
)

// Every text that was accepted ends in exactly one place: in the transcript,
// in the queue, or given back; one that was refused ends in none.
func TestEveryTextEndsInOnePlace(t *testing.T) {
	const sessions, rounds = 50, 200
	for seed := range sessions {
		synctest.Test(t, func(t *testing.T) { account(t, rand.New(rand.NewPCG(uint64(seed), 1)), rounds) })
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}

func account(t *testing.T, random *rand.Rand, rounds int) {
	r := newRig(t)
	for i := range rounds {
		r.send(randomCommand(random, i))
		switch random.IntN(4) {
		case 0:
			synctest.Wait()
		case 1:
			time.Sleep(time.Duration(random.IntN(10)) * time.Millisecond)
		}
	}
	time.Sleep(time.Second)
	r.send(`{"id":"last abort","type":"abort"}`, `{"id":"left","type":"clear_queue"}`, `{"id":"all","type":"get_entries"}`)
	synctest.Wait()
	places, accepted, refused := map[string][]string{}, []string{}, []string{}
	for _, line := range r.output.take() {
		var f responseFrame
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		if f.Type != "response" {
			continue
		}
		name, isText := strings.CutPrefix(f.ID, "text ")
		switch {
		case isText && f.Success:
			accepted = append(accepted, name)
		case isText:
			refused = append(refused, name)
		case f.Command == "clear_queue":
			for _, text := range slices.Concat(f.Data.Steering, f.Data.FollowUp) {
				places[textName(text)] = append(places[textName(text)], f.ID)
			}
		case f.Command == "get_entries":
			for _, text := range f.Data.texts() {
				places[textName(text)] = append(places[textName(text)], "transcript")
			}
		}
	}
	for _, name := range accepted {
		if len(places[name]) != 1 {
			t.Errorf("text %s was accepted and is in %q", name, places[name])
		}
	}
	for _, name := range refused {
		if len(places[name]) != 0 {
			t.Errorf("text %s was refused and is in %q", name, places[name])
		}
	}
	if len(accepted)+len(refused) == 0 || len(accepted) == 0 {
		t.Errorf("%d texts were accepted, %d refused", len(accepted), len(refused))
	}
	r.end()
}

func randomCommand(random *rand.Rand, i int) string {
	order := []string{"SAY x", "WAIT 5ms\nSAY x", "THINK y\nWAIT 3ms", "WAIT 20ms\nSAY z"}[random.IntN(4)]
	text, err := message.Marshal(fmt.Sprintf("%s\nNAME %d", order, i))
	if err != nil {
		panic(err)
	}
	kind := []string{
		`"prompt"`, `"prompt","streamingBehavior":"steer"`, `"prompt","streamingBehavior":"followUp"`, `"steer"`, `"follow_up"`,
	}
	switch n := random.IntN(len(kind) + 3); {
	case n < len(kind):
		return fmt.Sprintf(`{"id":"text %d","type":%s,"message":%s}`, i, kind[n], text)
	case n == len(kind):
		return fmt.Sprintf(`{"id":"cleared by %d","type":"clear_queue"}`, i)
	case n == len(kind)+1:
		return fmt.Sprintf(`{"id":"abort %d","type":"abort"}`, i)
	}
	return fmt.Sprintf(`{"id":"state %d","type":"get_state"}`, i)
}

type responseFrame struct {
	ID, Type, Command string
	Success           bool
	Data              accountData
}

type accountData struct {
	Steering, FollowUp []string
	Entries            []struct {
		Message struct {
			Role    string
			Content json.RawMessage
		}
	}
}

func (d accountData) texts() []string {
	var texts []string
	for _, e := range d.Entries {
		var content message.Content
		if e.Message.Role == "user" && json.Unmarshal(e.Message.Content, &content) == nil {
			texts = append(texts, message.Text(content.Blocks()))
		}
	}
	return texts
}

func textName(text string) string {
	_, name, _ := strings.Cut(text, "NAME ")
	return name
}
