package core

// Base is the part of testserver.Server that only the packages of the servers use. It has no exported
// members, so that embedding it adds nothing to the API.
type Base struct{ machine *Machine }

// Attach gives a server its machine, before it is configured.
func Attach(b *Base, t *Table) *Machine {
	b.machine = New(t)
	return b.machine
}

// MachineOf returns the machine of a server.
func MachineOf(b *Base) *Machine { return b.machine }

// TB is the part of a test that a machine uses.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}
