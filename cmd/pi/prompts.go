package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/readfile"
	"github.com/seed-54e836f5/pi/core/session"
)

// readPrompts makes the prompts of json and text mode: what was piped in and
// the @files come in front of the first message; each further message is a
// prompt of its own.
func (p *process) readPrompts(ctx context.Context) ([]session.Prompt, error) {
	var text strings.Builder
	piped, err := readPiped(ctx, p.std.in)
	if err != nil {
		return nil, err
	}
	text.WriteString(piped)
	var images []message.Block
	var messages []string
	for _, argument := range p.options.messages {
		name, isFile := strings.CutPrefix(argument, "@")
		if !isFile {
			messages = append(messages, argument)
			continue
		}
		block, image, err := readFileArgument(p.paths.Cwd, name)
		if err != nil {
			return nil, err
		}
		text.WriteString(block)
		if image != nil {
			images = append(images, *image)
		}
	}
	if len(messages) > 0 {
		text.WriteString(messages[0])
		messages = messages[1:]
	}
	var prompts []session.Prompt
	if text.Len() > 0 || len(images) > 0 {
		prompts = append(prompts, session.Prompt{Text: text.String(), Images: images, Source: "interactive"})
	}
	for _, m := range messages {
		prompts = append(prompts, session.Prompt{Text: m, Source: "interactive"})
	}
	return prompts, nil
}

// readPiped reads standard input to its end, unless a person sits at it. When
// ctx ends first, whoever writes is not waited for.
func readPiped(ctx context.Context, in *os.File) (string, error) {
	info, err := in.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return "", nil
	}
	type outcome struct {
		data []byte
		err  error
	}
	done := make(chan outcome, 1)
	go func() { // a read cannot be ended; where nobody waits for it, the process is about to end
		data, err := io.ReadAll(io.LimitReader(in, largestArgument+1))
		done <- outcome{data, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return "", fmt.Errorf("read the prompt from stdin: %w", o.err)
		}
		if len(o.data) > largestArgument {
			return "", fmt.Errorf("the text on stdin is larger than %d MiB, which is more than any model takes: give a part of it, or put it into a file and name that", largestArgument>>20)
		}
		return strings.TrimSpace(string(o.data)), nil
	case <-ctx.Done():
		return "", fmt.Errorf("read the prompt from stdin: %w", ctx.Err())
	}
}

// largestArgument bounds an @file and what is piped in, in bytes: what comes
// through a pipe, as of @<(command) or yes, may have no end.
const largestArgument = 64 << 20

// readFileArgument reads an @file: a text in tags that name it, or an image.
func readFileArgument(cwd, name string) (block string, image *message.Block, err error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	data, err := readfile.OrPipe(path, largestArgument)
	if err != nil {
		return "", nil, fmt.Errorf("read the file of the argument @%s: %w", name, err)
	}
	if kind := http.DetectContentType(data); isImage(kind) {
		b := message.ImageBlock(base64.StdEncoding.EncodeToString(data), kind)
		return fmt.Sprintf("<file name=%q></file>\n", path), &b, nil
	}
	return "<file name=\"" + path + "\">\n" + strings.ToValidUTF8(string(data), "\uFFFD") + "\n</file>\n", nil, nil
}

// isImage says whether models take a kind of image.
func isImage(kind string) bool {
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}
