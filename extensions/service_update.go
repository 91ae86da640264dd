package extensions

import (
	"context"
	"slices"

	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// UpdateRegistration implements the contract.
func (s *service) UpdateRegistration(ctx context.Context, req *pb.UpdateRegistrationRequest) (*pb.UpdateRegistrationResponse, error) {
	i, _, _, end, err := s.caller(ctx, req.GetContext())
	if err != nil {
		return nil, err
	}
	defer end()
	tools, commands := i.x.beyondWithheld(req)
	for capability, wanted := range map[proto.Capability]int{
		proto.CanAddTools:    len(tools),
		proto.CanAddCommands: len(commands),
	} {
		if failure := i.mayNot(capability, "the registration"); failure != nil && wanted > 0 {
			return &pb.UpdateRegistrationResponse{Failure: failure}, nil
		}
	}
	specs, err := toolSpecs(tools)
	if err != nil {
		return &pb.UpdateRegistrationResponse{Failure: invalid(err)}, nil
	}
	i.x.mu.Lock()
	isCurrent := i.x.current == i
	if serial := req.GetSerial(); serial != 0 {
		isCurrent = isCurrent && serial > i.updated
		i.updated = max(i.updated, serial)
	}
	if isCurrent {
		reg := *i.x.reg
		reg.tools, reg.commands = specs, commands
		i.x.reg = &reg
	}
	candidate := i.x.candidate
	i.x.mu.Unlock()
	if isCurrent && !candidate {
		i.x.enlist()
	}
	if i.x.isRetired() {
		return &pb.UpdateRegistrationResponse{Failure: failureOf(unavailableError{errRetired})}, nil
	}
	return &pb.UpdateRegistrationResponse{}, nil
}

// beyondWithheld is an update without what was left out, and reported, when the
// extension registered: an update has all that there is.
func (x *extension) beyondWithheld(req *pb.UpdateRegistrationRequest) (tools []*pb.Tool, commands []*pb.Command) {
	x.mu.Lock()
	reg := x.reg
	x.mu.Unlock()
	tools, commands = slices.Clone(req.GetTools()), slices.Clone(req.GetCommands())
	if reg == nil {
		return tools, commands
	}
	return slices.DeleteFunc(tools, func(t *pb.Tool) bool { return slices.Contains(reg.withheldTools, t.GetName()) }),
		slices.DeleteFunc(commands, func(c *pb.Command) bool { return slices.Contains(reg.withheldCommands, c.GetName()) })
}
