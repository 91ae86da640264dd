package store_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

func assistant(id, parent, text, more string) string {
	return `{"type":"message","id":"` + id + `","parentId":"` + parent + `","timestamp":"2025-11-01T10:00:03.000Z","message":{"role":"assistant","content":[{"type":"text","text":"` +
		text + `"}],"provider":"mock","model":"m1"` + more + `}}`
}

func compaction(id, parent, more string) string {
	return `{"type":"compaction","id":"` + id + `","parentId":"` + parent + `","timestamp":"2025-11-01T10:00:05.000Z","summary":"S-` + id + `","tokensBefore":5` + more + `}`
}

func other(entryType, id, parent, more string) string {
	return `{"type":"` + entryType + `","id":"` + id + `","parentId":"` + parent + `","timestamp":"2025-11-01T10:00:06.000Z"` + more + `}`
}

func TestContext(t *testing.T) {
	const failed = `,"stopReason":"error","errorMessage":"529"`
	const cutOff = `,"stopReason":"length"`
	turn := []string{entry("1", "null", "q1"), assistant("2", "1", "a1", ""), entry("3", "2", "q2"), assistant("4", "3", "a2", "")}
	after := []string{entry("6", "5", "q3"), assistant("7", "6", "a3", "")}
	with := func(lines ...string) []string { return append(append(append([]string{}, turn...), lines...), after...) }
	cases := []struct {
		name  string
		lines []string
		want  string
	}{
		{"nothing", nil, ""},
		{"messages", turn, "user q1; assistant a1; user q2; assistant a2"},
		{"another branch is left out", append(turn[:2:2], entry("9", "1", "other")), "user q1; user other"},
		{"settings say nothing", append(turn[:2:2], other("model_change", "8", "2", `,"provider":"p","modelId":"m"`)), "user q1; assistant a1"},
		{"compaction", with(compaction("5", "4", `,"firstKeptEntryId":"3"`)), "compactionSummary S-5; user q2; assistant a2; user q3; assistant a3"},
		{"compaction that keeps nothing on this branch", with(compaction("5", "4", `,"firstKeptEntryId":"gone"`)), "compactionSummary S-5; user q3; assistant a3"},
		{"compaction that keeps itself", with(compaction("5", "4", `,"firstKeptEntryId":"5"`)), "compactionSummary S-5; user q3; assistant a3"},
		{"compaction without a kept entry", with(compaction("5", "4", "")), "compactionSummary S-5; user q3; assistant a3"},
		{"compaction that carries messages", with(compaction("5", "4", `,"retainedTail":[{"role":"user","content":"kept"},7,{"role":"assistant","content":[]}]`)),
			"compactionSummary S-5; user kept; assistant ; user q3; assistant a3"},
		{"the last compaction counts", append(with(compaction("5", "4", `,"firstKeptEntryId":"3"`)), compaction("8", "7", `,"firstKeptEntryId":"4"`), entry("9", "8", "q4")),
			"compactionSummary S-8; assistant a2; user q3; assistant a3; user q4"},
		{"custom message and branch summary", append(turn[:2:2],
			other("custom_message", "8", "2", `,"customType":"x","content":"note","display":true`),
			other("branch_summary", "9", "8", `,"fromId":"2","summary":"B"`),
			other("custom", "a", "9", `,"customType":"x","data":1`)), "user q1; assistant a1; custom note; branchSummary B"},
		{"failed answers that were asked for again", []string{
			entry("1", "null", "q1"), assistant("2", "1", "half", failed), assistant("3", "2", "half2", failed), assistant("4", "3", "a1", ""),
			entry("5", "4", "q2"), assistant("6", "5", "last failure stays", failed),
		}, "user q1; assistant a1; user q2; assistant last failure stays"},
		{"answers that were cut off", []string{
			entry("1", "null", "q1"), assistant("2", "1", "half", cutOff), entry("3", "2", "q2"),
			`{"type":"message","id":"4","parentId":"3","timestamp":"2025-11-01T10:00:03.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"t","arguments":{}}]` + cutOff + `}}`,
			entry("5", "4", "q3"), assistant("6", "5", "the last stays", cutOff),
		}, "user q1; user q2; assistant ; user q3; assistant the last stays"},
		{"an answer that was cut off, and a note", []string{
			entry("1", "null", "q1"), assistant("2", "1", "half", cutOff),
			other("custom_message", "3", "2", `,"customType":"x","content":"note","display":true`), entry("4", "3", "q2"),
		}, "user q1; assistant half; custom note; user q2"},
		{"an answer that was cut off before a compaction", []string{
			entry("1", "null", "q1"), assistant("2", "1", "half", cutOff), compaction("5", "2", `,"firstKeptEntryId":"1"`), entry("6", "5", "q2"),
		}, "compactionSummary S-5; user q1; user q2"},
		{"a failed answer before a compaction and another try", []string{
			entry("1", "null", "q1"), assistant("2", "1", "a1", ""), entry("3", "2", "q2"), assistant("4", "3", "too long", failed),
			compaction("5", "4", `,"firstKeptEntryId":"2"`), assistant("6", "5", "a2", ""),
		}, "compactionSummary S-5; assistant a1; user q2; assistant a2"},
		{"a role that nobody knows", append(turn[:2:2], other("message", "8", "2", `,"message":{"role":"system","content":"s","sections":{}}`)), "user q1; assistant a1; system "},
		{"a message that does not decode", append(turn[:2:2], other("message", "8", "2", `,"message":{"role":"user","content":5}`), entry("9", "8", "q2")),
			"user q1; assistant a1; user ; user q2"},
		{"messages without a role or at all", append(turn[:2:2], other("message", "8", "2", `,"message":{"content":"x"}`), other("message", "9", "8", ``)), "user q1; assistant a1"},
		{"edits", with(other("context_edit", "5", "4", `,"targetId":"2","replacement":null`),
			other("context_edit", "5", "5", `,"targetId":"4","replacement":"other words"`),
			other("context_edit", "5", "5", `,"targetId":"gone","replacement":null`)), "user q1; user q2; assistant other words; user q3; assistant a3"},
		{"the last edit counts", with(other("context_edit", "5", "4", `,"targetId":"3","replacement":null`),
			other("context_edit", "5", "5", `,"targetId":"3","replacement":[{"type":"text","text":"new"}]`)), "user q1; assistant a1; user new; assistant a2; user q3; assistant a3"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := open(t, write(t, append([]string{header}, c.lines...)...))
			if got := contextOf(l); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			for _, item := range l.Context(l.Leaf()) {
				if !json.Valid(item.Raw()) || strings.Contains(string(item.Raw()), "\n") {
					t.Errorf("raw form of %s: %s", item.EntryID, item.Raw())
				}
				if _, ok := l.Entry(item.EntryID); !ok {
					t.Errorf("item of an unknown entry %q", item.EntryID)
				}
			}
		})
	}
}

