package sdk

import (
	"strconv"
	"sync/atomic"

	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// Flag is a flag of pi's command line that an extension adds: --name, or
// --name value. Its value is there from the first event on.
type Flag struct {
	name, description, fallback string
	boolean                     bool
	value                       atomic.Pointer[string]
}

// BoolFlag adds a switch.
func (x *Extension) BoolFlag(name, description string, fallback bool) *Flag {
	return x.addFlag(&Flag{name: name, description: description, fallback: strconv.FormatBool(fallback), boolean: true})
}

// StringFlag adds a flag with a text.
func (x *Extension) StringFlag(name, description, fallback string) *Flag {
	return x.addFlag(&Flag{name: name, description: description, fallback: fallback})
}

func (x *Extension) addFlag(f *Flag) *Flag {
	x.mustBeOpen("a flag")
	claim("flag", f.name, x.flags)
	x.flags[f.name] = f
	x.order.flags = append(x.order.flags, f.name)
	return f
}

// String is the flag's text. It may be called from any goroutine.
func (f *Flag) String() string {
	if v := f.value.Load(); v != nil {
		return *v
	}
	return f.fallback
}

// Bool says whether a switch is on. It may be called from any goroutine.
func (f *Flag) Bool() bool {
	on, err := strconv.ParseBool(f.String())
	return err == nil && on
}

func (f *Flag) wire() *pb.Flag {
	return &pb.Flag{Name: f.name, Description: f.description, Boolean: f.boolean, Default: f.fallback}
}
