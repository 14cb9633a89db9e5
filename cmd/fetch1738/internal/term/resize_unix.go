//go:build unix

package term

import (
	"os"
	"os/signal"
	"syscall"
)

// OnResize calls f with the terminal's size whenever that changes, until stop.
func (r *Raw) OnResize(f func(columns, rows uint16)) (stop func()) {
	changes := make(chan os.Signal, 1)
	signal.Notify(changes, syscall.SIGWINCH)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range changes {
			if columns, rows := Size(r.tty); columns > 0 && rows > 0 {
				f(columns, rows)
			}
		}
	}()
	return func() {
		signal.Stop(changes)
		close(changes)
		<-ended
	}
}
