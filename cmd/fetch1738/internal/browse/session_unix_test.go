//go:build unix

package browse

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/report"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// TestMessagesWaitForTheLine tests that what is said while a line is typed is shown after it.
func TestMessagesWaitForTheLine(t *testing.T) {
	screen, tty, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	defer screen.Close()
	defer tty.Close()
	shown := &report.Reporter{Streams: stdio.Streams{Out: io.Discard, Err: tty}}
	s := &session{Reporter: shown, op: new(plan.Operation), out: stdio.CheckOutput(io.Discard), bookmarkFile: filepath.Join(t.TempDir(), "none"), hold: report.NewHold(shown)}
	s.input.reader = bufio.NewReader(&typist{tty, shown.Err})
	s.run(t.Context(), nil)
	if line, err := bufio.NewReader(screen).ReadString('\n'); err != nil || !strings.HasPrefix(line, "> quit") {
		t.Errorf("the first line is %q, %v", line, err)
	}
}

// A typist types one command, while something is said.
type typist struct {
	tty  *os.File
	said io.Writer
}

func (t *typist) Read(p []byte) (int, error) {
	fmt.Fprintln(t.said, "meanwhile")
	fmt.Fprintln(t.tty, "> quit")
	return copy(p, "quit\n"), nil
}
