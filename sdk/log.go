package sdk

import (
	"io"
	"log/slog"
)

// newLogger writes JSON lines, which pi reads back with their levels. Which
// levels are shown is pi's choice.
func newLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
