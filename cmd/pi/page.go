package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-54e836f5/pi/core/export"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
)

// exporter writes the live session as a page, from its file: what is said
// meanwhile is in the next one.
func exporter(s *session.Session) func(context.Context, string) (string, error) {
	return func(_ context.Context, path string) (string, error) {
		file := s.File()
		if file == "" {
			return "", errors.New("a session that is kept in memory only cannot be exported: start without --no-session")
		}
		log, err := store.Read(file)
		if errors.Is(err, fs.ErrNotExist) {
			return "", errNothingToExport
		}
		if err != nil {
			return "", err
		}
		page := export.Page{Log: log}
		if _, leaf, err := s.Entries(nil); err == nil && leaf != nil {
			page.Leaf = *leaf // the file does not know where the session moved to
		}
		return writePage(page, s.Cwd(), path)
	}
}

var errNothingToExport = errors.New("there is nothing to export yet: send a message first")

// writePage writes the page of a session and gives its absolute path. A
// relative name is below cwd; empty: it is named after the session's file. The
// page is complete or not there.
func writePage(page export.Page, cwd, name string) (string, error) {
	page.Version = version
	if !hasMessages(page.Log) {
		return "", errNothingToExport
	}
	if name == "" {
		name = "pi-session-" + strings.TrimSuffix(filepath.Base(page.Log.Path()), ".jsonl") + ".html"
	}
	path := name
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		path = filepath.Join(os.Getenv("HOME"), rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	path, err := filepath.Abs(path) // a session's folder may be a relative one
	if err != nil {
		return "", fmt.Errorf("export the session: %w", err)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return "", fmt.Errorf("export the session: %s is no file", path)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".pi-session-*.html")
	if err != nil {
		return "", fmt.Errorf("export the session: %w", err)
	}
	err = errors.Join(export.Write(temp, page), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("write the page %s: %w", path, err), os.Remove(temp.Name()))
	}
	return path, nil
}

func hasMessages(log *store.Log) bool {
	for _, e := range log.Entries() {
		if e.Type == store.TypeMessage {
			return true
		}
	}
	return false
}
