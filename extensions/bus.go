package extensions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// busBacklog is how many messages of the bus wait for one extension. A sender
// that is ahead of it by more is told so: waiting could be for ever, when two
// extensions write to each other.
const busBacklog = 1024

// busQueue holds the messages for one process, in order.
type busQueue struct {
	i        *instance
	messages chan proto.BusMessage
}

func newBusQueue(i *instance) *busQueue {
	return &busQueue{i: i, messages: make(chan proto.BusMessage, busBacklog)}
}

// publish carries out bus.publish.
func publish(_ context.Context, from *instance, m proto.BusMessage) (any, error) {
	if m.Topic == "" {
		return nil, invalidError{errors.New("field topic is missing")}
	}
	m.From = from.x.displayName()
	var full []string
	for _, x := range from.x.host.all() {
		i, err := x.instance()
		if err != nil || !slices.Contains(i.reg.topics, m.Topic) {
			continue
		}
		select {
		case i.bus.messages <- m:
		default:
			full = append(full, x.displayName())
		}
	}
	if len(full) > 0 {
		return nil, fmt.Errorf("the message on %s did not reach %s: more than %d wait there", m.Topic, joinNames(full), busBacklog)
	}
	return nil, nil
}

// send delivers, one after the other, until the process ends.
func (q *busQueue) send() {
	for {
		select {
		case <-q.i.life.Done():
			return
		case m := <-q.messages:
			if err := q.deliver(m); err != nil && q.i.life.Err() == nil {
				q.i.x.host.report(q.i.x.source.path, "bus:"+m.Topic, err)
			}
		}
	}
}

func (q *busQueue) deliver(m proto.BusMessage) error {
	payload, err := message.Marshal(m)
	if err != nil {
		return err
	}
	c, callContext, end := q.i.begin(context.Background(), q.i.x.deadlineOfKind(proto.KindBus, 0), false)
	defer end()
	started := time.Now()
	resp, err := q.i.client.Handle(c.ctx, &pb.HandleRequest{Context: callContext, Kind: proto.KindBus, Payload: payload})
	q.i.x.latency.add(proto.KindBus, time.Since(started))
	if err != nil {
		return q.i.callError(c.ctx, "the handler of the topic "+m.Topic, err)
	}
	return failureError(resp.GetFailure())
}
