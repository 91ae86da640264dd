// Package sdk is what an author of an extension imports: it turns a Go
// program into commands, tools, hooks and dialogs of pi.
//
//	func main() {
//		sdk.Main(func(x *sdk.Extension) {
//			x.Info("hello", "1.0.0")
//			x.Command(sdk.Command{
//				Name: "hello",
//				Run: func(ctx *sdk.CommandContext, args string) error {
//					return ctx.UI.Notify("Hello "+args, sdk.Info)
//				},
//			})
//			sdk.On(x, sdk.ToolCall, func(ctx *sdk.Context, e *sdk.ToolCallEvent) (*sdk.ToolCallResult, error) {
//				ok, err := ctx.UI.Confirm("Allow "+e.ToolName+"?", string(e.Input))
//				if err != nil || ok {
//					return nil, err
//				}
//				return &sdk.ToolCallResult{Block: true, Reason: "the user said no"}, nil
//			})
//		})
//	}
//
// The program is a process of its own. pi starts it, calls its handlers, and
// starts it again when it ends unexpectedly. Handlers run at the same time,
// each in its own goroutine, like those of net/http: what they share needs a
// mutex. A handler's context ends when the run is aborted or the handler takes
// too long; return then. An error or a panic in a handler is reported and the
// run goes on, except for ToolCall, where it blocks the tool.
//
// sdk/README.md makes a first extension step by step, and says where pi looks
// for extensions, what a manifest holds and how failures are told. There is a
// program for each thing that extensions do in examples/extensions. The package
// sdktest tests an extension without pi. An extension is a module of its own;
// where this one cannot be fetched, its go.mod takes it from a clone:
//
//	go mod edit -require github.com/seed-54e836f5/pi@v0.0.0 -replace github.com/seed-54e836f5/pi=/path/to/the/clone
//	go get .
//
// Many types here are other names for those of core/event, core/message and
// core/tool, which show the fields:
//
//	go doc github.com/seed-54e836f5/pi/core/event ToolCall
//
// Nothing needs to be said about standard output: Main points os.Stdout at
// standard error before it does anything else, and what is written there ends
// up in pi's log. Extension.Log, slog and log end up there too, with their
// levels.
//
// Mistakes in the registration, such as two tools of one name, panic; pi
// reports the text and the line. Everything else is an error.
//
// The package imports the standard library, proto, gRPC, a JSON Schema
// library, and of the core only the values that extensions see. It must not
// import core/session or extensions.
package sdk
