package resource_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-54e836f5/pi/core/resource"
)

// A template with arguments, as a team checks it in under .pi/prompts.
func ExampleSet_Expand() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	prompts := filepath.Join(dir, ".pi", "prompts")
	if err := os.MkdirAll(prompts, 0o755); err != nil {
		panic(err)
	}
	template := "---\ndescription: Review a change\n---\nReview $1, with an eye on ${2:-errors}.\n"
	if err := os.WriteFile(filepath.Join(prompts, "review.md"), []byte(template), 0o644); err != nil {
		panic(err)
	}

	set, diagnostics := resource.Load(context.Background(), resource.Options{AgentDir: filepath.Join(dir, "agent"), Cwd: dir, Trusted: true})
	for _, text := range []string{`/review "the parser"`, "/review main.go races", "hello"} {
		expanded, found := set.Expand(text)
		fmt.Println(found, expanded)
	}
	fmt.Println(len(diagnostics), "problems")
	// Output:
	// true Review the parser, with an eye on errors.
	// true Review main.go, with an eye on races.
	// false hello
	// 0 problems
}
