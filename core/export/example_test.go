package export_test

import (
	"fmt"
	"os"
	"path/filepath"
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
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	f, err := os.Create(filepath.Join(dir, "sky.html"))
	if err != nil {
		fmt.Println(err)
	}
	if err := export.Write(f, export.Page{Log: log}); err != nil {
		fmt.Println(err)
	}
	if err := f.Close(); err != nil {
		fmt.Println(err)
	}
	page, err := os.ReadFile(f.Name())
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.Contains(string(page), "<title>Why is the sky blue?</title>"))
	// Output: true
}
