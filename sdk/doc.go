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
// Nothing needs to be said about standard output: Main points os.Stdout at
// standard error before it does anything else, and what is written there ends
// up in pi's log. Extension.Log, slog and log end up there too, with their
// levels.
//
// Mistakes in the registration, such as two tools of one name, panic; pi
// reports the text. Everything else is an error.
//
// The package imports the standard library, proto, gRPC, a JSON Schema
// library, and of the core only the values that extensions see. It must not
// import core/session or extensions.
package sdk
