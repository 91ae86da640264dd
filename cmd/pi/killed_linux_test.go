package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNoCommandOutlivesAKilledPi kills pi, which cannot end anything then, and
// looks for what its commands started. What somebody detached stays, as it does
// when pi ends by itself.
func TestNoCommandOutlivesAKilledPi(t *testing.T) {
	dir := t.TempDir()
	mark := func(name string) string { return filepath.Join(dir, name) }
	// The shell says its number, which is that of the group, once all runs. It
	// has more to do behind the sleep, so that it does not become it.
	command := func(name, run string) string {
		return fmt.Sprintf("%s echo $$ >%s.new; mv %[2]s.new %[2]s; wait", run, mark(name))
	}
	p := newHome(t).start(t)
	order, err := json.Marshal(fmt.Sprintf("TOOL bash {\"command\": %q}", command("tool", "sleep 300 & sleep 300 &")))
	if err != nil {
		t.Fatal(err)
	}
	p.send(fmt.Sprintf(`{"id":"t","type":"prompt","message":%s}`, order))
	p.send(fmt.Sprintf(`{"id":"b","type":"bash","command":%q}`, command("rpc", "sleep 300 &")))
	p.send(fmt.Sprintf(`{"id":"s","type":"bash","command":%q}`, command("stubborn", "trap '' TERM; sleep 300 &")))
	p.send(fmt.Sprintf(`{"id":"left","type":"bash","command":%q}`, fmt.Sprintf("sleep 300 & echo $$ >%s", mark("left"))))
	p.send(fmt.Sprintf(`{"id":"over","type":"bash","command":%q}`, fmt.Sprintf("nohup sleep 300 </dev/null >/dev/null 2>&1 & echo $$ >%s", mark("detached"))))
	for range 2 {
		p.until(func(f frame) bool { return f.ID == "left" || f.ID == "over" })
	}
	groups := map[string]int{}
	for _, name := range []string{"tool", "rpc", "stubborn", "left", "detached"} {
		for read(t, mark(name)) == "" { // a question to pi a turn
			p.ask("alive", `{"type":"get_state"}`)
		}
		group, err := strconv.Atoi(strings.TrimSpace(read(t, mark(name))))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Kill(-group, syscall.SIGKILL) })
		if !groupLives(group) {
			t.Fatalf("%s does not run", name)
		}
		groups[name] = group
	}
	killed := time.Now()
	p.kill()
	for name, group := range groups {
		if name == "detached" {
			continue
		}
		for groupLives(group) && time.Since(killed) < 10*time.Second {
			<-time.After(10 * time.Millisecond) // nothing tells of its end
		}
		if took := time.Since(killed); took > 2*time.Second {
			t.Errorf("%s lived on for %s", name, took)
		}
	}
	if !groupLives(groups["detached"]) {
		t.Error("what was detached did not stay")
	}
}

// groupLives says whether anything of a process group runs. What only waits for
// somebody to take note of its end does not.
func groupLives(group int) bool {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(files) == 0 {
		panic("there is no /proc")
	}
	for _, file := range files {
		data, _ := os.ReadFile(file) // it may have ended meanwhile
		_, rest, _ := strings.Cut(string(data), ") ")
		if fields := strings.Fields(rest); len(fields) > 2 && fields[0] != "Z" && fields[2] == strconv.Itoa(group) {
			return true
		}
	}
	return false
}