func TestContextRawForms(t *testing.T) {
	l := open(t, write(t, header,
		`{"type":"message","id":"1","parentId":null,"timestamp":"2025-11-01T10:00:00.000Z","message":{ "role":"user", "content":"as \u0069t stands", "new":[1] }}`,
		compaction("2", "1", `,"firstKeptEntryId":"1"`),
		other("custom_message", "3", "2", `,"customType":"x","content":"<c>","display":true,"details":{"d":1}`),
		other("branch_summary", "4", "3", `,"fromId":"1","summary":"B\u2028"`)))
	want := []string{
		`{"role":"compactionSummary","summary":"S-2","tokensBefore":5,"timestamp":1761991205000}`,
		`{ "role":"user", "content":"as \u0069t stands", "new":[1] }`,
		`{"role":"custom","customType":"x","content":"<c>","display":true,"details":{"d":1},"timestamp":1761991206000}`,
		`{"role":"branchSummary","summary":"B\u2028","fromId":"1","timestamp":1761991206000}`,
	}
	items := l.Context(l.Leaf())
	if len(items) != len(want) {
		t.Fatalf("%d items, want %d", len(items), len(want))
	}
	for i, item := range items {
		if got := string(item.Raw()); got != want[i] {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
		if kept := i == 1; item.Kept != kept {
			t.Errorf("item %d: kept %v, want %v", i, item.Kept, kept)
		}
	}
}

func TestContextOfUnknownLeaf(t *testing.T) {
	l := open(t, write(t, header, q1))
	if got := len(l.Context("")) + len(l.Context("gone")) + len(l.Branch("")) + len(l.Branch("gone")); got != 0 {
		t.Errorf("%d items for leaves that are none", got)
	}
}

func TestEntryMessage(t *testing.T) {
	l := open(t, write(t, header, q1,
		other("message", "2", "aaaa0001", ``), other("message", "3", "2", `,"message":{"role":"user","content":5}`),
		other("label", "4", "3", `,"targetId":"2"`), other("custom_message", "5", "4", `,"customType":7`)))
	cases := []struct {
		id        string
		role      message.Role
		fails     bool
		mentioned string
	}{
		{"aaaa0001", message.RoleUser, false, ""},
		{"2", "", true, "message is missing"},
		{"3", "", true, "entry 3"},
		{"4", "", false, ""},
		{"5", "", true, "entry 5 of type custom_message"},
	}
	for _, c := range cases {
		e, _ := l.Entry(c.id)
		m, err := e.Message()
		if (err != nil) != c.fails || err != nil && !strings.Contains(err.Error(), c.mentioned) {
			t.Errorf("entry %s: error %v", c.id, err)
		}
		if m == nil != (c.role == "") || m != nil && m.Role() != c.role {
			t.Errorf("entry %s: message %v", c.id, m)
		}
	}
}

func TestBranchState(t *testing.T) {
	model := func(id, parent, name string) string {
		return other("model_change", id, parent, `,"provider":"mock","modelId":"`+name+`"`)
	}
	level := func(id, parent, name string) string {
		return other("thinking_level_change", id, parent, `,"thinkingLevel":"`+name+`"`)
	}
	cases := []struct {
		name  string
		lines []string
		want  store.BranchState
	}{
		{"nothing said", []string{q1}, store.BranchState{}},
		{"answers after the change of model", []string{q1, model("1", "aaaa0001", "m2"), assistant("2", "1", "a", "")}, store.BranchState{Provider: "mock", ModelID: "m1"}},
		{"change of model after the answers", []string{q1, assistant("2", "aaaa0001", "a", ""), model("3", "2", "m2"), level("4", "3", "high"), level("5", "4", "off")},
			store.BranchState{Provider: "mock", ModelID: "m2", ThinkingLevel: "off", HasThinkingLevel: true}},
		{"another branch does not count", []string{q1, model("1", "aaaa0001", "m2"), level("2", "1", "high"), model("3", "aaaa0001", "m3")},
			store.BranchState{Provider: "mock", ModelID: "m3"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := open(t, write(t, append([]string{header}, c.lines...)...))
			if got := l.BranchState(l.Leaf()); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
