package exchange

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds what a service can ask for, far below where durations
// and timers overflow. Whether to wait that long is the caller's to decide.
const maxRetryAfter = 365 * 24 * time.Hour

// retryAfter reads how long a service asks to wait; 0: it does not say, or
// says it unreadably, or not at all any more.
//
//	retry-after-ms  milliseconds
//	retry-after     seconds, or an HTTP date
func retryAfter(header http.Header) time.Duration {
	if wait, ok := number(header.Get("Retry-After-Ms"), time.Millisecond); ok {
		return wait
	}
	value := strings.TrimSpace(header.Get("Retry-After"))
	if wait, ok := number(value, time.Second); ok {
		return wait
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return bounded(time.Until(at))
}

// Seconds reads a number of seconds with the unit behind it, as in "12.5s";
// 0 for anything else.
func Seconds(text string) time.Duration {
	wait, _ := number(strings.TrimSuffix(text, "s"), time.Second)
	return wait
}

func number(text string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil && !math.IsInf(n, 1) {
		return 0, false
	}
	if math.IsNaN(n) || n <= 0 {
		return 0, true
	}
	if n >= float64(maxRetryAfter)/float64(unit) {
		return maxRetryAfter, true
	}
	return bounded(time.Duration(n * float64(unit))), true
}

func bounded(wait time.Duration) time.Duration {
	return min(max(wait, 0), maxRetryAfter)
}
