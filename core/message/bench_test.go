package message_test

import (
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
)

func BenchmarkMarshal(b *testing.B) {
	words := strings.Repeat("a word or two, \"quoted\"\n", 40)
	for name, m := range map[string]message.Message{
		"image": message.NewUser("look", []message.Block{message.ImageBlock(strings.Repeat("QUJD", 1<<20), "image/png")}, 1),
		"answer": &message.Assistant{
			Content: []message.Block{
				{Type: message.BlockThinking, Thinking: words},
				message.TextBlock(words),
				{Type: message.BlockToolCall, ID: "1", Name: "write", Arguments: []byte(`{"path":"a","content":"` + strings.Repeat("text ", 200) + `"}`)},
			},
			API: "api", Provider: "provider", Model: "model", StopReason: message.StopToolUse, Timestamp: 1,
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				data, err := message.Marshal(m)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(data)))
			}
		})
	}
}
