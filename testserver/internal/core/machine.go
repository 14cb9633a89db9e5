// Package core is what the test servers have in common: connections with their faults, the
// transcript, and the files that are served. It knows no protocol.
package core

import "github.com/fetch1738/fetch1738/testserver/internal/tree"

// Base is the part of testserver.Server that only the packages of the servers use. It has no exported
// members, so that embedding it adds nothing to the API.
type Base struct{ machine *Machine }

// Attach gives a server its machine, before it is configured.
func Attach(b *Base, t *Table) *Machine {
	b.machine = &Machine{Rules: Rules{Table: t}}
	return b.machine
}

// MachineOf returns the machine of a server.
func MachineOf(b *Base) *Machine { return b.machine }

// TB is the part of *testing.T, *testing.B and *testing.F that the New functions use.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Machine is what a testserver.Server has besides its settings: what changes while it runs.
type Machine struct {
	Rules
	Conns
	Public
	tree.Files
	Log Log
	Net Net

	Test      TB           // nil in a program
	Datagrams bool         // there are no connections
	Fresh     func() error // sets what the server keeps besides Files to what it is at the start; may be nil

	arrivals arrivals
}
