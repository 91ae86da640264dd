package extensions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/seed-54e836f5/pi/core/tool"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// extensionTool is a tool of an extension.
type extensionTool struct {
	x    *extension
	spec tool.Spec
}

// Spec implements tool.Tool.
func (t *extensionTool) Spec() tool.Spec { return t.spec }

// Run implements tool.Tool. It has no deadline: the run that it is part of can
// be aborted.
func (t *extensionTool) Run(ctx context.Context, call tool.Call, update func(tool.Result)) (tool.Result, error) {
	i, err := t.x.instance()
	if err != nil {
		return tool.Result{}, fmt.Errorf("the tool %s cannot run: %w", t.spec.Name, err)
	}
	c, callContext, end := i.begin(ctx, 0, false)
	defer end()
	what := "the tool " + t.spec.Name
	if err := i.batch.drain(c.ctx); err != nil {
		return tool.Result{}, t.failed(c.ctx, i, err)
	}
	stream, err := i.client.RunTool(c.ctx, &pb.RunToolRequest{
		Context: callContext, Name: t.spec.Name, ToolCallId: call.ID, Arguments: call.Arguments,
	})
	if err != nil {
		return tool.Result{}, t.failed(c.ctx, i, err)
	}
	for {
		step, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return tool.Result{}, fmt.Errorf("extension %s: %s ended without a result", t.x.displayName(), what)
		}
		if err != nil {
			return tool.Result{}, t.failed(c.ctx, i, err)
		}
		result, err := decodeToolResult(step.GetResult())
		if err != nil {
			return tool.Result{}, fmt.Errorf("extension %s: the result of %s: %w", t.x.displayName(), what, err)
		}
		if step.GetFinal() {
			return result, failureError(step.GetFailure())
		}
		if update != nil {
			update(result)
		}
	}
}

// failed says why a call has no result. That of a call that was aborted is
// nobody's failure.
func (t *extensionTool) failed(ctx context.Context, i *instance, err error) error {
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return tool.ErrAborted
	}
	return i.callError(ctx, "the tool "+t.spec.Name, err)
}

func decodeToolResult(encoded []byte) (tool.Result, error) {
	var result tool.Result
	if len(encoded) == 0 {
		return result, nil
	}
	err := json.Unmarshal(encoded, &result)
	return result, err
}
