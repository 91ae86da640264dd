package compact

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// FileOps are the files that tools touched, each list sorted and without
// repetition.
type FileOps struct {
	Read    []string `json:"read"`
	Written []string `json:"written"`
	Edited  []string `json:"edited"`
}

// newFileOps has empty lists, so that their JSON is [] and not null.
func newFileOps() FileOps {
	return FileOps{Read: []string{}, Written: []string{}, Edited: []string{}}
}

// Details is what a summary keeps of the files, in the form in which session
// files have it.
type Details struct {
	ReadFiles     []string `json:"readFiles"`     // read and not changed
	ModifiedFiles []string `json:"modifiedFiles"` // written or edited
}

// addCalls adds the files that the built-in tools were called with.
func (f *FileOps) addCalls(messages []message.Message) {
	for _, m := range messages {
		answer, ok := m.(*message.Assistant)
		if !ok {
			continue
		}
		for _, call := range answer.ToolCalls() {
			var args struct {
				Path string `json:"path"`
			}
			if json.Unmarshal(call.Arguments, &args) != nil || args.Path == "" {
				continue
			}
			switch call.Name {
			case "read":
				f.Read = insert(f.Read, args.Path)
			case "write":
				f.Written = insert(f.Written, args.Path)
			case "edit":
				f.Edited = insert(f.Edited, args.Path)
			}
		}
	}
}

// addDetails adds the files of an earlier summary.
func (f *FileOps) addDetails(d Details) {
	for _, path := range d.ReadFiles {
		f.Read = insert(f.Read, path)
	}
	for _, path := range d.ModifiedFiles {
		f.Edited = insert(f.Edited, path)
	}
}

// addSummaries adds the files of branch summaries and compactions among items.
func (f *FileOps) addSummaries(log *store.Log, items []store.ContextItem) {
	for _, item := range items {
		if item.Role != message.RoleBranchSummary && item.Role != message.RoleCompactionSummary {
			continue
		}
		entry, ok := log.Entry(item.EntryID)
		if !ok {
			continue
		}
		var b struct {
			Details  json.RawMessage `json:"details"`
			FromHook bool            `json:"fromHook"`
		}
		if entry.Decode(&b) != nil {
			continue
		}
		if details, ok := readDetails(b.Details, b.FromHook); ok {
			f.addDetails(details)
		}
	}
}

// readDetails reads the details of a summary of ours; those of an extension's
// summary are its own.
func readDetails(raw json.RawMessage, fromHook bool) (Details, bool) {
	var d Details
	if fromHook || len(raw) == 0 || json.Unmarshal(raw, &d) != nil {
		return Details{}, false
	}
	return d, true
}

func insert(sorted []string, s string) []string {
	at, found := slices.BinarySearch(sorted, s)
	if found {
		return sorted
	}
	return slices.Insert(sorted, at, s)
}

// Details sorts the files into those that were only read and those that were
// changed. Its lists are never nil.
func (f FileOps) Details() Details {
	modified := map[string]bool{}
	for _, path := range slices.Concat(f.Written, f.Edited) {
		modified[path] = true
	}
	d := Details{ReadFiles: []string{}, ModifiedFiles: []string{}}
	for _, path := range f.Read {
		if !modified[path] {
			d.ReadFiles = append(d.ReadFiles, path)
		}
	}
	d.ModifiedFiles = append(d.ModifiedFiles, slices.Sorted(maps.Keys(modified))...)
	return d
}

// blocks is the text that stands at the end of a summary; empty without files.
func (d Details) blocks() string {
	return block("read-files", d.ReadFiles) + block("modified-files", d.ModifiedFiles)
}

func block(tag string, paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return "\n\n<" + tag + ">\n" + strings.Join(paths, "\n") + "\n</" + tag + ">"
}
