//go:build unix && !linux

package sdk

import "golang.org/x/sys/unix"

func replace(oldfd, newfd int) error { return unix.Dup2(oldfd, newfd) }
