package message_test

import (
	"reflect"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
)

func TestUsageAddSumsEveryField(t *testing.T) {
	var one message.Usage
	fill(t, reflect.ValueOf(&one).Elem()) // 7 everywhere, 1.5 dollars
	sum := one.Add(one)
	for _, part := range []reflect.Value{reflect.ValueOf(sum), reflect.ValueOf(sum.Cost)} {
		for i := range part.NumField() {
			name := part.Type().Field(i).Name
			switch v := reflect.Indirect(part.Field(i)); v.Kind() {
			case reflect.Int64:
				if v.Int() != 14 {
					t.Errorf("%s is %d, want 14", name, v.Int())
				}
			case reflect.Float64:
				if v.Float() != 3 {
					t.Errorf("%s is %v, want 3", name, v.Float())
				}
			}
		}
	}
	if *one.CacheWrite1h != 7 {
		t.Error("the summand was changed")
	}
}

func TestUsageAddKeepsAnUnknownHourPartUnknown(t *testing.T) {
	hour := int64(5)
	with, without := message.Usage{CacheWrite1h: &hour}, message.Usage{}
	if got := without.Add(without).CacheWrite1h; got != nil {
		t.Errorf("two unknown parts sum to %d", *got)
	}
	for _, sum := range []message.Usage{with.Add(without), without.Add(with)} {
		if sum.CacheWrite1h == nil || *sum.CacheWrite1h != 5 {
			t.Errorf("the sum has the hour part %v, want 5", sum.CacheWrite1h)
		}
	}
}

func TestPriceOf(t *testing.T) {
	price := message.Price{Input: 3, Output: 15, CacheRead: 0.5, CacheWrite: 4}
	got := price.Of(message.Usage{Input: 2_000_000, Output: 1_000_000, CacheRead: 4_000_000, CacheWrite: 500_000})
	want := message.Cost{Input: 6, Output: 15, CacheRead: 2, CacheWrite: 2, Total: 25}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("costs %+v, want %+v", got, want)
	}
}

func TestTakesImages(t *testing.T) {
	for _, c := range []struct {
		input []string
		want  bool
	}{{nil, false}, {[]string{"text"}, false}, {[]string{"text", "image"}, true}} {
		if got := (message.Model{Input: c.input}).TakesImages(); got != c.want {
			t.Errorf("%v: %v, want %v", c.input, got, c.want)
		}
	}
}
