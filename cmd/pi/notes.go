package main

import (
	"io"
	"slices"
	"sync"
)

// notes are the sentences about what was not loaded: told once to the person
// who started the process, and to clients as long as they hold. Methods may
// be called from any goroutine.
type notes struct {
	to io.Writer

	mu      sync.Mutex
	lasting []string // about the process
	current []string // about the folder that the session works in
	said    map[string]bool
}

// add notes what holds as long as the process runs.
func (n *notes) add(text string) {
	n.mu.Lock()
	n.lasting = append(n.lasting, text)
	n.mu.Unlock()
	n.say(text)
}

// replace notes what holds for the folder that the session works in now. It
// says nothing.
func (n *notes) replace(current []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.current = current
}

// list is what clients are told.
func (n *notes) list() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Concat(n.lasting, n.current)
}

// say tells the person who started the process, unless that was done.
func (n *notes) say(texts ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, text := range texts {
		if !n.said[text] && text != "" {
			if n.said == nil {
				n.said = map[string]bool{}
			}
			n.said[text] = true
			warn(n.to, "%s", text)
		}
	}
}
