package mirror_test

import (
	"fmt"
	"testing"

	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// over is what a server says when it ends a session after some time, or after some files.
var over = []ftptest.Fault{testserver.Reply("421 No-transfer-time exceeded. Closing control connection."), testserver.Hangup()}

// TestSessionEnds tests that a copy continues in a new session after the server has ended one, even if
// that was the only one.
func TestSessionEnds(t *testing.T) {
	files := make(map[string]string)
	for i := range 9 {
		files[fmt.Sprintf("d%d/f", i)] = fmt.Sprint("file ", i)
	}
	for _, command := range []string{"CWD", "EPSV", "MLSD", "RETR"} {
		t.Run(command, func(t *testing.T) {
			srv, _ := serveFTP(t, files)
			for _, n := range []int{3, 6} {
				srv.On(command, n, over...)
			}
			m := start(t, srv.URL+"/")
			m.Connections = 1
			ran(t, m, mirror.Summary{New: 9})
			sameFiles(t, m.Dir, files)
		})
	}
}
