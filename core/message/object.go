package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// object writes one JSON object member by member. It keeps the first error,
// and end returns it.
type object struct {
	dst   []byte
	begun bool // there is a member
	err   error
}

func beginObject(dst []byte) *object { return &object{dst: append(dst, '{')} }

// end adds the members that no field stands for, by name, and ends the object.
func (o *object) end(extra Fields) ([]byte, error) {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		o.raw(name, extra[name])
	}
	if o.err != nil {
		return nil, o.err
	}
	return append(o.dst, '}'), nil
}

func (o *object) name(name string) {
	if o.begun {
		o.dst = append(o.dst, ',')
	}
	o.begun = true
	o.dst = append(AppendString(o.dst, name), ':')
}

func (o *object) text(name, text string) {
	o.name(name)
	// Room for what follows a long text as well, or that would copy the text.
	const more = 256
	o.dst = AppendString(slices.Grow(o.dst, len(text)+len(text)/16+more), text)
}

func (o *object) textIfAny(name, text string) {
	if text != "" {
		o.text(name, text)
	}
}

func (o *object) integer(name string, value int64) {
	o.name(name)
	o.dst = strconv.AppendInt(o.dst, value, 10)
}

func (o *object) integerIfKnown(name string, value *int64) {
	if value != nil {
		o.integer(name, *value)
	}
}

func (o *object) boolean(name string, value bool) {
	o.name(name)
	o.dst = strconv.AppendBool(o.dst, value)
}

func (o *object) booleanIfTrue(name string, value bool) {
	if value {
		o.boolean(name, value)
	}
}

func (o *object) raw(name string, raw json.RawMessage) {
	o.name(name)
	o.keep(name)(appendRaw(o.dst, raw))
}

func (o *object) rawIfAny(name string, raw json.RawMessage) {
	if len(raw) > 0 {
		o.raw(name, raw)
	}
}

func (o *object) append(name string, value appender) {
	o.name(name)
	o.keep(name)(value.AppendJSON(o.dst))
}

// value is for values that are small: encoding/json writes them.
func (o *object) value(name string, value any) {
	o.name(name)
	o.keep(name)(appendValue(o.dst, value))
}

// keep takes what a member became.
func (o *object) keep(name string) func(dst []byte, err error) {
	return func(dst []byte, err error) {
		switch {
		case err == nil:
			o.dst = dst
		case o.err == nil:
			o.err = fmt.Errorf("field %s: %w", name, err)
		}
	}
}

func appendValue(dst []byte, value any) ([]byte, error) {
	data, err := Marshal(value)
	if err != nil {
		return nil, err
	}
	return append(dst, data...), nil
}

// appendRaw appends JSON without the white space in it; what is no JSON is an
// error.
func appendRaw(dst []byte, raw json.RawMessage) ([]byte, error) {
	buf := bytes.NewBuffer(dst)
	if err := json.Compact(buf, raw); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func appendList[T any](dst []byte, list []T, item func([]byte, T) ([]byte, error)) (_ []byte, err error) {
	dst = append(dst, '[')
	for i, each := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = item(dst, each); err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
	}
	return append(dst, ']'), nil
}
