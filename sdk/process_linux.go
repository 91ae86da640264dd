package sdk

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/seed-54e836f5/pi/proto"
)

// pi has the kernel kill an extension with it, for programs that know no
// better. This package sees the end of pi itself, lets handlers clean up and
// ends what they started, none of which a killed process can do. init runs on
// the one thread that carries the setting.
func init() {
	if os.Getenv(proto.CookieKey) == proto.CookieValue {
		_ = unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0)
	}
}

func replace(oldfd, newfd int) error { return unix.Dup3(oldfd, newfd, 0) }
