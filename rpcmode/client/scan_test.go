package client

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

func FuzzSplitObject(f *testing.F) {
	for _, line := range []string{`{}`, `{"a":1}`, ` { "a\"" : [1,{"b":"]}"}], "c":null , "d":-1e5}`, `{"a":1,"a":2}`, `[`, `{"a"}`, `{"a":}`, `{"a":1`, `{"a":"\`} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got, err := splitObject(line)
		var want map[string]json.RawMessage
		if json.Unmarshal(line, &want) != nil || want == nil {
			return // what it makes of nonsense does not matter, as long as it ends
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	})
}

func TestTreesAreReadHoweverDeep(t *testing.T) {
	const depth = 30000
	node := &wire.TreeNode{Entry: json.RawMessage(`{"id":"leaf"}`), Children: []*wire.TreeNode{}, Label: "end", LabelTimestamp: "now"}
	for i := range depth {
		node = &wire.TreeNode{Entry: json.RawMessage(fmt.Sprintf(`{"id":"%d"}`, i)), Children: []*wire.TreeNode{node}}
	}
	leaf := "leaf"
	data, err := (&wire.Tree{Tree: []*wire.TreeNode{node}, LeafID: &leaf}).AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	line := `{"id":"req_1","type":"response","command":"get_tree","success":true,"data":` + string(data) + `}`
	members, err := splitObject([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := decodeTree(members["data"])
	if err != nil || *tree.LeafID != "leaf" {
		t.Fatal(err)
	}
	n := tree.Tree[0]
	for range depth {
		n = n.Children[0]
	}
	if string(n.Entry) != `{"id":"leaf"}` || n.Label != "end" || n.LabelTimestamp != "now" || len(n.Children) != 0 {
		t.Errorf("the leaf is %+v", n)
	}
}

func TestTreeIsWrittenAsItsTypeSays(t *testing.T) {
	leaf := "b"
	tree := &wire.Tree{LeafID: &leaf, Tree: []*wire.TreeNode{
		{Entry: json.RawMessage(`{"id":"a"}`), Children: []*wire.TreeNode{
			{Entry: json.RawMessage(`{"id":"b"}`), Children: []*wire.TreeNode{}, Label: "<x>", LabelTimestamp: "t"},
			{Entry: json.RawMessage(`{"id":"c"}`), Children: []*wire.TreeNode{}},
		}},
	}}
	want, err := message.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tree.AppendJSON(nil); err != nil || string(got) != string(want) {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
	if back, err := decodeTree(want); err != nil || !reflect.DeepEqual(&back, tree) {
		t.Errorf("read back as %+v, %v", back, err)
	}
	for _, cut := range []string{"", "{", `{"tree":[{"entry":{}`, strings.TrimSuffix(string(want), "}")} {
		if _, err := decodeTree([]byte(cut)); err == nil {
			t.Errorf("%q was read", cut)
		}
	}
}
