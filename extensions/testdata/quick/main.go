// Quick is a program that ends before it says anything.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "the configuration is missing")
	os.Exit(3)
}
