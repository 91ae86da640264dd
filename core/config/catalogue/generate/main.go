// Command generate writes the data of package catalogue from the list that
// charm.land/catwalk embeds. The argument is the folder. Of this module it
// imports that package only.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"

	"github.com/seed-54e836f5/pi/core/config/catalogue"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: generate FOLDER")
	}
	old, err := filepath.Glob(filepath.Join(os.Args[1], "*.json"))
	if err != nil {
		log.Fatal(err)
	}
	for _, file := range old {
		if err := os.Remove(file); err != nil {
			log.Fatal(err)
		}
	}
	for name, content := range files() {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), content, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// files gives the content of each file by its name.
func files() map[string][]byte {
	all := map[string][]byte{}
	for _, p := range embedded.GetAll() {
		all[string(p.ID)+".json"] = encode(convert(p))
	}
	return all
}

func convert(p catwalk.Provider) catalogue.Provider {
	out := catalogue.Provider{Default: p.DefaultLargeModelID}
	for _, m := range p.Models {
		out.Models = append(out.Models, catalogue.Model{
			ID: m.ID, Name: m.Name,
			Input: m.CostPer1MIn, Output: m.CostPer1MOut, InputCached: m.CostPer1MInCached, OutputCached: m.CostPer1MOutCached,
			ContextWindow: m.ContextWindow, MaxTokens: m.DefaultMaxTokens,
			Reasoning: m.CanReason, Efforts: m.ReasoningLevels, Images: m.SupportsImages,
		})
	}
	return out
}

// encode writes a model on each line, so that an update can be read.
func encode(p catalogue.Provider) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"default\": %s, \"models\": [", marshal(p.Default))
	for i, m := range p.Models {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n%s", marshal(m))
	}
	b.WriteString("\n]}\n")
	return b.Bytes()
}

func marshal(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		log.Fatal(err)
	}
	return out
}
