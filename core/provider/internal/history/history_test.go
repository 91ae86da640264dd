package history_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider/internal/history"
)

func TestSameModel(t *testing.T) {
	model := message.Model{ID: "m", API: "a", Provider: "p"}
	for answer, want := range map[[3]string]bool{{"a", "p", "m"}: true, {"b", "p", "m"}: false, {"a", "q", "m"}: false, {"a", "p", "n"}: false} {
		got := history.SameModel(&message.Assistant{API: answer[0], Provider: answer[1], Model: answer[2]}, model)
		if got != want {
			t.Errorf("%v: %t", answer, got)
		}
	}
}

func TestSaidAndResult(t *testing.T) {
	eyes := message.Model{Input: []string{"text", "image"}}
	text, image := message.TextBlock, message.ImageBlock("x", "image/png")
	content := []message.Block{text("a"), text(" \n"), image, text("b"), {Type: "video"}}
	note := text(history.ImageLeftOut)
	if got, want := history.Said(content, eyes), []message.Block{text("a"), image, text("b")}; !reflect.DeepEqual(got, want) {
		t.Errorf("with eyes: %+v", got)
	}
	if got, want := history.Said(content, message.Model{}), []message.Block{text("a"), note, text("b")}; !reflect.DeepEqual(got, want) {
		t.Errorf("without: %+v", got)
	}
	if got, images := history.Result(content, eyes); got != "a\n \n\nb" || len(images) != 1 {
		t.Errorf("result with eyes: %q, %d images", got, len(images))
	}
	if got, images := history.Result(content, message.Model{}); got != "a\n \n\n"+history.ImageLeftOut+"\nb" || images != nil {
		t.Errorf("result without: %q, %d images", got, len(images))
	}
}

func TestSound(t *testing.T) {
	call := func(id, name string) message.Block {
		return message.Block{Type: message.BlockToolCall, ID: id, Name: name}
	}
	answer := func(calls ...message.Block) message.Message { return &message.Assistant{Content: calls} }
	result := func(id, name string) message.Message { return &message.ToolResult{ToolCallID: id, ToolName: name} }
	twice := []message.Message{answer(call("c", "ls")), result("c", "ls"), answer(call("c", "ls")), result("c", "ls")}
	onWire := func(id string) string { return history.CallID(strings.Split(id, "|")[0], 40) }
	for name, row := range map[string]struct {
		everywhere bool
		list, want []message.Message // want nil: as it was
	}{
		"fine": {everywhere: true, list: []message.Message{message.NewUser("u", nil, 1), answer(message.TextBlock("t"), call("a|1", "ls"), call("é", "x-Y_1")), result("a|1", "ls"), result("é", "x-Y_1"), answer()}},
		"two of one id": {
			list: []message.Message{answer(call("c", "ls"), call("c", "cat")), result("c", "ls"), result("c", "cat")},
			want: []message.Message{answer(call("c", "ls"), call("c_2", "cat")), result("c", "ls"), result("c_2", "cat")},
		},
		"one once it is sent": {
			list: []message.Message{answer(call("c|1", "ls"), call("c|2", "cat"), call("c_2", "ls")), result("c|1", "ls"), result("c|2", "cat"), result("c_2", "ls")},
			want: []message.Message{answer(call("c|1", "ls"), call("c_2", "cat"), call("c_2_2", "ls")), result("c|1", "ls"), result("c_2", "cat"), result("c_2_2", "ls")},
		},
		"of two answers": {list: twice},
		"of two answers, everywhere": {everywhere: true, list: twice,
			want: []message.Message{answer(call("c", "ls")), result("c", "ls"), answer(call("c_2", "ls")), result("c_2", "ls")}},
		"names": {
			list: []message.Message{answer(call("a", ""), call("b", "fs.read file")), result("a", ""), result("b", "fs.read file")},
			want: []message.Message{answer(call("a", "unnamed_tool"), call("b", "fs_read_file")), result("a", "unnamed_tool"), result("b", "fs_read_file")},
		},
	} {
		before, _ := message.Marshal(row.list)
		got := history.Sound(row.list, row.everywhere, onWire)
		if row.want == nil {
			row.want = row.list
			for i := range got {
				if got[i] != row.list[i] {
					t.Errorf("%s: message %d was made anew", name, i)
				}
			}
		}
		if !reflect.DeepEqual(got, row.want) {
			text, _ := message.Marshal(got)
			t.Errorf("%s: %s", name, text)
		}
		if after, _ := message.Marshal(row.list); string(after) != string(before) {
			t.Errorf("%s: the conversation was changed: %s", name, after)
		}
	}
	if long := history.ToolName(strings.Repeat("x", 200)); len(long) != 128 {
		t.Errorf("a long name became %d letters", len(long))
	}
}

func TestArguments(t *testing.T) {
	for raw, want := range map[string]string{` {"a": 1} `: `{"a": 1}`, "": "{}", "null": "{}", `"{\"a\""`: "{}", "[1]": "{}", `{"a":`: "{}"} {
		if got := history.Arguments(message.Block{Arguments: json.RawMessage(raw)}); string(got) != want {
			t.Errorf("%q: %s", raw, got)
		}
	}
}

func FuzzCallID(f *testing.F) {
	f.Add("toolu_01", "call_1|fc_1")
	f.Add("", "é")
	f.Add(strings.Repeat("x", 100), strings.Repeat("x", 101))
	valid := regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)
	f.Fuzz(func(t *testing.T, a, b string) {
		ida, idb := history.CallID(a, 40), history.CallID(b, 40)
		if !valid.MatchString(ida) || !valid.MatchString(idb) {
			t.Fatalf("%q gives %q, %q gives %q", a, ida, b, idb)
		}
		if again := history.CallID(ida, 40); again != ida {
			t.Fatalf("%q gives %q, and that %q", a, ida, again)
		}
		if len(a) > 40 && len(b) > 40 && a != b && ida == idb {
			t.Fatalf("%q and %q give %q", a, b, ida)
		}
	})
}

func TestNewCallIDsDiffer(t *testing.T) {
	if a, b := history.NewCallID(), history.NewCallID(); a == b || a != history.CallID(a, 40) {
		t.Errorf("%s and %s", a, b)
	}
}
