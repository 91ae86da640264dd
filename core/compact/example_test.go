package compact_test

import (
	"context"
	"fmt"

	"github.com/seed-54e836f5/pi/core/compact"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// A conversation that has grown too large is planned on, summarised, and goes
// on with the summary in the place of its beginning.
func Example() {
	log := store.InMemory(store.CreateOptions{Cwd: "/work"})
	for _, text := range []string{"Write a parser.", "Now its tests.", "And the documentation, please."} {
		for _, m := range []message.Message{
			message.NewUser(text, nil, 0),
			&message.Assistant{Content: []message.Block{message.TextBlock("Done.")}, StopReason: message.StopStop},
		} {
			if _, err := log.Append(store.MessageBody{Message: m}); err != nil {
				fmt.Println(err)
				return
			}
		}
	}
	settings := compact.Settings{ReserveTokens: 2000, KeepRecentTokens: 5}
	plan, err := compact.Prepare(log, log.Leaf(), settings)
	if err != nil {
		fmt.Println(err) // compact.ErrTooSmall, compact.ErrAlreadyCompacted
		return
	}
	summary, err := compact.Summarise(context.Background(), saying("A parser was written and tested."), plan, compact.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := log.Append(store.Compaction{
		Summary: summary.Text, FirstKeptEntryID: plan.FirstKeptEntryID, TokensBefore: plan.TokensBefore,
		Details: summary.Details, Usage: &summary.Usage,
	}); err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range log.Context(log.Leaf()) {
		fmt.Println(item.Role, "-", message.TextOf(item.Message()))
	}
	// Output:
	// compactionSummary - A parser was written and tested.
	// user - And the documentation, please.
	// assistant - Done.
}
