package interop

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// A multiplexer is a terminal of tmux, with a shell.
type multiplexer struct {
	t      *testing.T
	tmux   string
	socket string
}

// startMultiplexer starts a terminal of a size.
func startMultiplexer(t *testing.T, columns, rows int, env ...string) *multiplexer {
	t.Helper()
	s := &multiplexer{t: t, tmux: requireTool(t, "tmux"), socket: filepath.Join(t.TempDir(), "tmux")}
	cmd := exec.Command(s.tmux, "-S", s.socket, "-f", os.DevNull, "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows), "env", "-i")
	cmd.Args = append(cmd.Args, append(env, "PATH="+os.Getenv("PATH"), "HOME="+t.TempDir(), "LC_ALL=C.UTF-8", "PS1=shell: ", "/bin/sh")...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TMUX=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command(s.tmux, "-S", s.socket, "kill-server").Run() })
	return s
}

// keys types keys, by the names of tmux.
func (s *multiplexer) keys(keys ...string) {
	s.t.Helper()
	if out, err := exec.Command(s.tmux, append([]string{"-S", s.socket, "send-keys"}, keys...)...).CombinedOutput(); err != nil {
		s.t.Fatalf("tmux: %v: %s", err, out)
	}
}

// shows waits until the screen ends with lines, and returns all of it. Empty lines below do not count.
func (s *multiplexer) shows(lines ...string) string {
	s.t.Helper()
	want := strings.Join(lines, "\n")
	for ctx := patience(s.t); ; time.Sleep(20 * time.Millisecond) {
		out, err := exec.Command(s.tmux, "-S", s.socket, "capture-pane", "-p").CombinedOutput()
		text := strings.TrimRight(string(out), " \n")
		if err != nil || ctx.Err() != nil {
			s.t.Fatalf("the screen does not end with %q, %v:\n%s", want, err, text)
		}
		if strings.HasSuffix("\n"+text, "\n"+want) {
			return text
		}
	}
}

// TestBrowse is a person at a terminal: pages by the height of the screen, completion, a history,
// Control-C that ends a transfer and not the session, a program that gets a document, and names that
// would take over the terminal.
func TestBrowse(t *testing.T) {
	t.Parallel()
	program := buildCommand(t)
	var long strings.Builder
	for i := range 30 {
		fmt.Fprintf(&long, "line %d\n", i+1)
	}
	srv := gophertest.New(t, func(s *gophertest.Server) {
		s.Content = fstest.MapFS{
			"gophermap":       {Data: []byte("0Long text\t/long.txt\n0Evil\x1b[2J\x1b]0;title\a\t/note.txt\n1Empty\t/empty\n0Slow\t/slow.txt\n")},
			"long.txt":        {Data: []byte(long.String())},
			"note.txt":        {Data: []byte("a note\n")},
			"slow.txt":        {Data: []byte("slow\n")},
			"empty/gophermap": {},
		}
	})
	srv.On("TEXT", 2, testserver.Silence())
	at := strings.TrimPrefix(srv.URL, "gopher://")
	prompt := func(path string) string {
		url := "gopher://" + at + path
		if len(url) > 26 {
			url = "…" + url[len(url)-25:]
		}
		return url
	}
	root := []string{"   1 text   Long text", "   2 text   Evil␛[2J␛]0;title␇", "   3 menu   Empty", "   4 text   Slow"}
	s := startMultiplexer(t, 80, 12, "TERM=screen")
	s.shows("shell:")
	s.keys(program+" browse -q "+srv.URL+"; echo code $?", "Enter")
	s.shows(append(root, prompt("")+" >")...)

	// Completion, and a page that is longer than the screen.
	s.keys("Lo", "Tab")
	s.shows(prompt("") + " > Long text")
	s.keys("Enter")
	s.shows("line 10", prompt("/0/long.txt")+" (Enter: 20 more) >")
	s.keys("Enter")
	s.shows("line 21", prompt("/0/long.txt")+" (Enter: 9 more) >")
	s.keys("Enter")
	s.shows("line 30", prompt("/0/long.txt")+" >")
	s.keys("/line 3", "Enter")
	s.shows("line 3", "line 30", prompt("/0/long.txt")+" >")
	s.keys("b", "Enter")
	s.shows(append(root, prompt("")+" >")...)

	// Control-C at the prompt discards the line; in a transfer, it ends that. The history has both.
	s.keys("nonsense", "C-c")
	s.shows(prompt("")+" >", prompt("")+" >")
	s.keys("4", "Enter")
	for len(srv.Transcript()) == 0 || !strings.Contains(fmt.Sprint(srv.Transcript()), "/slow.txt") {
		time.Sleep(10 * time.Millisecond)
	}
	s.keys("C-c")
	s.shows("fetch1738: interrupted", prompt("")+" >")
	s.keys("Up")
	s.shows(prompt("") + " > 4")
	s.keys("Up")
	s.shows(prompt("") + " > b")
	s.keys("C-c", "2", "Enter")
	s.shows("a note", prompt("/0/note.txt")+" >")
	s.keys("open with cat", "Enter")
	s.shows("a note", prompt("/0/note.txt")+" >")
	s.keys("b", "Enter", "3", "Enter")
	s.shows("gopher://"+at+"/1/empty: menu, 0 items", prompt("/1/empty")+" >")

	// Control-D ends the session, and the terminal is as it was.
	s.keys("C-d")
	s.shows(prompt("/1/empty")+" >", "code 0", "shell:")
	s.keys("stty -a | tr ' ;' '\\n' | grep -x -e echo -e icanon", "Enter")
	s.shows("icanon", "echo", "shell:")

	// A terminal that cannot move its cursor.
	s.keys("clear; TERM=dumb "+program+" browse -q "+srv.URL+"/0/note.txt; echo code $?", "Enter")
	s.shows("a note", prompt("/0/note.txt")+" >")
	s.keys("quit", "Enter")
	s.shows("code 0", "shell:")
}
