package extensions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// Call implements the contract.
func (s *service) Call(ctx context.Context, req *pb.CallRequest) (*pb.CallResponse, error) {
	i, c, ctx, end, err := s.caller(ctx, req.GetContext())
	if err != nil {
		return nil, err
	}
	defer end()
	row, known := methods[req.GetMethod()]
	if !known {
		return nil, status.Errorf(codes.Unimplemented, "this pi has no method %q", req.GetMethod())
	}
	if failure := i.refuse(row.Method, c, req.GetContext().GetGeneration()); failure != nil {
		return &pb.CallResponse{Failure: failure}, nil
	}
	result, err := row.run(ctx, i, req.GetArguments())
	if err != nil {
		if ctx.Err() != nil {
			return nil, status.FromContextError(ctx.Err()).Err()
		}
		return &pb.CallResponse{Failure: failureOf(err)}, nil
	}
	if result == nil {
		return &pb.CallResponse{}, nil
	}
	encoded, err := message.Marshal(result)
	if err != nil {
		return nil, status.Error(codes.Internal, clip(err.Error(), 1000))
	}
	return &pb.CallResponse{Result: encoded}, nil
}

// refuse says why a method must not be carried out for this caller now.
func (i *instance) refuse(m proto.Method, c *call, generation uint64) *pb.Failure {
	if failure := i.mayNot(m.Capability, m.Name); failure != nil {
		return failure
	}
	if m.CommandOnly && (c == nil || !c.isCommand) {
		return &pb.Failure{
			Reason:  pb.Failure_REASON_COMMAND_ONLY,
			Message: m.Name + " is only for the handlers of commands: anywhere else it would wait for itself",
		}
	}
	if m.Detached && c != nil && !c.isCommand {
		return &pb.Failure{
			Reason: pb.Failure_REASON_COMMAND_ONLY,
			Message: m.Name + " begins when this handler has returned, and would wait for itself here: " +
				"call it without the call_id, and do not wait for it in the handler, or call it in a command",
		}
	}
	current := wireGeneration(i.x.host.theSession())
	if generation != 0 && generation != current && !m.AnySession {
		return &pb.Failure{
			Reason:  pb.Failure_REASON_STALE_CONTEXT,
			Message: m.Name + ": the session of this context has been replaced; use the context of a later event, or the one that replacing gave",
		}
	}
	return nil
}

// invalidError is an error about the arguments of a method.
type invalidError struct{ error }

// unavailableError is an error about what this host does not have.
type unavailableError struct{ error }

func failureOf(err error) *pb.Failure {
	f := &pb.Failure{Message: err.Error()}
	if wrong := (invalidError{}); errors.As(err, &wrong) {
		f.Reason = pb.Failure_REASON_INVALID_ARGUMENT
	} else if missing := (unavailableError{}); errors.As(err, &missing) {
		f.Reason = pb.Failure_REASON_UNAVAILABLE
	}
	return f
}

// method is a row of the table of what extensions may call.
type method struct {
	proto.Method
	run func(ctx context.Context, i *instance, arguments []byte) (any, error)
}

// methods joins the table of the contract with what carries each one out.
var methods = func() map[string]method {
	table := map[string]method{}
	for _, m := range proto.Methods() {
		run, ok := carryOut[m.Name]
		if !ok {
			panic("extensions: nothing carries out " + m.Name)
		}
		table[m.Name] = method{m, run}
	}
	return table
}()

