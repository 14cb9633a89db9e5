//go:build !unix

package main

// terminal is for scripts, which need a shell here; see terminal_unix_test.go.
func terminal() { panic("there are no pseudo-terminals here") }
