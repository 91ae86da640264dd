package main

import "os"

// takeOver keeps the standard streams to itself as far as Go code goes:
// children get theirs named explicitly.
func takeOver() (streams, error) {
	s := streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	os.Stdout = os.Stderr
	null, err := os.Open(os.DevNull)
	if err != nil {
		return streams{}, err
	}
	os.Stdin = null
	return s, nil
}

// writable is not asked on Windows: the first write tells.
func writable(string) bool { return true }