var carryOut = map[string]func(ctx context.Context, i *instance, arguments []byte) (any, error){
	proto.MethodState:        func(_ context.Context, i *instance, _ []byte) (any, error) { return i.state(), nil },
	proto.MethodEntries:      with(entries),
	proto.MethodBranch:       with(branch),
	proto.MethodTree:         on(func(_ context.Context, s Session) (any, error) { return tree(s), nil }),
	proto.MethodMessages:     on(func(_ context.Context, s Session) (any, error) { return s.Messages(), nil }),
	proto.MethodSystemPrompt: on(func(_ context.Context, s Session) (any, error) { return s.SystemPrompt(), nil }),
	proto.MethodAppendEntry: with(func(_ context.Context, s Session, a proto.AppendEntryArgs) (any, error) {
		if a.CustomType == "" {
			return nil, invalidError{fmt.Errorf("%s: field customType is missing", proto.MethodAppendEntry)}
		}
		return s.AppendEntry(a.CustomType, a.Data)
	}),
	proto.MethodSetName: with(func(ctx context.Context, s Session, a proto.SetNameArgs) (any, error) {
		return nil, s.SetName(ctx, a.Name)
	}),
	proto.MethodSetLabel: with(func(_ context.Context, s Session, a proto.SetLabelArgs) (any, error) {
		return nil, s.SetLabel(a.EntryID, a.Label)
	}),

	proto.MethodWaitForIdle: on(func(ctx context.Context, s Session) (any, error) { return nil, s.WaitIdle(ctx) }),
	proto.MethodNewSession:  with(newSession),
	proto.MethodFork: with(func(ctx context.Context, s Session, a proto.ForkArgs) (any, error) {
		if a.Position == "" {
			a.Position = "before"
		}
		return changed(s, s.Fork(ctx, a.EntryID, a.Position))
	}),
	proto.MethodSwitch: with(func(ctx context.Context, s Session, a proto.SwitchArgs) (any, error) {
		return changed(s, s.SwitchSession(ctx, a.SessionPath))
	}),
	proto.MethodNavigate: with(navigate),
	proto.MethodReload: on(func(ctx context.Context, s Session) (any, error) {
		err := s.Reload(ctx)()
		return proto.Changed{Generation: wireGeneration(s)}, err
	}),

	proto.MethodAbort: on(func(_ context.Context, s Session) (any, error) {
		s.Abort()
		return nil, nil
	}),
	proto.MethodCompact: with(func(ctx context.Context, s Session, a proto.CompactArgs) (any, error) {
		return s.Compact(ctx, a.CustomInstructions)()
	}),
	proto.MethodShutdown: on(func(_ context.Context, s Session) (any, error) {
		s.RequestShutdown()
		return nil, nil
	}),

	proto.MethodSendMessage:     with(sendMessage),
	proto.MethodSendUserMessage: with(sendUserMessage),

	proto.MethodModels: on(func(_ context.Context, s Session) (any, error) { return s.AvailableModels(), nil }),
	proto.MethodSetModel: with(func(ctx context.Context, s Session, a proto.SetModelArgs) (any, error) {
		return s.SetModel(ctx, a.Provider, a.ModelID)
	}),
	proto.MethodSetThinking: with(func(ctx context.Context, s Session, a proto.SetThinkingArgs) (any, error) {
		if levels := message.ThinkingLevels(); !slices.Contains(levels, a.Level) {
			return nil, invalidError{fmt.Errorf("%q is no thinking level; there are %s", a.Level, joinNames(levels))}
		}
		s.SetThinkingLevel(ctx, a.Level)
		return nil, nil
	}),

	proto.MethodTools: on(func(_ context.Context, s Session) (any, error) { return tools(s), nil }),
	proto.MethodSetActiveTools: with(func(_ context.Context, s Session, a proto.SetActiveToolsArgs) (any, error) {
		return nil, s.SetActiveTools(a.Names)
	}),
	proto.MethodCommands: on(func(_ context.Context, s Session) (any, error) { return commands(s), nil }),

	proto.MethodPublish:            withInstance(publish),
	proto.MethodRegisterProvider:   withInstance(registerProvider),
	proto.MethodUnregisterProvider: withInstance(unregisterProvider),
}

// on makes a row of a method without arguments.
func on(run func(ctx context.Context, s Session) (any, error)) func(context.Context, *instance, []byte) (any, error) {
	return func(ctx context.Context, i *instance, _ []byte) (any, error) { return run(ctx, i.x.host.theSession()) }
}

// with makes a row of a method with arguments.
func with[A any](run func(ctx context.Context, s Session, arguments A) (any, error)) func(context.Context, *instance, []byte) (any, error) {
	return withInstance(func(ctx context.Context, i *instance, arguments A) (any, error) {
		return run(ctx, i.x.host.theSession(), arguments)
	})
}

// withInstance makes a row of a method that concerns the extension itself.
func withInstance[A any](run func(ctx context.Context, i *instance, arguments A) (any, error)) func(context.Context, *instance, []byte) (any, error) {
	return func(ctx context.Context, i *instance, data []byte) (any, error) {
		var arguments A
		if len(data) > 0 {
			if err := json.Unmarshal(data, &arguments); err != nil {
				return nil, invalidError{fmt.Errorf("decode the arguments: %w", err)}
			}
		}
		return run(ctx, i, arguments)
	}
}

func (i *instance) state() proto.State {
	s := i.x.host.theSession()
	now := s.State()
	state := proto.State{
		Generation:         wireGeneration(s),
		Cwd:                s.Cwd(),
		Mode:               s.Mode(),
		HasUI:              s.UI().Interactive(),
		ProjectTrusted:     i.x.host.isTrusted(),
		SessionFile:        now.SessionFile,
		SessionID:          now.SessionID,
		SessionName:        now.SessionName,
		Model:              now.Model,
		ThinkingLevel:      now.ThinkingLevel,
		IsIdle:             s.IsIdle(),
		HasPendingMessages: s.HasPendingMessages(),
	}
	if u := s.ContextUsage(); u != nil {
		state.ContextUsage = &proto.ContextUsage{Tokens: u.Tokens, ContextWindow: u.ContextWindow, Percent: u.Percent}
	}
	return state
}

