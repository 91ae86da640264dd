package main

import (
	"reflect"
	"testing"

	"github.com/seed-54e836f5/pi/extensions"
)

func TestNothingOfAnExtensionIsForgottenOnTheWayToTheWire(t *testing.T) {
	row := reflect.ValueOf(wireExtension(extensions.Info{
		Name: "x", Version: "1", Path: "/x", PID: 1, State: extensions.Running, Restarts: 1, Memory: 1,
		Commands: []string{"c"}, Tools: []string{"t"}, Events: []string{"e"}, LastError: "e", Slow: true, Dropped: 1,
		Latency: map[string]extensions.Latency{"e": {Count: 1, P50: 1, P99: 1}},
	}))
	for i := range row.NumField() {
		if row.Field(i).IsZero() {
			t.Errorf("%s is not set", row.Type().Field(i).Name)
		}
	}
}
