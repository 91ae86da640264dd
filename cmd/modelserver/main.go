// Command modelserver runs the scripted model server by hand, for benchmarks
// and for trying a client without a model. It prints its URL and serves until
// it is interrupted. What it can be ordered to do is in the documentation of
// cmd/internal/modelserver, the one package of this module that it imports.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/seed-54e836f5/pi/cmd/internal/modelserver"
)

func main() {
	address := flag.String("listen", "127.0.0.1:0", "loopback address; port 0 picks a free one")
	flag.Parse()
	if err := serve(*address); err != nil {
		fmt.Fprintln(os.Stderr, "modelserver:", err)
		os.Exit(1)
	}
}

func serve(address string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	server, err := modelserver.Listen(address)
	if err != nil {
		return err
	}
	fmt.Println(server.URL)
	<-ctx.Done()
	return server.Close()
}
