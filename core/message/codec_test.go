package message_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
)

// canonical are messages as they stand on the wire: they come back byte for
// byte.
var canonical = map[string]string{
	"user with blocks":       `{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image","data":"AA==","mimeType":"image/png"}],"timestamp":5}`,
	"user with a string":     `{"role":"user","content":"hi","timestamp":5}`,
	"user without a block":   `{"role":"user","content":[],"timestamp":0}`,
	"user with more":         `{"role":"user","content":"hi","timestamp":5,"attachments":[{"name":"a"}],"zoo":null}`,
	"answer":                 `{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"s","redacted":true},{"type":"text","text":"a <b> & c","textSignature":"t"},{"type":"toolCall","id":"1","name":"bash","arguments":{"command":"ls"},"thoughtSignature":"g"}],"api":"x","provider":"p","model":"m","usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"totalTokens":10,"cost":{"input":0.1,"output":0.2,"cacheRead":0.3,"cacheWrite":0.4,"total":1}},"stopReason":"toolUse","timestamp":5,"responseId":"r","rawStopReason":"tool_use"}`,
	"failed answer":          `{"role":"assistant","content":[],"api":"","provider":"","model":"","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"error","timestamp":5,"errorMessage":"no","durationMs":7}`,
	"usage with more":        `{"role":"assistant","content":[],"api":"","provider":"","model":"","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0,"totalFromProvider":0.5},"cacheWrite1h":3,"reasoning":4,"tier":"flex"},"stopReason":"stop","timestamp":5}`,
	"tool result":            `{"role":"toolResult","toolCallId":"1","toolName":"bash","content":[{"type":"text","text":"out"}],"details":{"a":[1,2]},"isError":false,"timestamp":5}`,
	"tool result bare":       `{"role":"toolResult","toolCallId":"1","toolName":"bash","content":[],"isError":true,"timestamp":5}`,
	"bash":                   `{"role":"bashExecution","command":"ls","output":"a\n","exitCode":0,"cancelled":false,"truncated":true,"fullOutputPath":"/tmp/x","timestamp":5,"excludeFromContext":true}`,
	"bash cancelled":         `{"role":"bashExecution","command":"ls","output":"","cancelled":true,"truncated":false,"timestamp":5}`,
	"custom":                 `{"role":"custom","customType":"note","content":"hi","display":true,"details":[1],"timestamp":5}`,
	"branch summary":         `{"role":"branchSummary","summary":"s","fromId":"aa","timestamp":5}`,
	"compaction summary":     `{"role":"compactionSummary","summary":"s","tokensBefore":9,"timestamp":5}`,
	"unknown role":           `{"role":"system","sections":{"tools":"x"},"content":""}`,
	"unknown block":          `{"role":"user","content":[{"type":"video","url":"u"}],"timestamp":5}`,
	"known block with more":  `{"role":"user","content":[{"type":"text","text":"hi","index":0,"note":{"a":1}}],"timestamp":5}`,
	"names in another case":  `{"role":"user","content":"one","timestamp":5,"Content":"two","ROLE":"x"}`,
	"block in another case":  `{"role":"user","content":[{"type":"text","text":"one","TEXT":"two","Type":"image"}],"timestamp":5}`,
	"unknown stop reason":    `{"role":"assistant","content":[],"api":"","provider":"","model":"","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"pause","timestamp":5}`,
	"cut-off call arguments": `{"role":"assistant","content":[{"type":"toolCall","id":"1","name":"bash","arguments":"{\"comm"}],"api":"","provider":"","model":"","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"length","timestamp":5}`,
}

func TestMessagesComeBackAsTheyWere(t *testing.T) {
	for name, wire := range canonical {
		t.Run(name, func(t *testing.T) {
			m, err := message.Decode([]byte(wire))
			if err != nil {
				t.Fatal(err)
			}
			got, err := message.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != wire {
				t.Errorf("came back as\n%s\nwant\n%s", got, wire)
			}
		})
	}
}

