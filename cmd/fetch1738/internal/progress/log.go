package progress

import (
	"fmt"
	"io"
	"time"
)

// The times of the lines of a Log.
const (
	firstLine = 10 * time.Second
	everyLine = time.Minute
)

// A Log writes a line about a long run now and then, where there is no terminal for a [Display]: after ten
// seconds, and then every minute. A nil Log writes nothing.
type Log struct {
	ended chan struct{}
	gone  chan struct{}
}

// NewLog returns a Log that writes to w. The caller must close it. line returns the text, or "" if there
// is nothing to say.
func NewLog(w io.Writer, line func() string) *Log {
	l := &Log{ended: make(chan struct{}), gone: make(chan struct{})}
	go func() {
		defer close(l.gone)
		timer := time.NewTimer(firstLine)
		defer timer.Stop()
		for {
			select {
			case <-l.ended:
				return
			case <-timer.C:
				timer.Reset(everyLine)
			}
			if text := line(); text != "" {
				fmt.Fprintf(w, "fetch1738: %s\n", text)
			}
		}
	}()
	return l
}

// Close ends the lines.
func (l *Log) Close() {
	if l != nil {
		close(l.ended)
		<-l.gone
	}
}
