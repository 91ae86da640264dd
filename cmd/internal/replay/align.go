package replay

// run is a stretch of two sequences: a[A1:A2] and b[B1:B2], equal or not.
type run struct {
	equal          bool
	a1, a2, b1, b2 int
}

// align splits two sequences, of n and m items, into runs, so that as many
// items as possible are in equal ones.
func align(n, m int, equal func(i, j int) bool) []run {
	// longest[i][j] is the length of the longest common subsequence of a[i:]
	// and b[j:].
	longest := make([][]int, n+1)
	for i := range longest {
		longest[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if equal(i, j) {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	var out []run
	extend := func(same bool, i, j, di, dj int) {
		if n := len(out); n > 0 && out[n-1].equal == same {
			out[n-1].a2, out[n-1].b2 = i+di, j+dj
			return
		}
		out = append(out, run{same, i, i + di, j, j + dj})
	}
	i, j := 0, 0
	for i < n || j < m {
		switch {
		case i < n && j < m && equal(i, j):
			extend(true, i, j, 1, 1)
			i, j = i+1, j+1
		case j == m || i < n && longest[i+1][j] >= longest[i][j+1]:
			extend(false, i, j, 1, 0)
			i++
		default:
			extend(false, i, j, 0, 1)
			j++
		}
	}
	return out
}
