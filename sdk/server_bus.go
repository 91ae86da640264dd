package sdk

import (
	"encoding/json"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// bus passes a message of another extension to all who listen to its topic,
// and gives the first failure.
func (s *server) bus(c *Context, payload []byte) *pb.Failure {
	var m proto.BusMessage
	if err := json.Unmarshal(payload, &m); err != nil {
		return &pb.Failure{Reason: pb.Failure_REASON_INVALID_ARGUMENT, Message: "message of the bus: " + err.Error()}
	}
	var first *pb.Failure
	for _, handle := range s.extension.topics[m.Topic] {
		failure := s.logged(event.Kind("bus message "+m.Topic), guard(func() error { return handle(c, m) }))
		if first == nil {
			first = failure
		}
	}
	return first
}
