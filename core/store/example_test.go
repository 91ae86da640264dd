package store_test

import (
	"fmt"
	"os"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// A session is written from Persist on, branches off where its leaf is set,
// and opens again with everything in it.
func Example() {
	agentDir, err := os.MkdirTemp("", "agent")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(agentDir) }()

	log, err := store.Create(store.CreateOptions{Dir: store.DirFor(agentDir, "/work"), Cwd: "/work"})
	if err != nil {
		fmt.Println(err)
		return
	}
	say := func(text string) string {
		entry, err := log.Append(store.MessageBody{Message: message.NewUser(text, nil, 0)})
		if err != nil {
			fmt.Println(err) // a *store.WriteError: the entry is in memory, and will be written later
		}
		return entry.ID
	}
	question := say("How are sessions kept?")
	say("This goes another way.")
	if err := log.Persist(); err != nil {
		fmt.Println(err)
		return
	}
	if err := log.SetLeaf(question); err != nil {
		fmt.Println(err)
		return
	}
	say("In lines of JSON.")
	if err := log.Close(); err != nil {
		fmt.Println(err)
		return
	}

	again, err := store.Open(log.Path())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = again.Close() }()
	fmt.Println(len(again.Entries()), "entries; the conversation:")
	for _, item := range again.Context(again.Leaf()) {
		fmt.Println("-", message.TextOf(item.Message()))
	}
	// Output:
	// 3 entries; the conversation:
	// - How are sessions kept?
	// - In lines of JSON.
}
