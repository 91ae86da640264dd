package rpcmode_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/rpcmode"
	"github.com/seed-54e836f5/pi/rpcmode/internal/scripted"
)

func ExampleServe() {
	s := session.New(scripted.Config(".", &scripted.Model{}))
	err := rpcmode.Serve(context.Background(), rpcmode.Options{
		In: strings.NewReader(`{"id":"1","type":"get_last_assistant_text"}
{"id":"2","type":"set_steering_mode","mode":"sometimes"}
`),
		Out:     os.Stdout,
		Session: s,
	})
	fmt.Println(err)
	// Output:
	// {"id":"1","type":"response","command":"get_last_assistant_text","success":true,"data":{"text":null}}
	// {"id":"2","type":"response","command":"set_steering_mode","success":false,"error":"mode: expected one of all, one-at-a-time; got \"sometimes\""}
	// <nil>
}
