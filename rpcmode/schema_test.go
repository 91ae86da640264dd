package rpcmode_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/seed-54e836f5/pi/rpcmode"
	"github.com/seed-54e836f5/pi/rpcmode/contract"
)

var contracts = map[rpcmode.Dialect]*contract.Contract{
	rpcmode.Pi:   newContract(rpcmode.Pi),
	rpcmode.XCSH: newContract(rpcmode.XCSH),
}

func newContract(dialect rpcmode.Dialect) *contract.Contract {
	c, err := contract.New(dialect)
	if err != nil {
		panic(err)
	}
	return c
}

func TestContractFindsDrift(t *testing.T) {
	c := contracts[rpcmode.Pi]
	const usage = `{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0,"more":1}`
	for line, ok := range map[string]bool{
		`{"type":"agent_start"}`:                                                                                                     true,
		`{"type":"agent_start","more":1}`:                                                                                            false,
		`{"type":"nonsense"}`:                                                                                                        false,
		`{"type":"queue_update","steering":null,"followUp":[]}`:                                                                      false,
		`{"type":"response","command":"abort","success":true}`:                                                                       true,
		`{"type":"response","command":"abort","success":true,"data":{}}`:                                                             false,
		`{"type":"response","command":"clone","success":true,"data":{"cancelled":1}}`:                                                false,
		`{"type":"response","command":"cycle_model","success":true,"data":null}`:                                                     true,
		`{"type":"message_end","message":{"role":"user","content":"x","timestamp":1,"more":1}}`:                                      true,
		`{"type":"message_end","message":{"role":"user","content":5,"timestamp":1}}`:                                                 false,
		`{"type":"message_update","assistantMessageEvent":{"type":"text_start","contentIndex":0},"usage":` + usage + `,"tier":"x"}}`: true,
		`{"type":"message_update","assistantMessageEvent":{"type":"text_start","contentIndex":0},"usage":{"tier":"x"}}`:              false,
		`{"type":"message_end","message":{"role":"novel"}}`:                                                                          true,
		`{"type":"extension_ui_request","id":"1","method":"select","title":"a","options":["b"]}`:                                     true,
		`{"type":"extension_ui_request","id":"1","method":"selekt"}`:                                                                 false,
	} {
		if err := c.Check([]byte(line)); (err == nil) != ok {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestCommandSchemasFitTheCommandsOfTheDocuments(t *testing.T) {
	p, err := rpcmode.Describe(rpcmode.Pi, "", false)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("internal/reference/examples.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var frame struct{ Type string }
		if err := json.Unmarshal(line, &frame); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		seen[frame.Type] = true
		if err := contracts[rpcmode.Pi].CheckCommand(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, c := range p.Commands {
		for _, name := range append(c.Aliases, c.Name) {
			if !seen[name] {
				t.Errorf("examples.jsonl has no example of %s", name)
			}
		}
	}
}
