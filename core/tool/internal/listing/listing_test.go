package listing_test

import (
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/tool/internal/listing"
)

func TestNotices(t *testing.T) {
	for _, c := range []struct {
		lines, unread []string
		want          string
	}{
		{nil, nil, "nothing"},
		{nil, []string{"/a"}, "nothing\n\n[first. Could not be read: /a]"},
		{[]string{"x", "y"}, []string{"/a", "/b", "/c"}, "x\ny\n\n[first. Could not be read: /a and 2 more]"},
	} {
		l := listing.Listing{Lines: c.lines, Empty: "nothing"}
		if c.unread != nil {
			l.Notices = []string{"first"}
		}
		l.Unread(c.unread)
		result, err := l.Result()
		if got := message.Text(result.Content); err != nil || got != c.want || result.Details != nil {
			t.Errorf("got %q, %s, %v; want %q", got, result.Details, err, c.want)
		}
	}
}

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		asked float64
		want  int
	}{{5, 5}, {5.9, 5}, {0, 1}, {-3, 1}, {1e300, 1<<31 - 1}} {
		if got := listing.Limit(&c.asked, 9); got != c.want {
			t.Errorf("asked for %v: %d, want %d", c.asked, got, c.want)
		}
	}
	if got := listing.Limit(nil, 9); got != 9 {
		t.Errorf("asked for none: %d", got)
	}
}