func TestMembersOfAnotherCaseAreNotTakenForKnownOnes(t *testing.T) {
	m, err := message.Decode([]byte(`{"Content":"two","role":"user","content":"one"}`))
	if err != nil {
		t.Fatal(err)
	}
	user := m.(*message.User)
	if got := message.TextOf(user); got != "one" {
		t.Errorf("content is %q, want that of the member in lower case", got)
	}
	if got := string(user.Extra["Content"]); got != `"two"` {
		t.Errorf("the other member is %s", got)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, data := range []string{
		``, `null`, `[]`, `"user"`, `{`, `{}`, `{"role":null}`, `{"role":""}`, `{"role":5}`, `{"ROLE":"user"}`,
		`{"role":"user","content":5}`, `{"role":"user","content":[{"type":"text","text":5}]}`, `{"role":"user","content":["x"]}`,
		`{"role":"user","timestamp":"now"}`, `{"role":"assistant","content":"plain"}`, `{"role":"toolResult","isError":"no"}`,
	} {
		if m, err := message.Decode([]byte(data)); err == nil {
			t.Errorf("%s gave %#v, want an error", data, m)
		}
	}
}

// Messages written by hand in a session file may lack what we always write.
func TestDecodeTakesWhatIsMissing(t *testing.T) {
	for data, want := range map[string]string{
		`{"role":"user"}`:                                 `{"role":"user","content":[],"timestamp":0}`,
		`{"role":"user","content":null}`:                  `{"role":"user","content":[],"timestamp":0}`,
		`{"role":"custom"}`:                               `{"role":"custom","customType":"","content":[],"display":false,"timestamp":0}`,
		`{"role":"user","content":[{"type":"toolCall"}]}`: `{"role":"user","content":[{"type":"toolCall","id":"","name":"","arguments":{}}],"timestamp":0}`,
		"{\n\"role\" : \"user\" ,\r\n\"content\":\"\u2028\",\"x\":[\n1]}\n": `{"role":"user","content":"\u2028","timestamp":0,"x":[1]}`,
	} {
		m, err := message.Decode([]byte(data))
		if err != nil {
			t.Errorf("%s: %v", data, err)
			continue
		}
		got, err := message.Marshal(m)
		if err != nil || string(got) != want {
			t.Errorf("%s came back as %s (%v), want %s", data, got, err, want)
		}
	}
}

func TestOpaqueKeepsItsBytes(t *testing.T) {
	data := []byte(`{"role":"system","a":{"b":1.50}}`)
	m, err := message.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	opaque, ok := m.(*message.Opaque)
	if !ok || opaque.Role() != "system" {
		t.Fatalf("got %#v", m)
	}
	want := string(data)
	clear(data) // the caller's memory is the caller's
	if string(opaque.Raw) != want {
		t.Errorf("holds %s, want %s", opaque.Raw, want)
	}
}

func TestListNamesTheItemThatFails(t *testing.T) {
	var l message.List
	err := json.Unmarshal([]byte(`[{"role":"user"},{"content":"x"}]`), &l)
	if err == nil || !strings.Contains(err.Error(), "item 1") || !strings.Contains(err.Error(), "role is missing") {
		t.Errorf("error is %v", err)
	}
	if err := json.Unmarshal([]byte(`[]`), &l); err != nil || l == nil || len(l) != 0 {
		t.Errorf("an empty array gave %#v, %v", l, err)
	}
	for _, l := range []message.List{nil, {}} {
		if got, err := message.Marshal(l); err != nil || string(got) != "[]" {
			t.Errorf("%#v is written as %s, %v", l, got, err)
		}
	}
}

func TestContentRemembersItsForm(t *testing.T) {
	for name, c := range map[string]struct {
		content message.Content
		wire    string
		blocks  int
	}{
		"zero":         {message.Content{}, `[]`, 0},
		"plain":        {message.PlainContent("x"), `"x"`, 1},
		"plain empty":  {message.PlainContent(""), `""`, 1},
		"blocks":       {message.BlockContent([]message.Block{message.TextBlock("x")}), `[{"type":"text","text":"x"}]`, 1},
		"no block":     {message.BlockContent(nil), `[]`, 0},
		"empty blocks": {message.BlockContent([]message.Block{}), `[]`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := message.Marshal(c.content)
			if err != nil || string(got) != c.wire {
				t.Fatalf("is written as %s (%v), want %s", got, err, c.wire)
			}
			if n := len(c.content.Blocks()); n != c.blocks {
				t.Errorf("has %d blocks, want %d", n, c.blocks)
			}
			// A used value takes on the form of what is read into it.
			for _, before := range []message.Content{message.PlainContent("old"), message.BlockContent([]message.Block{message.TextBlock("old")})} {
				if err := json.Unmarshal(got, &before); err != nil {
					t.Fatal(err)
				}
				if again, err := message.Marshal(before); err != nil || string(again) != c.wire {
					t.Errorf("came back as %s, %v", again, err)
				}
			}
		})
	}
}

