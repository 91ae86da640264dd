//go:build !race

package session_test

const defaultRounds = 10_000
