package main

import (
	"fmt"
	"io"
	"slices"
)

// row holds what was measured of one value: for each agent, its runs.
type row struct {
	measure string
	value   value
	of      [][]float64
}

func printTable(w io.Writer, rows []row, reference bool) {
	if reference {
		fmt.Fprintln(w, "| | pi | reference | ratio | goal |\n| --- | ---: | ---: | ---: | ---: |")
	} else {
		fmt.Fprintln(w, "| | pi |\n| --- | ---: |")
	}
	for _, r := range rows {
		fmt.Fprintf(w, "| %s | %s |", r.value.name, r.figure(0))
		if reference {
			fmt.Fprintf(w, " %s | %s | %s |", r.figure(1), r.ratio(), r.value.goal)
		}
		fmt.Fprintln(w)
	}
}

// figure is the median of an agent's runs, with its unit.
func (r row) figure(agent int) string {
	if agent >= len(r.of) || len(r.of[agent]) == 0 {
		return ""
	}
	return short(median(r.of[agent])) + " " + r.value.unit
}

// ratio is the median of the ratios of the runs that were taken in turns, as
// so many times where larger is better, and as one so manieth where smaller
// is.
func (r row) ratio() string {
	if len(r.of) < 2 || len(r.of[1]) == 0 {
		return ""
	}
	var ratios []float64
	for i := range r.of[0] {
		if r.value.larger {
			ratios = append(ratios, r.of[0][i]/r.of[1][i])
		} else {
			ratios = append(ratios, r.of[1][i]/r.of[0][i])
		}
	}
	if r.value.larger {
		return short(median(ratios))
	}
	return "1/" + short(median(ratios))
}

func median(runs []float64) float64 {
	sorted := slices.Sorted(slices.Values(runs))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// short writes three digits, or all those before the point.
func short(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}