func entries(_ context.Context, s Session, a proto.EntriesArgs) (any, error) {
	list, leaf, err := s.Entries(a.Since)
	return proto.Entries{Entries: list, LeafID: leaf}, err
}

func branch(_ context.Context, s Session, a proto.BranchArgs) (any, error) {
	list, leaf, err := s.Branch(a.EntryID)
	if errors.Is(err, store.ErrEntryNotFound) {
		err = invalidError{err}
	}
	return proto.Entries{Entries: list, LeafID: leaf}, err
}

// tree lists the nodes without recursion: a session is a chain of many
// thousand.
func tree(s Session) proto.Tree {
	type place struct {
		node   *store.Node
		parent int
	}
	roots, leaf := s.Tree()
	flat := proto.Tree{Nodes: []proto.TreeNode{}, LeafID: leaf}
	var open []place
	push := func(nodes []*store.Node, parent int) {
		for _, node := range slices.Backward(nodes) {
			open = append(open, place{node, parent})
		}
	}
	push(roots, -1)
	for len(open) > 0 {
		next := open[len(open)-1]
		open = open[:len(open)-1]
		flat.Nodes = append(flat.Nodes, proto.TreeNode{
			Entry: next.node.Entry.Raw, Parent: next.parent, Label: next.node.Label, LabelTimestamp: next.node.LabelTimestamp,
		})
		push(next.node.Children, len(flat.Nodes)-1)
	}
	return flat
}

func changed(s Session, wait func() (session.Changed, error)) (any, error) {
	c, err := wait()
	return proto.Changed{Cancelled: c.Cancelled, Text: c.Text, Generation: wireGeneration(s), Cwd: s.Cwd()}, err
}

func navigate(ctx context.Context, s Session, a proto.NavigateArgs) (any, error) {
	n, err := s.NavigateTree(ctx, session.Navigate{
		TargetID: a.TargetID, Summarize: a.Summarize, CustomInstructions: a.CustomInstructions, Label: a.Label,
	})()
	return proto.Navigated{Cancelled: n.Cancelled, EditorText: n.EditorText, SummaryEntry: n.SummaryEntry}, err
}

func sendMessage(_ context.Context, s Session, a proto.SendMessageArgs) (any, error) {
	deliver := session.Deliver(a.DeliverAs)
	if err := oneOf("deliverAs", deliver, "", session.DeliverSteer, session.DeliverFollowUp, session.DeliverNextTurn); err != nil {
		return nil, err
	}
	if a.Message.CustomType == "" {
		return nil, invalidError{fmt.Errorf("%s: field message.customType is missing", proto.MethodSendMessage)}
	}
	s.SendMessage(a.Message, session.SendOptions{DeliverAs: deliver, TriggerTurn: a.TriggerTurn})
	return nil, nil
}

func sendUserMessage(_ context.Context, s Session, a proto.SendUserMessageArgs) (any, error) {
	deliver := session.Deliver(a.DeliverAs)
	if err := oneOf("deliverAs", deliver, "", session.DeliverSteer, session.DeliverFollowUp); err != nil {
		return nil, err
	}
	s.SendUserMessage(a.Content, deliver)
	return nil, nil
}

func oneOf[S ~string](field string, value S, allowed ...S) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return invalidError{fmt.Errorf("field %s: %q is none of %s", field, value, joinNames(allowed[1:]))}
}

func tools(s Session) []proto.Tool {
	list := []proto.Tool{}
	for _, t := range s.Tools() {
		source := t.Owner
		if source == "" {
			source = "builtin"
		}
		list = append(list, proto.Tool{
			Name: t.Spec.Name, Label: t.Spec.Label, Description: t.Spec.Description, Parameters: t.Spec.Parameters,
			Snippet: t.Spec.Snippet, Guidelines: t.Spec.Guidelines, Active: t.Active, Source: source,
		})
	}
	return list
}

func commands(s Session) []proto.Command {
	list := []proto.Command{}
	for _, c := range s.Commands() {
		list = append(list, proto.Command{
			Name: c.Name, Description: c.Description, Source: c.Source, Location: c.Location, Path: c.Path,
			SourceInfo: proto.SourceInfo(c.SourceInfo),
		})
	}
	return list
}
