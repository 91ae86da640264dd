package builtin_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/tool/builtin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The order of the tools and their schemas, descriptions aside, are those that
// the reference agent sends to models.
func TestSchemas(t *testing.T) {
	var want []struct {
		Name   string
		Schema any
	}
	load(t, "testdata/schemas.json", &want)
	tools := builtin.Tools(builtin.Options{})
	if len(tools) != len(want) {
		t.Fatalf("%d tools, want %d", len(tools), len(want))
	}
	for i, each := range tools {
		spec := each.Spec()
		var schema any
		if err := json.Unmarshal(spec.Parameters, &schema); err != nil {
			t.Fatal(err)
		}
		if spec.Name != want[i].Name || !reflect.DeepEqual(undescribed(schema), want[i].Schema) {
			t.Errorf("tool %d: %s %v\nwant %s %v", i, spec.Name, undescribed(schema), want[i].Name, want[i].Schema)
		}
		if _, err := tool.Offered(spec); err != nil {
			t.Errorf("%s: %v", spec.Name, err)
		}
		if spec.Description == "" || spec.Snippet == "" || spec.Label == "" || strings.Contains(spec.Snippet, "\n") {
			t.Errorf("%s: there is something that nobody is told of it", spec.Name)
		}
		checkDescribed(t, spec.Name, schema)
	}
}

// undescribed is a schema without its descriptions.
func undescribed(schema any) any {
	switch schema := schema.(type) {
	case map[string]any:
		plain := map[string]any{}
		for key, value := range schema {
			if _, isText := value.(string); key == "description" && isText {
				continue
			}
			plain[key] = undescribed(value)
		}
		return plain
	case []any:
		list := make([]any, len(schema))
		for i, value := range schema {
			list[i] = undescribed(value)
		}
		return list
	}
	return schema
}

// checkDescribed wants every parameter to be described to the model.
func checkDescribed(t *testing.T, name string, schema any) {
	t.Helper()
	object, ok := schema.(map[string]any)
	if !ok {
		return
	}
	properties, _ := object["properties"].(map[string]any)
	for key, property := range properties {
		if described, _ := property.(map[string]any)["description"].(string); described == "" {
			t.Errorf("%s.%s has no description", name, key)
		}
		checkDescribed(t, name+"."+key, property)
	}
	checkDescribed(t, name+"[]", object["items"])
}

func load(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
