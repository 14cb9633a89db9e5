package get

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// fetched runs the program without a verb.
func fetched(t *testing.T, args ...string) (code int, out, messages string) {
	t.Helper()
	var o, e bytes.Buffer
	verbs := Verbs{Names: []string{"mirror"}, Help: func(_ context.Context, args []string, std stdio.Streams) int {
		o.WriteString("help " + strings.Join(args, " "))
		return 0
	}}
	code = Run(t.Context(), args, stdio.Streams{In: strings.NewReader(""), Out: &o, Err: &e}, verbs)
	return code, o.String(), e.String()
}

// TestExitCode tests which of several URLs decides the exit code.
func TestExitCode(t *testing.T) {
	s := gophertest.New(t, func(s *gophertest.Server) { s.Content = fstest.MapFS{"a.txt": {Data: []byte("hello\n")}} })
	good, bad := s.URL+"/0/a.txt", "gopher://u@h/"
	for _, tc := range []struct {
		args []string
		code int
		out  string
	}{
		{[]string{good}, 0, "hello\r\n"},
		{[]string{bad, good}, 0, "hello\r\n"}, // in turn: that of the last URL
		{[]string{good, bad}, 3, "hello\r\n"},
		{[]string{"--fail-early", bad, good}, 3, ""},
		{[]string{"-Z", bad, good}, 3, "hello\r\n"}, // at once: that of the last failure
		{[]string{"--fail-early", bad, "--next", good}, 3, ""},
		{[]string{bad, "--next", good}, 0, "hello\r\n"},
	} {
		if code, out, messages := fetched(t, append([]string{"-s"}, tc.args...)...); code != tc.code || out != tc.out {
			t.Errorf("%q: %d %q %s, want %d %q", tc.args, code, out, messages, tc.code, tc.out)
		}
	}
}

// TestMisused tests that a mistake in the arguments is one line, and that nothing is fetched.
func TestMisused(t *testing.T) {
	for want, args := range map[string][]string{
		"--no-such":        {"--no-such", "http://h.invalid/"},
		"combined with -I": {"--warc", t.TempDir() + "/x.warc", "-I", "http://h.invalid/"},
	} {
		code, out, messages := fetched(t, args...)
		if code != 2 || out != "" || !strings.Contains(messages, want) {
			t.Errorf("%q: %d %q %q, want %q", args, code, out, messages, want)
		}
	}
	if code, out, _ := fetched(t, "--help", "ftp"); code != 0 || out != "help ftp" {
		t.Errorf("--help: %d %q", code, out)
	}
}
