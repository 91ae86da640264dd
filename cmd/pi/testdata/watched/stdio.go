// This file stands in for cmd/pi/stdio.go in the program that the tests build:
// it keeps a copy of every record, whoever started the program and whoever
// reads it.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// watchedFolder gets a file for each process that writes records. The linker
// sets it: the environment is that of the test.
var watchedFolder string

type streams struct {
	in  *os.File
	out *os.File
	err *os.File
}

// records writes to stdout, and before that to a file whose first line says
// which process it is.
func (s streams) records() io.Writer {
	file, err := os.CreateTemp(watchedFolder, fmt.Sprintf("%d-*.jsonl", os.Getpid()))
	if err != nil {
		panic(err)
	}
	dir, _ := os.Getwd()
	if err := json.NewEncoder(file).Encode(map[string]any{"args": os.Args, "dir": dir}); err != nil {
		panic(err)
	}
	return io.MultiWriter(file, s.out)
}
