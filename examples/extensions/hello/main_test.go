package main

import (
	"testing"

	"github.com/seed-54e836f5/pi/sdk/sdktest"
)

func TestHello(t *testing.T) {
	pi := sdktest.Start(t, register)
	pi.Command("/hello World")
	pi.WantNotice("Hello World!")

	pi.Answer("What is your name?", sdktest.Text("Ada"))
	pi.Command("/hello")
	pi.WantNotice("Hello Ada!")
}

func TestGreet(t *testing.T) {
	pi := sdktest.Start(t, register)
	if got := pi.ToolText("greet", `{"name":"Grace","times":2}`); got != "Hello Grace!\nHello Grace!\n" {
		t.Errorf("the tool said %q", got)
	}
	if _, _, err := pi.TryTool(t.Context(), "greet", `{}`); err == nil {
		t.Error("greeting nobody works")
	}
}

func TestTheStatusIsShownFromTheStart(t *testing.T) {
	pi := sdktest.Start(t, register)
	pi.StartSession()
	if n := pi.WantNotice("hello is here"); n.Method != "setStatus" || n.Key != "hello" {
		t.Errorf("the status is %+v", n)
	}
}
