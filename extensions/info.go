package extensions

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// Info says how an extension is doing.
type Info struct {
	Name     string
	Version  string // empty: it did not say, or never came up
	Path     string
	Scope    string // user, project, temporary
	PID      int    // 0: no process runs, or it is not ours
	State    State
	Restarts int
	Memory   int64 // resident; 0: not known here
	Commands []string
	Tools    []string
	Events   []string
	Flags    []string // of the command line that it reads
	// Latency of the handlers by kind.
	Latency   map[string]Latency
	LastError string // empty: there was none
	// Slow says that the extension does not keep up with the events that come
	// in floods, and Dropped how many of them it never saw.
	Slow    bool
	Dropped uint64
}

// Infos describes all extensions in load order.
func (h *Host) Infos() []Info {
	list := []Info{}
	for _, x := range h.all() {
		list = append(list, x.describe())
	}
	return list
}

func (x *extension) describe() Info {
	x.mu.Lock()
	defer x.mu.Unlock()
	info := Info{
		Name: x.nameLocked(), Path: x.source.path, Scope: x.source.info.Scope, State: x.state,
		Restarts: max(0, x.starts-1), LastError: x.lastError, Latency: x.latency.summary(),
		Commands: []string{}, Tools: []string{}, Events: []string{},
	}
	if x.reg != nil {
		info.Version = x.reg.version
		for _, c := range x.reg.commands {
			info.Commands = append(info.Commands, c.GetName())
		}
		for _, t := range x.reg.tools {
			info.Tools = append(info.Tools, t.Name)
		}
		for kind := range x.reg.handlers {
			info.Events = append(info.Events, string(kind))
		}
		slices.Sort(info.Events)
		for _, f := range x.reg.flags {
			info.Flags = append(info.Flags, f.GetName())
		}
	}
	if i := x.current; i != nil {
		info.PID = i.pid()
		info.Memory = residentBytes(info.PID)
		stats, slow := i.batch.state()
		info.Slow, info.Dropped = slow, stats.dropped
	}
	return info
}

// residentBytes asks Linux; elsewhere, and for a process that is gone, it is
// 0.
func residentBytes(pid int) int64 {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if pid == 0 || err != nil {
		return 0
	}
	fields := strings.Fields(string(data))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
