package config_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-54e836f5/pi/core/config"
)

// A local server in models.json, found by a part of its name, with its key.
func ExampleCatalogue_Resolve() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	models := filepath.Join(dir, "models.json")
	if err := os.WriteFile(models, []byte(`{"providers": {"ollama": {
		"baseUrl": "http://localhost:11434/v1", "api": "openai-completions", "apiKey": "$OLLAMA_KEY",
		"models": [{"id": "qwen2.5-coder:7b", "reasoning": true}]}}}`), 0o600); err != nil {
		panic(err)
	}
	env := func(name string) string { return map[string]string{"OLLAMA_KEY": "local"}[name] }

	catalogue, warnings := config.OpenCatalogue(config.CatalogueOptions{ModelsFile: models, Env: env})
	selection, err := catalogue.Resolve("qwen:high", "")
	fmt.Println(selection.Model.Provider, selection.Model.ID, selection.Thinking, err, len(warnings))
	access, err := catalogue.Access(context.Background(), selection.Model)
	fmt.Println(access.BaseURL, access.APIKey, err)
	_, err = catalogue.Resolve("some-model", "olama")
	fmt.Println(err)
	// Output:
	// ollama qwen2.5-coder:7b high <nil> 0
	// http://localhost:11434/v1 local <nil>
	// unknown provider "olama"; `pi --list-models` shows what there is, and models.json may define more
}

// A project's settings over the user's, with where each value came from.
func ExampleLoadSettings() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	paths := config.Paths{AgentDir: filepath.Join(dir, "agent"), Home: dir, Cwd: filepath.Join(dir, "work")}
	for file, content := range map[string]string{
		paths.SettingsFile():        `{"steeringMode": "all", "retry": {"maxRetries": 5}}`,
		paths.ProjectSettingsFile(): `{"retry": {"maxRetries": 1, "baseDelayMs": -1}}`,
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			panic(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			panic(err)
		}
	}

	loaded := config.LoadSettings(config.SettingsOptions{Paths: paths, Trusted: true})
	for _, v := range loaded.Values {
		if v.Layer != config.LayerDefault {
			fmt.Println(v.Key, string(v.Value), v.Layer)
		}
	}
	for _, w := range loaded.Warnings {
		fmt.Println(w.Line, w.Key, w.Message)
	}
	// Output:
	// steeringMode "all" user
	// retry.maxRetries 1 project
	// 1 retry.baseDelayMs expected milliseconds from 0 to 3600000, found -1; it is ignored
}
