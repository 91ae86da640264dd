package sdk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/seed-54e836f5/pi/proto"
)

// Main is the whole of an extension's main function: it calls register to
// learn what the extension adds, serves pi until that ends it, and exits. It
// never returns.
//
// register runs once, when pi has found the program to be alive. It should
// not take long; what does belongs into a handler of SessionStart.
//
// Started by hand, the program says what it is and what to do with it. With
// PI_EXTENSION_DEBUG set it waits for a pi to attach to it instead, so that it
// can run under a debugger.
func Main(register func(x *Extension)) {
	switch {
	case os.Getenv(proto.CookieKey) == proto.CookieValue:
		os.Exit(serveProcess(register))
	case os.Getenv(proto.DebugEnv) != "":
		os.Exit(serveDebugger(register))
	}
	os.Exit(explain(os.Stdout, register))
}

// grace is how long handlers have to return once pi is gone. pi promises that
// nothing of it is left after two seconds.
const grace = 700 * time.Millisecond

func serveProcess(register func(*Extension)) int {
	// Whoever says something after pi has gone gets an error, and goes on to
	// clean up: the signal would end the process, and leave what it started.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	handshake, hostGone, err := takeStreams()
	log := newLogger(os.Stderr)
	slog.SetDefault(log)
	if err != nil {
		log.Error("take over the standard streams: " + err.Error())
		return 1
	}
	version, err := negotiate(os.Getenv(proto.VersionsEnv))
	if err != nil {
		log.Error(err.Error())
		return 1
	}
	listener, err := net.Listen("unix", filepath.Join(os.Getenv(proto.SocketDirEnv), "extension.sock"))
	if err != nil {
		log.Error("listen for pi: " + err.Error())
		return 1
	}
	line := fmt.Sprintf("%d|%d|unix|%s|grpc|\n", proto.HandshakeVersion, version, listener.Addr())
	if _, err := io.WriteString(handshake, line); err != nil {
		return 1 // nobody is there to read it
	}
	_ = handshake.Close()
	s := newServer(register, log)
	return s.serveUntilAsked(listener, hostGone)
}

// negotiate picks the version of the contract to speak, out of those that pi
// offers.
func negotiate(offered string) (int, error) {
	versions := strings.Split(offered, ",")
	if offered == "" || slices.Contains(versions, strconv.Itoa(proto.Version)) {
		return proto.Version, nil
	}
	return 0, fmt.Errorf("this extension speaks version %d of the contract, and pi speaks %s: build the extension with the sdk of that pi", proto.Version, offered)
}

// serveUntilAsked serves until pi asks for the end, is gone, or a signal
// comes.
func (s *server) serveUntilAsked(listener net.Listener, hostGone <-chan struct{}) int {
	signals := make(chan os.Signal, 1)
	signal.Ignore(os.Interrupt) // the terminal's: pi decides what it means
	signal.Notify(signals, syscall.SIGTERM)
	served := make(chan error, 1)
	go func() { served <- s.grpc.Serve(listener) }()

	select {
	case <-s.asked:
		s.stopServing()
		return s.ended(<-served)
	case err := <-served:
		return s.ended(err)
	case <-signals:
	case <-hostGone:
	}
	s.abandon()
	return 0
}

// ended gives the code to exit with after serving; no error means that it was
// stopped.
func (s *server) ended(err error) int {
	if err == nil {
		return 0
	}
	s.log.Error("serve pi: " + err.Error())
	return 1
}

// stopServing lets calls end that have begun, for a while.
func (s *server) stopServing() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.grpc.GracefulStop()
	}()
	select {
	case <-done:
	case <-time.After(grace):
		s.grpc.Stop()
		<-done
	}
	s.stop(errHostGone)
	s.close()
}

// abandon ends everything after pi went without a word: handlers are told and
// may clean up, but nothing outlives the grace, nor do programs that were
// started here.
func (s *server) abandon() {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		s.sayGoodbye(ctx)
		s.stop(errHostGone)
		s.grpc.Stop()
		s.close()
	}()
	select {
	case <-ended:
	case <-time.After(grace):
	}
	endOwnGroup()
}

// Listen serves the extension inside this process until ctx ends, as sdktest
// does and as a program under a debugger does. address is what gRPC dials.
// wait returns when everything has ended.
func Listen(ctx context.Context, register func(x *Extension), log *slog.Logger) (address string, wait func(), err error) {
	dir, err := os.MkdirTemp(shortTempDir(), "pi-ext-")
	if err != nil {
		return "", nil, fmt.Errorf("make a folder for the socket: %w", err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, "extension.sock"))
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("listen: %w", err), os.RemoveAll(dir))
	}
	s := newServer(register, log)
	served := make(chan error, 1)
	go func() { served <- s.grpc.Serve(listener) }()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-ctx.Done():
		case <-s.asked:
		}
		s.stopServing()
		s.ended(<-served)
		_ = os.RemoveAll(dir)
	}()
	return "unix:" + listener.Addr().String(), func() { <-ended }, nil
}

// shortTempDir avoids a TMPDIR that is too long for the name of a socket.
func shortTempDir() string {
	const limit = 104 - len("/pi-ext-0000000000/extension.sock")
	if dir := os.TempDir(); len(dir) < limit {
		return dir
	}
	return "/tmp"
}
