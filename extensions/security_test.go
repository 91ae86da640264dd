package extensions_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/extensions"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

func TestTheEnvironmentIsAnAllowList(t *testing.T) {
	k := newKit(t, func(o *extensions.Options) {
		o.Env = append(os.Environ(), "ANTHROPIC_API_KEY=secret", "GITHUB_TOKEN=token", "LC_TIME=de", "OPENAI_API_KEY=secret2")
		o.Paths = []string{folder(t, "actor", map[string]any{
			"command": []string{fixture("actor")}, "env": []string{"GITHUB_TOKEN", "MODE=fast", "HOME=/elsewhere", "NOT_THERE"},
		})}
	})
	k.start()
	for name, want := range map[string]string{
		"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "", "GITHUB_TOKEN": "token", "MODE": "fast", "LC_TIME": "de",
		"HOME": "/elsewhere", "NOT_THERE": "", "PATH": os.Getenv("PATH"),
	} {
		k.command("/env " + name)
		if n := k.person.waitNotice(t, name+"="); n.Message != name+"="+want {
			t.Errorf("the extension sees %s", n.Message)
		}
	}
}

func TestAManifestNarrows(t *testing.T) {
	k := startKit(t, actor(t, "tool_call=note session_start=note", map[string]any{"capabilities": []string{"ui", "commands", "hooks"}}))
	k.wantError("tools", `does not list the capability "tools"`)
	k.wantError("topics of the bus", `the capability "bus"`)
	if info := k.info(); len(info.Tools) != 0 || fmt.Sprint(info.Events) != "[tool_call]" {
		t.Errorf("it is described as %+v", info)
	}
	k.command("/call state")
	k.person.waitNotice(t, "state: fine")
	for _, name := range []string{"entries", "append", "name", "tools", "message", "thinking", "provider"} {
		k.command("/call " + name)
		n := k.person.waitNotice(t, name+": ")
		if !strings.Contains(n.Message, "notAllowed=true") || !strings.Contains(n.Message, "needs the capability") {
			t.Errorf("%s gave %q", name, n.Message)
		}
	}
}

// What a manifest does not let an extension add later leaves alone what it does.
func TestAManifestNarrowsWhatIsAddedLater(t *testing.T) {
	k := startKit(t, actor(t, "", map[string]any{"capabilities": []string{"ui", "commands"}}))
	k.wantError("tools", `does not list the capability "tools"`)
	k.command("/extend")
	k.wantError(`extend: the registration needs the capability "tools"`)
	k.command("/extend-many")
	k.command("/many3")
	if info := k.info(); !slices.Contains(info.Commands, "many3") || len(info.Tools) > 0 {
		t.Errorf("it is %+v", info)
	}
}

func TestAManifestWithoutUI(t *testing.T) {
	k := startKit(t, actor(t, "", map[string]any{"capabilities": []string{"commands"}}))
	k.command("/act ask")
	k.wantError(`a dialog needs the capability "ui"`)
}

func TestProviderKeysAreHidden(t *testing.T) {
	k := startKit(t, actor(t, "before_provider_headers=note", nil))
	e := &event.BeforeProviderHeaders{Headers: map[string]string{"Authorization": "Bearer secret", "X-Api-Key": "secret", "Accept": "json"}}
	hook.Decide[event.BeforeProviderHeadersResult](t.Context(), k.hooks, e)
	seen := e.Headers["X-Seen"]
	if strings.Contains(seen, "secret") || !strings.Contains(seen, "Accept: json") || !strings.Contains(seen, "Authorization: (hidden)") {
		t.Errorf("the handler saw %s", seen)
	}
	if e.Headers["Authorization"] != "Bearer secret" {
		t.Errorf("the key became %s", e.Headers["Authorization"])
	}
}

