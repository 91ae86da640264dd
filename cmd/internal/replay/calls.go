package replay

import (
	"slices"
	"strings"
)

// withCallsInOrder returns the lines with the ends of tool calls that come one
// behind the other in the order in which the calls began: of calls that run at
// the same time, which ends first is chance.
func withCallsInOrder(lines []Line) []Line {
	out := slices.Clone(lines)
	begun := map[string]int{}
	for i := 0; i < len(out); i++ {
		if text(out[i].Value, "type") == "tool_execution_start" {
			begun[text(out[i].Value, "toolCallId")] = i
		}
		end := i
		for end < len(out) && isCallEnd(out[end]) {
			end++
		}
		slices.SortStableFunc(out[i:end], func(a, b Line) int {
			return begun[text(a.Value, "toolCallId")] - begun[text(b.Value, "toolCallId")]
		})
		i = max(i, end-1)
	}
	return out
}

// isCallEnd also holds for the last update of a call, which mergeLines has put
// before its end.
func isCallEnd(l Line) bool {
	switch text(l.Value, "type") {
	case "tool_execution_update", "tool_execution_end":
		return l.Kind == Out
	}
	return false
}

// withFailuresInOrder returns the lines with the reports of extensions that did
// not start, where they come one behind the other, in the order of their paths:
// they start at the same time, so which fails first is chance.
func withFailuresInOrder(lines []Line) []Line {
	out := slices.Clone(lines)
	for begin := 0; begin < len(out); begin++ {
		end := begin
		for end < len(out) && isStartFailure(out[end]) {
			end++
		}
		slices.SortStableFunc(out[begin:end], func(a, b Line) int {
			return strings.Compare(text(a.Value, "extensionPath"), text(b.Value, "extensionPath"))
		})
		begin = max(begin, end-1)
	}
	return out
}

func isStartFailure(l Line) bool {
	return l.Kind == Out && text(l.Value, "type") == "extension_error" && text(l.Value, "event") == "process"
}
