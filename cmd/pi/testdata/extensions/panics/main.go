// Breaks while it registers.
package main

import "github.com/seed-54e836f5/pi/sdk"

func main() {
	sdk.Main(func(*sdk.Extension) { panic("load failed") })
}
