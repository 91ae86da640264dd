package store_test

import (
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/core/store/storetest"
)

const large = 32 << 20

func BenchmarkOpen32MiB(b *testing.B) {
	path := storetest.File(b, storetest.Options{Size: large, Branch: true, CompactEvery: 200})
	b.SetBytes(large)
	b.ReportAllocs()
	for b.Loop() {
		l, err := store.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEntries32MiB(b *testing.B) {
	l := openLarge(b, storetest.Options{Size: large})
	buf := make([]byte, 0, large+large/8)
	b.SetBytes(large)
	b.ReportAllocs()
	for b.Loop() {
		buf = buf[:0]
		for _, e := range l.Entries() {
			buf = append(append(buf, e.Raw...), ',')
		}
	}
}

func BenchmarkContext32MiB(b *testing.B) {
	for _, c := range []struct {
		name string
		o    storetest.Options
	}{
		{"whole", storetest.Options{Size: large}},
		{"compacted", storetest.Options{Size: large, CompactEvery: 100}},
	} {
		b.Run(c.name, func(b *testing.B) {
			l := openLarge(b, c.o)
			b.ReportAllocs()
			for b.Loop() {
				if len(l.Context(l.Leaf())) == 0 {
					b.Fatal("no context")
				}
			}
		})
	}
}

func BenchmarkTree32MiB(b *testing.B) {
	l := openLarge(b, storetest.Options{Size: large, Branch: true})
	b.ReportAllocs()
	for b.Loop() {
		if len(l.Tree()) == 0 {
			b.Fatal("no tree")
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	l, err := store.Create(store.CreateOptions{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if err := l.Persist(); err != nil {
		b.Fatal(err)
	}
	body := store.MessageBody{Message: message.NewUser("a question of a usual length, perhaps two lines of text", nil, 1)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Append(body); err != nil {
			b.Fatal(err)
		}
	}
}

func openLarge(b *testing.B, o storetest.Options) *store.Log {
	l, err := store.Open(storetest.File(b, o))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	return l
}
