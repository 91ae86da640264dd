package replay

import "testing"

func value(t *testing.T, s string) any {
	t.Helper()
	v, err := decode([]byte(s))
	if err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	return v
}

func TestMatches(t *testing.T) {
	for _, test := range []struct {
		pattern, value string
		want           bool
	}{
		{`{"type":"response"}`, `{"type":"response","id":"a"}`, true},
		{`{"type":"response","id":"b"}`, `{"type":"response","id":"a"}`, false},
		{`{"id":1}`, `{"id":1.0}`, true},
		{`{"id":1}`, `{"id":"1"}`, false},
		{`{"id":null}`, `{}`, false},
		{`{"id":null}`, `{"id":null}`, true},
		{`{"a":{"b":true}}`, `{"a":{"b":true,"c":1}}`, true},
		{`[1]`, `[1,2]`, true},
		{`[1,2]`, `[1]`, false},
		{`{"e":"~^Model .* found"}`, `{"e":"Model not found: a/b"}`, true},
		{`{"e":"~x"}`, `{"e":5}`, false},
		{`{}`, `"text"`, false},
	} {
		if got := Matches(value(t, test.pattern), value(t, test.value)); got != test.want {
			t.Errorf("Matches(%s, %s) = %v", test.pattern, test.value, got)
		}
	}
}

func TestDig(t *testing.T) {
	v := value(t, `{"data":{"entries":[{"id":"a"},{"id":"b"}]}}`)
	for path, want := range map[string]any{
		"data.entries.0.id":  "a",
		"data.entries.-1.id": "b",
		"data.entries.2.id":  nil,
		"data.entries.x.id":  nil,
		"data.none.id":       nil,
	} {
		if got := dig(v, path); got != want {
			t.Errorf("dig(%q) = %v, want %v", path, got, want)
		}
	}
}

func TestFill(t *testing.T) {
	vars := variables{"WORK": `/w "x"`, "n": integer(5)}
	if got, want := vars.text("${WORK} ${n} ${none} ${PAD:3}"), `/w "x" 5 ${none} xxx`; got != want {
		t.Errorf("text: got %s, want %s", got, want)
	}
	if got, want := string(vars.json([]byte(`{"b":"${WORK}","a":"${PAD:2}"}`))), `{"b":"/w \"x\"","a":"xx"}`; got != want {
		t.Errorf("json: got %s, want %s", got, want)
	}
}
