package message_test

import (
	"bytes"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
)

// FuzzDecode checks that what was decoded once stays the same from then on,
// and is one line.
func FuzzDecode(f *testing.F) {
	for _, wire := range canonical {
		f.Add([]byte(wire))
	}
	f.Add([]byte(`{"role":"user","content":null,"content":[null]}`))
	f.Add([]byte(`{"role":"user","Role":"assistant","content":"a","Content":[]}`))
	f.Add([]byte("{\"role\":\"x\",\n\"y\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := message.Decode(data)
		if err != nil {
			return
		}
		if m.Role() == "" {
			t.Fatalf("%q has no role", data)
		}
		message.TextOf(m)
		message.ForModel([]message.Message{m})
		first, err := message.Marshal(m)
		if err != nil {
			t.Fatalf("%q does not encode: %v", data, err)
		}
		if bytes.ContainsAny(first, "\n\r") {
			t.Fatalf("%q is written on several lines: %q", data, first)
		}
		back, err := message.Decode(first)
		if err != nil {
			t.Fatalf("%q became %q: %v", data, first, err)
		}
		again, err := message.Marshal(back)
		if err != nil || !bytes.Equal(first, again) {
			t.Fatalf("%q became\n%q, and then\n%q (%v)", data, first, again, err)
		}
	})
}
