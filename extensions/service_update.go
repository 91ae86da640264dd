package extensions

import (
	"context"

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
	for capability, wanted := range map[proto.Capability]int{
		proto.CanAddTools:    len(req.GetTools()),
		proto.CanAddCommands: len(req.GetCommands()),
	} {
		if failure := i.mayNot(capability, "the registration"); failure != nil && wanted > 0 {
			return &pb.UpdateRegistrationResponse{Failure: failure}, nil
		}
	}
	specs, err := toolSpecs(req.GetTools())
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
		reg.tools, reg.commands = specs, req.GetCommands()
		i.x.reg = &reg
	}
	candidate := i.x.candidate
	i.x.mu.Unlock()
	if isCurrent && !candidate {
		i.x.enlist()
	}
	return &pb.UpdateRegistrationResponse{}, nil
}
