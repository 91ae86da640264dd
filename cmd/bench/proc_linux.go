package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is the unit of times in /proc/N/stat. Linux has it fixed for
// programs, whatever the kernel counts in.
const ticksPerSecond = 100

// residentBytes is the memory of a process and of all below it.
func residentBytes(pid int) (int64, error) {
	pids, err := tree(pid)
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, p := range pids {
		n, err := statusBytes(p, "VmRSS:")
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// peakBytes is the most memory that the process ever had.
func peakBytes(pid int) (int64, error) { return statusBytes(pid, "VmHWM:") }

// processorTime is what a process and those below it have used.
func processorTime(pid int) (time.Duration, error) {
	pids, err := tree(pid)
	if err != nil {
		return 0, err
	}
	var ticks int64
	for _, p := range pids {
		fields, err := statFields(p)
		if err != nil {
			return 0, err
		}
		for _, field := range []string{fields[11], fields[12]} { // utime and stime
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return 0, err
			}
			ticks += n
		}
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// tree is the process and those below it.
func tree(pid int) ([]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, dir := range stats {
		p, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		fields, err := statFields(p)
		if err != nil {
			continue // it has ended meanwhile
		}
		parent, err := strconv.Atoi(fields[1])
		if err != nil {
			return nil, err
		}
		children[parent] = append(children[parent], p)
	}
	out := []int{pid}
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i]]...)
	}
	return out, nil
}

// statFields are the fields of /proc/N/stat behind the command's name, which
// may hold anything.
func statFields(pid int) ([]string, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 13 {
		return nil, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	return fields, nil
}

func statusBytes(pid int, name string) (int64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/%d/status has no %s", pid, name)
}
