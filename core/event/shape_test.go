package event_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestShapes pins the JSON of every kind: with every field set, with none, as
// extensions see it where that differs, and its result. Clients and extensions
// in other languages rely on each letter of it.
func TestShapes(t *testing.T) {
	var got bytes.Buffer
	for _, row := range event.Table() {
		full, bare := row.New(), row.New()
		fill(t, reflect.ValueOf(full).Elem())
		fillInterfaces(t, reflect.ValueOf(bare).Elem())
		fmt.Fprintf(&got, "-- %s --\n", row.Kind)
		wire := encode(t, full)
		fmt.Fprintf(&got, "full    %s\n", wire)
		fmt.Fprintf(&got, "bare    %s\n", encode(t, bare))
		if row.Hook != event.Closed {
			payload, err := event.EncodePayload(full)
			if err != nil {
				t.Fatal(err)
			}
			if spliced := message.Splice("type", []byte(`"`+string(row.Kind)+`"`), payload); !bytes.Equal(spliced, wire) {
				fmt.Fprintf(&got, "payload %s\n", payload)
			}
		}
		if row.NewResult != nil {
			result := row.NewResult()
			fill(t, reflect.ValueOf(result).Elem())
			data, err := message.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "result  %s\n", data)
		}
	}
	golden(t, "shapes.txt", got.Bytes())
}

func TestEveryKindComesBackFromItsWireForm(t *testing.T) {
	for _, row := range event.Table() {
		e := row.New()
		fill(t, reflect.ValueOf(e).Elem())
		wire := encode(t, e)
		back, err := event.DecodeAs(row.Kind, wire)
		if err != nil {
			t.Errorf("%s: %v", row.Kind, err)
			continue
		}
		if again := encode(t, back); !bytes.Equal(wire, again) {
			t.Errorf("%s came back as %s, want %s", row.Kind, again, wire)
		}
	}
}

func TestEveryKindComesBackFromItsPayload(t *testing.T) {
	for _, row := range event.Table() {
		if row.Hook == event.Closed {
			continue
		}
		e := row.New()
		fill(t, reflect.ValueOf(e).Elem())
		payload, err := event.EncodePayload(e)
		if err != nil {
			t.Fatalf("%s: %v", row.Kind, err)
		}
		back, err := event.DecodePayload(row.Kind, payload)
		if err != nil {
			t.Errorf("%s: %v", row.Kind, err)
			continue
		}
		if !reflect.DeepEqual(e, back) {
			t.Errorf("%s came back as %#v, want %#v", row.Kind, back, e)
		}
	}
}

func TestEveryResultComesBack(t *testing.T) {
	for _, row := range event.Table() {
		if row.NewResult == nil {
			continue
		}
		result, back := row.NewResult(), row.NewResult()
		fill(t, reflect.ValueOf(result).Elem())
		data, err := message.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, back); err != nil {
			t.Errorf("%s: %v", row.Kind, err)
			continue
		}
		if !reflect.DeepEqual(result, back) {
			t.Errorf("the result of %s came back as %#v, want %#v", row.Kind, back, result)
		}
	}
}

func encode(t *testing.T, e event.Event) []byte {
	t.Helper()
	wire, err := event.Encode(e)
	if err != nil {
		t.Fatalf("%s: %v", e.Kind(), err)
	}
	return wire
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := bytes.Split(got, []byte{'\n'}), bytes.Split(want, []byte{'\n'})
	for i := range max(len(gotLines), len(wantLines)) {
		var g, w []byte
		if i < len(gotLines) {
			g = gotLines[i]
		}
		if i < len(wantLines) {
			w = wantLines[i]
		}
		if !bytes.Equal(g, w) {
			t.Fatalf("%s:%d is\n%s\nwant\n%s\n(go test -update writes it anew, if the change is meant)", path, i+1, g, w)
		}
	}
}

// fill sets everything in v to something that is not its zero value.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch set := v.Addr().Interface().(type) {
	case *event.Raw:
		*set = event.Raw(`{"k":"<&>"}`)
		return
	case *message.Message:
		*set = message.NewUser("hi", nil, 5)
		return
	case *message.Content:
		*set = message.PlainContent("words")
		return
	case *message.Block:
		*set = message.TextBlock("block")
		return
	case *func() *message.Assistant: // not on the wire
		return
	case *event.ResourcesDiscoverResult: // NamedBy does not travel
		*set = event.ResourcesDiscoverResult{SkillPaths: []string{"s"}, PromptPaths: []string{"s"}}
		return
	case *message.Model:
		*set = message.Model{ID: "m", Name: "M", API: "a", Provider: "p", BaseURL: "u", Reasoning: true, Input: []string{"text"}, ContextWindow: 9, MaxTokens: 8}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fill(t, value)
		v.SetMapIndex(reflect.ValueOf("key"), value)
	case reflect.String:
		v.SetString("s")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(1.5)
	default:
		t.Fatalf("no value for a %s", v.Type())
	}
}

// fillInterfaces sets the fields that an event cannot do without: messages.
func fillInterfaces(t *testing.T, v reflect.Value) {
	t.Helper()
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.Interface {
			fill(t, v.Field(i))
		}
	}
}

// A handler that takes all images away is not one that leaves them as they are.
func TestInputResultTellsNoImagesFromUnchangedOnes(t *testing.T) {
	for _, c := range []struct {
		images []message.Block
		want   string
	}{
		{nil, `{"action":"transform","text":"x"}`},
		{[]message.Block{}, `{"action":"transform","text":"x","images":[]}`},
	} {
		data, err := message.Marshal(&event.InputResult{Action: "transform", Text: "x", Images: c.images})
		if err != nil || string(data) != c.want {
			t.Errorf("%#v is written as %s (%v), want %s", c.images, data, err, c.want)
		}
		var back event.InputResult
		if err := json.Unmarshal(data, &back); err != nil || (back.Images == nil) != (c.images == nil) {
			t.Errorf("%s came back as %#v, %v", data, back.Images, err)
		}
	}
}
