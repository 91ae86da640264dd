//go:build race

package session_test

// defaultRounds are fewer where every access is watched.
const defaultRounds = 1000