// The key of a provider that streams is for the extension that streams, and for
// no other one that looks at requests.
func TestStreamedProviderKeysAreHidden(t *testing.T) {
	registered := providers{}
	k := newKit(t, func(o *extensions.Options) {
		o.Paths, o.Providers = []string{actor(t, "", map[string]any{"env": []string{"PROVIDER=parrot"}})}, registered
	})
	k.start()
	var shown, said string
	err := registered["parrot"].Stream(t.Context(), provider.Request{
		Model: message.Model{Provider: "parrot", ID: "p1"}, APIKey: "secret-key", Headers: map[string]string{"Authorization": "secret-header"},
		Messages: []message.Message{message.NewUser("key", nil, 1)}, Tools: []provider.Tool{{Name: "fly", Parameters: []byte(`{}`)}},
		Hooks: provider.Hooks{BeforeRequest: func(_ context.Context, payload json.RawMessage) json.RawMessage {
			shown = string(payload)
			return message.Splice("system", []byte(`"changed"`), []byte(strings.Replace(shown, `"system":"",`, "", 1)))
		}},
	}, func(d provider.Delta) error {
		if d.Kind == provider.TextDelta && said == "" {
			said = d.Text
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if shown == "" || strings.Contains(shown, "secret") {
		t.Errorf("the handlers saw %s", shown)
	}
	if said != "secret-key secret-header changed" {
		t.Errorf("the provider got %q", said)
	}
}

func TestAPinnedProgram(t *testing.T) {
	program, err := os.ReadFile(fixture("hello"))
	if err != nil {
		t.Fatal(err)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(program))
	pinned := func(t *testing.T, program string) *kit {
		dir := folder(t, "pinned", map[string]any{"command": []string{"./run"}, "sha256": sum})
		write(t, filepath.Join(dir, "run"), program, 0o755)
		return startKit(t, dir)
	}
	t.Run("right", func(t *testing.T) {
		k := pinned(t, string(program))
		if info := k.info(); info.State != extensions.Running {
			t.Errorf("it is %+v", info)
		}
	})
	t.Run("one bit wrong", func(t *testing.T) {
		changed := []byte(string(program))
		changed[len(changed)-1] ^= 1
		k := pinned(t, string(changed))
		k.wantError("is not the program that was pinned, and was not run", sum, fmt.Sprintf("%x", sha256.Sum256(changed)))
	})
}

// TestStrangersAreRefused calls both sides of the contract without the token,
// as another extension could.
func TestStrangersAreRefused(t *testing.T) {
	runtimeDir := shortDir(t)
	k := newKit(t, func(o *extensions.Options) {
		o.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+runtimeDir)
		o.Paths = []string{fixture("hello")}
	})
	k.start()
	sockets := 0
	err := filepath.WalkDir(runtimeDir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != runtimeDir {
			if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%s has mode %s, %v", path, info.Mode(), err)
			}
		}
		if entry.Type()&os.ModeSocket != 0 {
			sockets++
			callAsStranger(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if sockets != 2 {
		t.Errorf("there are %d sockets, not one of pi and one of the extension", sockets)
	}
}

func callAsStranger(t *testing.T, socket string) {
	t.Helper()
	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	host, extension := pb.NewHostServiceClient(conn), pb.NewExtensionServiceClient(conn)
	calls := map[string]func() error{
		"Ask":  func() error { _, err := host.Ask(t.Context(), &pb.AskRequest{Method: "confirm"}); return err },
		"Call": func() error { _, err := host.Call(t.Context(), &pb.CallRequest{Method: "session.entries"}); return err },
		"Handle": func() error {
			_, err := extension.Handle(t.Context(), &pb.HandleRequest{Kind: "tool_call"})
			return err
		},
		"RunTool": func() error {
			stream, err := extension.RunTool(t.Context(), &pb.RunToolRequest{Name: "greet"})
			if err != nil {
				return err
			}
			_, err = stream.Recv()
			return err
		},
		"Register": func() error {
			_, err := extension.Register(t.Context(), &pb.RegisterRequest{Token: "mine"})
			return err
		},
	}
	for name, call := range calls {
		switch code := status.Code(call()); code {
		case codes.Unauthenticated, codes.Unimplemented, codes.FailedPrecondition:
		default:
			t.Errorf("%s without the token gave %s", name, code)
		}
	}
}

// shortDir is a folder whose name leaves room for a socket's.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "pi-t-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestALongTMPDIR(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("long-", 40))
	mkdir(t, long)
	k := newKit(t, func(o *extensions.Options) {
		o.Env = append(os.Environ(), "TMPDIR="+long, "XDG_RUNTIME_DIR="+long)
		o.Paths = []string{fixture("hello")}
	})
	k.start()
	if info := k.info(); info.State != extensions.Running {
		t.Errorf("it is %+v", info)
	}
}

func TestFoldersOfKilledHostsAreSwept(t *testing.T) {
	dir := shortDir(t)
	left := filepath.Join(dir, "pi-ext-123")
	write(t, filepath.Join(left, "lock"), "", 0o600)
	k := newKit(t, func(o *extensions.Options) {
		o.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
		o.Paths = []string{fixture("hello")}
	})
	k.start()
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("the folder of a killed host is still there: %v", err)
	}
	k.close()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("after the end there is still %v, %v", left, err)
	}
}

func TestProjectsNeedTrust(t *testing.T) {
	inProject := func(trusted bool, decide func(context.Context) bool) *kit {
		k := newKit(t, func(o *extensions.Options) {
			o.Trusted, o.DecideTrust = trusted, decide
			copyFile(t, fixture("hello"), filepath.Join(o.ProjectDir, ".pi", "extensions", "hello"))
			copyFile(t, fixture("actor"), filepath.Join(o.AgentDir, "extensions", "actor"))
		})
		k.start()
		return k
	}
	names := func(k *kit) string {
		var list []string
		for _, info := range k.host.Infos() {
			list = append(list, info.Name+" "+info.Scope)
		}
		return strings.Join(list, ", ")
	}
	if got := names(inProject(false, nil)); got != "actor user" {
		t.Errorf("without trust there is %s", got)
	}
	if got := names(inProject(true, nil)); got != "actor user, hello project" {
		t.Errorf("with trust there is %s", got)
	}
	if got := names(inProject(false, func(context.Context) bool { return true })); got != "actor user, hello project" {
		t.Errorf("when trust is given there is %s", got)
	}
	if got := names(inProject(false, func(context.Context) bool { return false })); got != "actor user" {
		t.Errorf("when trust is refused there is %s", got)
	}
}

// TestTrustThatComesLater covers a project without extensions of its own, and
// one that is trusted while pi runs.
func TestTrustThatComesLater(t *testing.T) {
	asked, trusted := 0, false
	var places []extensions.Place
	k := newKit(t, func(o *extensions.Options) {
		o.DecideTrust = func(context.Context) bool { asked++; return trusted }
		o.Places = func() []extensions.Place { return places }
	})
	k.start()
	if asked != 1 || len(k.host.Infos()) != 0 {
		t.Errorf("asked %d times, and there is %+v", asked, k.host.Infos())
	}
	trusted = true
	places = []extensions.Place{{Path: fixture("hello"), Source: "git:example.com/pack", Scope: "project", Origin: "package", BaseDir: "/pack"}}
	if err := k.host.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if info := k.info(); asked != 2 || info.Scope != "project" || info.State != extensions.Running {
		t.Errorf("asked %d times, and it is %+v", asked, info)
	}
	for _, c := range k.session.Commands() {
		if c.SourceInfo.Origin != "package" || c.SourceInfo.BaseDir != "/pack" {
			t.Errorf("the command %s comes from %+v", c.Name, c.SourceInfo)
		}
	}
	if err := k.host.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if asked != 2 {
		t.Error("a project that is trusted was asked about again")
	}
}
