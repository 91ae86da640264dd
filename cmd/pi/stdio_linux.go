package main

import "golang.org/x/sys/unix"

func replaceDescriptor(from, to int) error { return unix.Dup3(from, to, 0) }
