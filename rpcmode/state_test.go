package rpcmode

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/seed-54e836f5/pi/core/session"
)

// TestNothingIsForgottenOnTheWayToTheWire turns values whose fields are all
// set into the wire's, and looks for a field that is not.
func TestNothingIsForgottenOnTheWayToTheWire(t *testing.T) {
	for _, test := range []struct {
		wire    any
		besides []string // set by who asks
	}{
		{wireState(filled[session.State]()), []string{"State.TodoPhases"}},
		{wireStats(filled[session.Stats]()), nil},
		{wireCommand(filled[session.Command]()), nil},
	} {
		unset := unsetFields(reflect.ValueOf(test.wire), reflect.TypeOf(test.wire).Name())
		if fmt.Sprint(unset) != fmt.Sprint(test.besides) {
			t.Errorf("not set: %v, want %v", unset, test.besides)
		}
	}
}

func filled[T any]() T {
	var value T
	fill(reflect.ValueOf(&value).Elem())
	return value
}

// fill sets everything in a value to something that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	default:
		panic("no value for a " + v.Type().String())
	}
}

// unsetFields lists the fields of a struct, and of those in it, that are zero.
func unsetFields(v reflect.Value, name string) []string {
	if v.IsZero() {
		return []string{name}
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	var list []string
	for i := range v.NumField() {
		list = append(list, unsetFields(v.Field(i), name+"."+v.Type().Field(i).Name)...)
	}
	return list
}
