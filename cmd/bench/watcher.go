package main

import (
	"os"

	"github.com/seed-54e836f5/pi/proto"
	"github.com/seed-54e836f5/pi/sdk"
)

// isWatcher says whether pi started this program as its extension: the bench
// brings its own, so that nobody has to build one.
func isWatcher() bool { return os.Getenv(proto.CookieKey) == proto.CookieValue }

// watch is an extension that is told of every delta, and does nothing about
// it.
func watch(x *sdk.Extension) {
	x.Info("watcher", "1.0.0")
	sdk.On(x, sdk.MessageUpdate, func(*sdk.Context, *sdk.MessageUpdateEvent) error { return nil })
}
