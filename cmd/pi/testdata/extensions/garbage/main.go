// Is no extension: it prints something and fails.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "this is not an extension")
	os.Exit(3)
}
