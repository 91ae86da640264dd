package read

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/seed-54e836f5/pi/core/limit"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/tool"
)

// maxImage is the largest file that model services take as an image: 5 MiB
// once it is written in base64.
const maxImage = 5 * 1024 * 1024 / 4 * 3

// signatures are how the images that models take begin; the name of a file
// says nothing. A ? stands for any byte.
var signatures = []struct{ mime, begins string }{
	{"image/png", "\x89PNG\r\n\x1a\n"},
	{"image/jpeg", "\xff\xd8\xff"},
	{"image/gif", "GIF87a"},
	{"image/gif", "GIF89a"},
	{"image/webp", "RIFF????WEBP"},
}

// imageType looks at the beginning of a file, and goes back to it. It is empty
// for what is no image.
func imageType(file *os.File) (string, error) {
	head := make([]byte, 12)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	for _, s := range signatures {
		if begins(head[:n], s.begins) {
			return s.mime, nil
		}
	}
	return "", nil
}

func begins(head []byte, signature string) bool {
	if len(head) < len(signature) {
		return false
	}
	for i := range len(signature) {
		if signature[i] != '?' && signature[i] != head[i] {
			return false
		}
	}
	return true
}

func (r reader) image(file io.Reader, size int64, mime string) (tool.Result, error) {
	if size > maxImage {
		return tool.Result{}, fmt.Errorf("this image (%s) has %s; models take at most %s: make a smaller copy and read that", mime, limit.Size(size), limit.Size(maxImage))
	}
	var data bytes.Buffer
	if _, err := io.Copy(&data, file); err != nil {
		return tool.Result{}, fmt.Errorf("read the image: %w", err)
	}
	text := "Read image file [" + mime + "]"
	if r.TakesImages != nil && !r.TakesImages() {
		text += "\n[The model does not take images, so it does not see this one]"
	}
	return tool.Result{Content: []message.Block{
		message.TextBlock(text),
		message.ImageBlock(base64.StdEncoding.EncodeToString(data.Bytes()), mime),
	}}, nil
}
