package export_test

import (
	"fmt"
	"strings"

	"github.com/seed-54e836f5/pi/core/export"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

func ExampleWrite() {
	log := store.InMemory(store.CreateOptions{Cwd: "/home/ada/parser"})
	if _, err := log.Append(store.MessageBody{Message: message.NewUser("Why is the sky blue?", nil, 0)}); err != nil {
		fmt.Println(err)
	}
	var page strings.Builder
	if err := export.Write(&page, export.Page{Log: log}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.Contains(page.String(), "<title>Why is the sky blue?</title>"))
	// Output: true
}
