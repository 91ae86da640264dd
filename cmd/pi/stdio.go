package main

import (
	"io"
	"os"
)

// streams are the standard streams of the process, kept where nothing else
// finds them: a stray print lands on stderr, and a child that inherits the
// usual numbers reads nothing and cannot write records.
type streams struct {
	in  *os.File
	out *os.File
	err *os.File
}

// records is where rpc and json mode write theirs. The tests build the program
// with another one, which keeps a copy: see testdata/watched.
func (s streams) records() io.Writer { return s.out }
