package sdk

import (
	"encoding/json"
	"fmt"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/proto"
)

// BusMessage is what came over the bus beside the data.
type BusMessage struct {
	Topic string
	From  string // the name of the extension that sent it
}

type busHandler func(ctx *Context, m proto.BusMessage) error

// Subscribe adds a handler for a topic of the bus between extensions. T is the
// type of what is sent. Messages of one sender come in order, one at a time.
func Subscribe[T any](x *Extension, topic string, handle func(ctx *Context, m BusMessage, data T) error) {
	x.mustBeOpen("Subscribe")
	if topic == "" {
		panic("sdk: Subscribe needs a topic")
	}
	if handle == nil {
		panic(fmt.Sprintf("sdk: the handler of the topic %s is nil", topic))
	}
	if x.topics[topic] == nil {
		x.order.topics = append(x.order.topics, topic)
	}
	x.topics[topic] = append(x.topics[topic], func(ctx *Context, m proto.BusMessage) error {
		var data T
		if len(m.Data) > 0 {
			if err := json.Unmarshal(m.Data, &data); err != nil {
				return fmt.Errorf("message of %s on %s: %w", m.From, m.Topic, err)
			}
		}
		return handle(ctx, BusMessage{Topic: m.Topic, From: m.From}, data)
	})
}

// Publish sends data, as JSON, to all extensions that listen to the topic. It
// returns when the message is on its way, whether anybody listens or not.
func (c *Context) Publish(topic string, data any) error {
	encoded, err := message.Marshal(data)
	if err != nil {
		return fmt.Errorf("publish on %s: %w", topic, err)
	}
	return c.call(proto.MethodPublish, proto.BusMessage{Topic: topic, Data: encoded}, nil)
}
