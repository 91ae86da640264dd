package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

// picture makes an image of some size and format.
func picture(t *testing.T, format string, width, height int) message.Block {
	t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.White, color.Black})
	var out bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&out, img)
	case "jpeg":
		err = jpeg.Encode(&out, img, nil)
	case "gif":
		err = gif.Encode(&out, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return message.ImageBlock(base64.StdEncoding.EncodeToString(out.Bytes()), "image/"+format)
}

func sizeOf(t *testing.T, b message.Block) (width, height int) {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil {
		t.Fatal(err)
	}
	size, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || "image/"+format != b.MimeType {
		t.Fatalf("%s is %s, %v", b.MimeType, format, err)
	}
	return size.Width, size.Height
}

func TestLargeImagesAreMadeSmaller(t *testing.T) {
	for _, c := range []struct {
		format                string
		width, height         int
		wantKind              string
		wantWidth, wantHeight int
	}{
		{"png", 2000, 2000, "image/png", 2000, 2000},
		{"png", 4000, 1000, "image/png", 2000, 500},
		{"jpeg", 1000, 2500, "image/jpeg", 800, 2000},
		{"gif", 2001, 10, "image/png", 2000, 9},
		{"png", 9000, 1, "image/png", 2000, 1},
	} {
		sent := picture(t, c.format, c.width, c.height)
		var r resizer
		got := r.resize(sent)
		width, height := sizeOf(t, got)
		if got.MimeType != c.wantKind || width != c.wantWidth || height != c.wantHeight {
			t.Errorf("%s of %d x %d became %s of %d x %d", c.format, c.width, c.height, got.MimeType, width, height)
		}
		if again := r.resize(sent); again.Data != got.Data {
			t.Errorf("%s of %d x %d: the second time differs", c.format, c.width, c.height)
		}
	}
	for _, data := range []string{"", "no base64!", base64.StdEncoding.EncodeToString([]byte("no image"))} {
		if got := new(resizer).resize(message.ImageBlock(data, "image/png")); got.Data != data {
			t.Errorf("%q became %q", data, got.Data)
		}
	}
}

func TestImagesAreResizedAsTheSettingsSay(t *testing.T) {
	large := picture(t, "png", 2400, 1200)
	for auto, want := range map[bool]int{true: 2000, false: 2400} {
		width := 0
		g := guarded(t, config.Settings{Images: config.ImageSettings{AutoResize: auto}},
			func(_ context.Context, req provider.Request, _ func(provider.Delta) error) error {
				blocks := req.Messages[0].(*message.User).Content.Blocks()
				width, _ = sizeOf(t, blocks[len(blocks)-1])
				return nil
			})
		model := mockModel
		model.Input = []string{"text", "image"}
		sent := message.NewUser("look", []message.Block{large}, 1)
		if err := g.Stream(t.Context(), provider.Request{Model: model, Messages: []message.Message{sent}}, nothing); err != nil || width != want {
			t.Errorf("autoResize %v: the image is %d wide, %v", auto, width, err)
		}
	}
}

func TestResizedImagesAreNotKeptForEver(t *testing.T) {
	var r resizer
	for i := range keptImages + 5 {
		r.resize(message.ImageBlock(base64.StdEncoding.EncodeToString([]byte{byte(i)}), "image/png"))
	}
	if r.order.Len() != keptImages || len(r.by) != keptImages {
		t.Errorf("%d and %d are kept", r.order.Len(), len(r.by))
	}
}
