package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestDataIsUpToDate(t *testing.T) {
	const folder = "../data"
	want := files()
	for name, content := range want {
		got, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s is not what catwalk has (%v); run go generate ./core/config/catalogue", name, err)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != len(want) {
		t.Errorf("%d files for %d providers, %v", len(entries), len(want), err)
	}
}
