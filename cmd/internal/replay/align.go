package replay

// run is a stretch of two sequences: a[A1:A2] and b[B1:B2], equal or not.
type run struct {
	equal          bool
	a1, a2, b1, b2 int
}

// align splits two sequences of words into runs, so that as many words as
// possible are in equal ones.
func align(a, b []string) []run {
	// longest[i][j] is the length of the longest common subsequence of a[i:]
	// and b[j:].
	longest := make([][]int, len(a)+1)
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	var out []run
	extend := func(equal bool, i, j, di, dj int) {
		if n := len(out); n > 0 && out[n-1].equal == equal {
			out[n-1].a2, out[n-1].b2 = i+di, j+dj
			return
		}
		out = append(out, run{equal, i, i + di, j, j + dj})
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			extend(true, i, j, 1, 1)
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && longest[i+1][j] >= longest[i][j+1]:
			extend(false, i, j, 1, 0)
			i++
		default:
			extend(false, i, j, 0, 1)
			j++
		}
	}
	return out
}
