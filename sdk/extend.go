package sdk

import (
	"errors"
	"fmt"

	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// Extend adds tools and commands while pi runs: add is given the extension, as
// the function of Main was, and may call AddTool and Extension.Command. They
// are there when Extend returns. What add panics with becomes the error, and
// what it added before that stays.
func (c *Context) Extend(add func(x *Extension)) error {
	x := c.extension
	if failure := x.openFor(add); failure != nil {
		return errors.New(failure.GetMessage())
	}
	tools, commands := x.toolsAndCommands()
	resp, err := c.host.client.UpdateRegistration(c, &pb.UpdateRegistrationRequest{Context: c.from, Tools: tools, Commands: commands})
	if err != nil {
		return transportError(c, "extend", err)
	}
	if err := failureError(resp.GetFailure()); err != nil {
		return fmt.Errorf("extend: %w", err)
	}
	return nil
}

func (x *Extension) openFor(add func(x *Extension)) *pb.Failure {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.extending = true
	defer func() { x.extending = false }()
	return guard(func() error { add(x); return nil })
}
