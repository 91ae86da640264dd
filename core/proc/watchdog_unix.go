//go:build unix

package proc

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// watchdogScript keeps a list of process groups, which it is told of on its
// standard input. That ends with this process, also when it is killed and cannot
// end anything itself: then what is on the list is ended.
const watchdogScript = `list=' '
while read -r what group; do
	case $what in
	+) list="$list$group " ;;
	-) list="${list%%" $group "*} ${list#*" $group "}" ;;
	esac
done
[ "$list" = ' ' ] && exit
for group in $list; do kill -s TERM -- "-$group"; done
sleep 0.5 || sleep 1
for group in $list; do kill -s KILL -- "-$group"; done`

// watchdog is where a process is told of groups that waits for our end; nil:
// there is no shell for it. It is started with the first command. Lines that
// are as short as these are written whole, so it needs no lock.
var watchdog = sync.OnceValue(func() *os.File {
	read, write, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer func() { _ = read.Close() }() // the watchdog has its own
	cmd := exec.Command("/bin/sh", "-c", watchdogScript)
	// It keeps no folder from being removed, and sees nothing of our
	// environment.
	cmd.Dir, cmd.Env, cmd.Stdin = "/", []string{"PATH=/usr/bin:/bin"}, read
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Start() != nil {
		_ = write.Close()
		return nil
	}
	return write // it is closed with us
})

// watch has a group ended should this process be killed, and unwatch has it
// forgotten, as its number may soon be another's. What cannot be told costs
// that protection alone.
func watch(group int)   { tellWatchdog("+", group) }
func unwatch(group int) { tellWatchdog("-", group) }

func tellWatchdog(what string, group int) {
	if to := watchdog(); to != nil {
		_, _ = fmt.Fprintf(to, "%s %d\n", what, group)
	}
}