func TestSplice(t *testing.T) {
	for object, want := range map[string]string{
		`{}`:            `{"type":"x"}`,
		`{"a":1}`:       `{"type":"x","a":1}`,
		`{"a":{"b":2}}`: `{"type":"x","a":{"b":2}}`,
	} {
		in := []byte(object)
		if got := string(message.Splice("type", []byte(`"x"`), in)); got != want {
			t.Errorf("%s became %s, want %s", object, got, want)
		}
		if string(in) != object {
			t.Errorf("%s was changed to %s", object, in)
		}
	}
}

func TestMarshalWritesWhatBrowsersNeedEscapedAsItIs(t *testing.T) {
	for value, want := range map[string]string{
		`<a href="x">&</a>`:   `"<a href=\"x\">&</a>"`,
		"\u2028 \u2029":       `"\u2028 \u2029"`,
		"line\nfeed\ttab\x00": `"line\nfeed\ttab\u0000"`,
		"bad \xff byte":       `"bad \ufffd byte"`,
		"✓ é 😀":               `"✓ é 😀"`,
	} {
		if got, err := message.Marshal(value); err != nil || string(got) != want {
			t.Errorf("%q is written as %s (%v), want %s", value, got, err, want)
		}
	}
	if _, err := message.Marshal(func() {}); err == nil {
		t.Error("a function was encoded")
	}
}

// Deep inside a message nothing is escaped either.
func TestMarshalReachesInside(t *testing.T) {
	m := message.NewUser("<&>", nil, 1)
	m.Extra = message.Fields{"more <": json.RawMessage(`"<&>"`)}
	want := `{"role":"user","content":[{"type":"text","text":"<&>"}],"timestamp":1,"more <":"<&>"}`
	if got, err := message.Marshal(message.List{m}); err != nil || string(got) != "["+want+"]" {
		t.Errorf("is written as %s, %v", got, err)
	}
}

// TestNoFieldIsForgotten fills every field of every type and wants each back:
// who adds a field and forgets the codec hears of it here.
func TestNoFieldIsForgotten(t *testing.T) {
	for _, m := range []message.Message{
		new(message.User), new(message.Assistant), new(message.ToolResult), new(message.BashExecution),
		new(message.Custom), new(message.BranchSummary), new(message.CompactionSummary),
	} {
		t.Run(string(m.Role()), func(t *testing.T) {
			v := reflect.ValueOf(m).Elem()
			fill(t, v)
			data, err := message.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			wantMembers(t, v.Type(), data, "Extra")
			back, err := message.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(m, back) {
				t.Errorf("came back as\n%#v\nwant\n%#v", back, m)
			}
		})
	}
}

func TestNoFieldOfAModelIsForgotten(t *testing.T) {
	var m, back message.Model
	v := reflect.ValueOf(&m).Elem()
	fill(t, v)
	data, err := message.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	wantMembers(t, v.Type(), data, "ThinkingLevels", "ThinkingWords")
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	m.ThinkingLevels, m.ThinkingWords = nil, nil // models.json has them, the wire does not
	if !reflect.DeepEqual(m, back) {
		t.Errorf("came back as %#v, want %#v", back, m)
	}
}

// Which fields of a block are written depends on its type; each of them is by
// one.
func TestNoFieldOfABlockIsForgotten(t *testing.T) {
	lost := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[message.Block]()) {
		lost[f.Name] = true
	}
	for _, kind := range []message.BlockType{message.BlockText, message.BlockThinking, message.BlockToolCall, message.BlockImage, "video"} {
		var full, back message.Block
		fill(t, reflect.ValueOf(&full).Elem())
		full.Type = kind
		data, err := message.Marshal(full)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		was, is := reflect.ValueOf(full), reflect.ValueOf(back)
		for i := range is.NumField() {
			if is.Field(i).IsZero() {
				continue
			}
			delete(lost, is.Type().Field(i).Name)
			if !reflect.DeepEqual(was.Field(i).Interface(), is.Field(i).Interface()) {
				t.Errorf("%s: field %s came back as %v", kind, is.Type().Field(i).Name, is.Field(i))
			}
		}
	}
	delete(lost, "Unparsed") // what is no JSON is not stored
	for name := range lost {
		t.Errorf("no type of block writes the field %s", name)
	}
}

