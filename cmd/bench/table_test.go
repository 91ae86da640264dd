package main

import (
	"bytes"
	"testing"
)

func TestTable(t *testing.T) {
	rows := []row{
		{value: value{name: "start", unit: "ms", goal: "1/25"}, of: [][]float64{{10, 20, 12}, {1000, 1000, 900}}},
		{value: value{name: "deltas", unit: "/s", larger: true, goal: "3"}, of: [][]float64{{300, 280}, {100, 140}}},
		{value: value{name: "extension", unit: "ms"}, of: [][]float64{{1.234}, nil}},
	}
	var b bytes.Buffer
	printTable(&b, rows, true)
	const want = `| | pi | reference | ratio | goal |
| --- | ---: | ---: | ---: | ---: |
| start | 12.0 ms | 1000 ms | 1/75.0 | 1/25 |
| deltas | 290 /s | 120 /s | 2.50 | 3 |
| extension | 1.23 ms |  |  |  |
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	printTable(&b, rows[:1], false)
	if want := "| | pi |\n| --- | ---: |\n| start | 12.0 ms |\n"; b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
