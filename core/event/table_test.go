package event_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/event"
)

// declaredKinds reads the constants Kind… from the source.
func declaredKinds(t *testing.T) map[event.Kind]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[event.Kind]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Kind") {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if other, taken := kinds[event.Kind(text)]; taken {
			t.Errorf("%s and %s are both %q", other, spec.Names[0].Name, text)
		}
		kinds[event.Kind(text)] = spec.Names[0].Name
		return true
	})
	return kinds
}

func TestTableHasEveryKindOnce(t *testing.T) {
	missing := declaredKinds(t)
	if len(missing) < 40 {
		t.Fatalf("only %d kinds were found in the source", len(missing))
	}
	for _, row := range event.Table() {
		if _, ok := missing[row.Kind]; !ok {
			t.Errorf("%s has a second row, or no constant", row.Kind)
		}
		delete(missing, row.Kind)
		if found, ok := event.Lookup(row.Kind); !ok || found.Kind != row.Kind {
			t.Errorf("Lookup(%s) gives %s, %v", row.Kind, found.Kind, ok)
		}
	}
	for kind, constant := range missing {
		t.Errorf("%s (%s) has no row", constant, kind)
	}
	if _, ok := event.Lookup("nonsense"); ok {
		t.Error("Lookup knows a kind that does not exist")
	}
}

func TestRowsMakeSense(t *testing.T) {
	for _, row := range event.Table() {
		if !row.Client && row.Hook == event.Closed {
			t.Errorf("nobody gets %s", row.Kind)
		}
		if (row.Hook == event.Decide) != (row.NewResult != nil) {
			t.Errorf("%s: a kind has a result type if and only if extensions decide it", row.Kind)
		}
		if row.Batched && row.Hook != event.Observe {
			t.Errorf("%s is batched and not observed", row.Kind)
		}
		e := row.New()
		if e.Kind() != row.Kind {
			t.Errorf("the row of %s makes a %s", row.Kind, e.Kind())
		}
		if e2 := row.New(); reflect.TypeOf(e).Elem().Size() > 0 && e == e2 {
			t.Errorf("the row of %s makes the same event twice", row.Kind)
		}
	}
}

func TestTableIsTheCallers(t *testing.T) {
	event.Table()[0].Kind = "changed"
	if event.Table()[0].Kind == "changed" {
		t.Error("a caller can change the table")
	}
}

// No field of an event hides behind its Go name: all have a name on the wire
// or are marked as not being there.
func TestFieldsHaveWireNames(t *testing.T) {
	check := func(of string, v any) {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v).Elem()) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				t.Errorf("%s: field %s has no name on the wire", of, f.Name)
			}
		}
	}
	for _, row := range event.Table() {
		check(string(row.Kind), row.New())
		if row.NewResult != nil {
			check("result of "+string(row.Kind), row.NewResult())
		}
	}
}

func TestEmptyResultsDecode(t *testing.T) {
	for _, row := range event.Table() {
		if row.NewResult == nil {
			continue
		}
		for _, data := range []string{`{}`, `{"message":null}`} {
			if err := json.Unmarshal([]byte(data), row.NewResult()); err != nil {
				t.Errorf("%s: the result %s: %v", row.Kind, data, err)
			}
		}
	}
}

func TestEveryEventOfClientsIsDescribed(t *testing.T) {
	for _, info := range event.Table() {
		if described := strings.HasSuffix(info.Doc, "."); described != info.Client {
			t.Errorf("%s: client %t, described %t: %q", info.Kind, info.Client, described, info.Doc)
		}
	}
}
