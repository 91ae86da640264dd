package edit

import (
	"fmt"
	"strings"
)

// linesOf lists the lines on which places begin, at most a few.
func linesOf(text string, found []span) string {
	const most = 5
	var numbers []string
	for i, s := range found {
		if i == most {
			numbers = append(numbers, "…")
			break
		}
		numbers = append(numbers, fmt.Sprint(lineAt(text, s.from)))
	}
	if len(numbers) == 1 {
		return "line " + numbers[0]
	}
	return "lines " + strings.Join(numbers, ", ")
}

func lineAt(text string, at int) int { return strings.Count(text[:at], "\n") + 1 }

// nearest says how far a text that was not found agrees with the file: the
// longest run of its first lines that is there, blanks around lines aside, and
// what differs then.
func nearest(text, wanted string) string {
	const advice = "It must repeat the file exactly, blanks and line breaks too; read the file again"
	lines := strings.Split(text, "\n")
	asked := strings.Split(strings.TrimSuffix(wanted, "\n"), "\n")
	best, at := 0, 0
	for i := range lines {
		n := 0
		for n < len(asked) && i+n < len(lines) && similar(lines[i+n], asked[n]) {
			n++
		}
		if n > best {
			best, at = n, i
		}
	}
	switch {
	case best == 0 || blank(asked[:best]):
		return advice
	case best == len(asked):
		return fmt.Sprintf("The text at line %d differs from it in blanks only. %s", at+1, advice)
	case at+best == len(lines):
		return fmt.Sprintf("Its first %s found at line %d, where the file ends before the rest. %s", linesAre(best), at+1, advice)
	}
	return fmt.Sprintf("Its first %s found at line %d, but line %d is %s. %s", linesAre(best), at+1, at+best+1, quoted(lines[at+best]), advice)
}

// similar compares lines without the blanks in and around them.
func similar(a, b string) bool {
	return a == b || strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
}

func blank(lines []string) bool { return strings.TrimSpace(strings.Join(lines, "")) == "" }

func linesAre(n int) string {
	if n == 1 {
		return "line is"
	}
	return fmt.Sprintf("%d lines are", n)
}

func quoted(line string) string {
	const most = 100
	if len(line) > most {
		return fmt.Sprintf("%q…", strings.ToValidUTF8(line[:most], ""))
	}
	return fmt.Sprintf("%q", line)
}