// fill sets everything in v to something that is not its zero value.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch set := v.Addr().Interface().(type) {
	case *json.RawMessage:
		*set = json.RawMessage(`{"k":1}`)
		return
	case *message.Fields:
		*set = message.Fields{"unknown": json.RawMessage(`[1]`)}
		return
	case *message.Content:
		*set = message.PlainContent("words")
		return
	case *[]message.Block:
		*set = []message.Block{message.TextBlock("block")}
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
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key)
		fill(t, value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
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

// wantMembers checks that the JSON has a member for every field, except those
// that are not on the wire.
func wantMembers(t *testing.T, of reflect.Type, data []byte, except ...string) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		t.Fatal(err)
	}
	hidden := map[string]bool{}
	for _, name := range except {
		hidden[name] = true
	}
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if hidden[f.Name] {
			if name != "-" {
				t.Errorf("%s.%s has the name %q on the wire, want none", of.Name(), f.Name, name)
			}
			continue
		}
		if _, ok := members[name]; !ok || name == "" {
			t.Errorf("%s.%s is not in %s", of.Name(), f.Name, data)
		}
	}
}

// What a tool or an extension gave as JSON must be JSON, or the line that it
// stands in is none.
func TestMarshalRefusesWhatIsNoJSON(t *testing.T) {
	bad := json.RawMessage(`{"a":`)
	call := message.Block{Type: message.BlockToolCall, ID: "1", Name: "bash", Arguments: bad}
	for field, m := range map[string]message.Message{
		"details":           &message.ToolResult{Details: bad},
		"zoo":               &message.User{Extra: message.Fields{"zoo": bad}},
		"content: item 0":   &message.Assistant{Content: []message.Block{call}},
		"content: item 0: ": &message.User{Content: message.BlockContent([]message.Block{call})},
	} {
		data, err := message.Marshal(m)
		if err == nil || !strings.Contains(err.Error(), "field "+field) {
			t.Errorf("%s: became %s, %v", field, data, err)
		}
		if data, err := message.Marshal(message.List{m}); err == nil {
			t.Errorf("%s: in a list it became %s", field, data)
		}
	}
	if data, err := message.Marshal((*message.User)(nil)); err != nil || string(data) != "null" {
		t.Errorf("no message is written as %s, %v", data, err)
	}
}

// Messages inside other values are written and read by encoding/json, through
// their methods.
func TestEncodingJSONAgrees(t *testing.T) {
	for name, wire := range canonical {
		t.Run(name, func(t *testing.T) {
			m, err := message.Decode([]byte(wire))
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			encoder := json.NewEncoder(&got)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(map[string]any{"m": m}); err != nil {
				t.Fatal(err)
			}
			if want := `{"m":` + wire + "}\n"; got.String() != want {
				t.Errorf("is written as\n%s\nwant\n%s", got.String(), want)
			}
			if _, opaque := m.(*message.Opaque); opaque {
				return // Decode alone reads those
			}
			back := reflect.New(reflect.TypeOf(m).Elem()).Interface()
			if err := json.Unmarshal([]byte(wire), back); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(m, back) {
				t.Errorf("is read as\n%#v\nwant\n%#v", back, m)
			}
		})
	}
}

func TestIsCutOff(t *testing.T) {
	call := message.Block{Type: message.BlockToolCall, ID: "1"}
	for _, c := range []struct {
		m    message.Assistant
		want bool
	}{
		{message.Assistant{StopReason: message.StopLength}, true},
		{message.Assistant{StopReason: message.StopLength, Content: []message.Block{message.TextBlock("and")}}, true},
		{message.Assistant{StopReason: message.StopLength, Content: []message.Block{call}}, false},
		{message.Assistant{StopReason: message.StopStop}, false},
	} {
		if got := c.m.IsCutOff(); got != c.want {
			t.Errorf("%s with %d blocks: %v", c.m.StopReason, len(c.m.Content), got)
		}
	}
}
