// Is no extension: it ends at once, without a word.
package main

func main() {}
