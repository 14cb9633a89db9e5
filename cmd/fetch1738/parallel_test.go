package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// TestParallelFewConnections has servers that take three connections, and refuse
// others in several ways. All documents come, in one piece each.
func TestParallelFewConnections(t *testing.T) {
	const files = 30
	content := fstest.MapFS{}
	want := make(map[string]bool)
	for i := range files {
		line := strings.Repeat(fmt.Sprintf("%02d", i), 1000) + "\n"
		content[fmt.Sprint(i)] = &fstest.MapFile{Data: []byte(line)}
		want[line] = true
	}
	for name, arm := range map[string]func(*ftptest.Server){
		"all are welcome": func(*ftptest.Server) {},
		"421": func(s *ftptest.Server) {
			for n := 3; n < 9; n++ {
				s.On("GREETING", n, testserver.Reply("421 Too many connections."))
			}
		},
		"530": func(s *ftptest.Server) {
			for n := 3; n < 9; n++ {
				s.On("PASS", n, testserver.Reply("530 Maximum number of clients reached."))
			}
		},
		"closed without a reply": func(s *ftptest.Server) {
			s.On("CONNECT", 1, testserver.Gather(8))
			s.On("CONNECT", 2, testserver.Gather(8))
			for n := 3; n < 9; n++ {
				s.On("CONNECT", n, testserver.Close())
			}
		},
	} {
		srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = content })
		arm(srv)
		var out, complaints bytes.Buffer
		args := []string{"-q", "-Z", fmt.Sprintf("%s/[0-%d]", srv.URL, files-1)}
		if code := run(t.Context(), args, stdio.Streams{In: strings.NewReader(""), Out: &out, Err: &complaints}); code != exit.OK {
			t.Errorf("%s: exit code %d, %s", name, code, complaints.String())
		}
		got := make(map[string]bool)
		for line := range strings.Lines(out.String()) {
			if !want[line] || got[line] {
				t.Errorf("%s: %.20q… is not a document, or comes twice", name, line)
			}
			got[line] = true
		}
		if len(got) != files {
			t.Errorf("%s: %d documents of %d", name, len(got), files)
		}
	}
}
