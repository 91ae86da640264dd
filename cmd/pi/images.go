package main

import (
	"bytes"
	"container/list"
	"crypto/sha256"
	"encoding/base64"
	"image"
	_ "image/gif" // to be read
	"image/jpeg"
	"image/png"
	"sync"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // to be read

	"github.com/seed-54e836f5/pi/core/message"
)

const (
	// mostPixels is the longest side of an image that models are sent.
	mostPixels = 2000
	// mostArea bounds what is decoded, at 4 bytes a pixel.
	mostArea = 64 << 20
	// keptImages is how many resized images are remembered: a conversation is
	// sent again with each call.
	keptImages = 32
)

// resizer makes large images small enough for models. Methods may be called
// from any goroutine.
type resizer struct {
	mu    sync.Mutex
	order list.List // of *resized, the last used in front
	by    map[[sha256.Size]byte]*list.Element
}

type resized struct {
	of    [sha256.Size]byte
	block message.Block
}

// resize gives the image at most mostPixels long and high, with the same
// bytes each time. What is small enough, or no image that can be read, stays.
func (r *resizer) resize(b message.Block) message.Block {
	key := sha256.Sum256([]byte(b.Data))
	r.mu.Lock()
	if e, done := r.by[key]; done {
		r.order.MoveToFront(e)
		block := e.Value.(*resized).block
		r.mu.Unlock()
		return block
	}
	r.mu.Unlock()
	small := shrink(b)
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, done := r.by[key]; done {
		return small
	}
	if r.by == nil {
		r.by = map[[sha256.Size]byte]*list.Element{}
	}
	r.by[key] = r.order.PushFront(&resized{key, small})
	if r.order.Len() > keptImages {
		delete(r.by, r.order.Remove(r.order.Back()).(*resized).of)
	}
	return small
}

func shrink(b message.Block) message.Block {
	data, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil {
		return b
	}
	size, format, err := image.DecodeConfig(bytes.NewReader(data))
	longest := max(size.Width, size.Height)
	if err != nil || longest <= mostPixels || size.Width*size.Height > mostArea {
		return b
	}
	from, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return b
	}
	to := image.NewNRGBA(image.Rect(0, 0, max(1, size.Width*mostPixels/longest), max(1, size.Height*mostPixels/longest)))
	draw.BiLinear.Scale(to, to.Bounds(), from, from.Bounds(), draw.Src, nil)
	var out bytes.Buffer
	kind := "image/png"
	if format == "jpeg" {
		kind, err = "image/jpeg", jpeg.Encode(&out, to, &jpeg.Options{Quality: 85})
	} else {
		err = png.Encode(&out, to)
	}
	if err != nil {
		return b
	}
	return message.ImageBlock(base64.StdEncoding.EncodeToString(out.Bytes()), kind)
}
