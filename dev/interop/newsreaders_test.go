package interop

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// newsstand starts a test server with some of the letters.
func newsstand(t *testing.T, configure func(*nntptest.Server)) *nntptest.Server {
	return nntptest.New(t, func(s *nntptest.Server) {
		s.Groups = map[string][]string{"local.test": nil, "local.empty": nil}
		s.Descriptions = map[string]string{"local.test": "Tests"}
		for _, l := range letters()[:12] {
			text := "Path: here!not-for-mail\r\nDate: Tue, 20 Dec 1994 17:38:00 +0000\r\n" + l.text()
			s.Groups["local.test"] = append(s.Groups["local.test"], text)
		}
		if configure != nil {
			configure(s)
		}
	})
}

func TestLynxNews(t *testing.T) {
	t.Parallel()
	lynx := requireTool(t, "lynx")
	for name, configure := range map[string]func(*nntptest.Server){
		"new": nil, "RFC 977": func(s *nntptest.Server) { s.RFC977 = true }, "reader mode": func(s *nntptest.Server) { s.Reader = true },
	} {
		t.Run(name, func(t *testing.T) {
			srv := newsstand(t, configure)
			for _, tt := range []struct {
				path string
				want []string
			}{
				{"/local.test", []string{"Articles 1-12", `"plain" - Lab <lab@lab.example>`, `"attachment"`}},
				{"/local.test/1", []string{"plain", "Newsgroups:", "hello\n", "world\n"}},
				{"/local.test/2", []string{"\n.\n..\n...\n.dot\nno dot.\n.\nend\n"}},
			} {
				out, code := runTool(t, lynx, "-nopause", "-connect_timeout=10", "-dump", srv.URL+tt.path)
				for _, want := range tt.want {
					if !strings.Contains(out, want) || code != 0 {
						t.Errorf("%s: exit %d, %q is missing in\n%s\n%s", tt.path, code, want, out, srv.Transcript())
					}
				}
			}
		})
	}
}

// TestSlrn reads and posts with a newsreader on a pseudo-terminal.
func TestSlrn(t *testing.T) {
	t.Parallel()
	slrn := requireTool(t, "slrn")
	for _, tt := range []struct {
		name      string
		configure func(*nntptest.Server)
		sent      string // the command by which it finds the articles
	}{
		{"new", nil, "XOVER 1-12"},
		{"RFC 977", func(s *nntptest.Server) { s.RFC977 = true }, "HEAD 12"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := newsstand(t, tt.configure)
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "draft"), "From: Lab <lab@lab.example>\nNewsgroups: local.test\nSubject: from slrn\n\n.dot\n.\nlast\n")
			writeFile(t, filepath.Join(dir, "newsrc"), "local.test:\n")
			writeFile(t, filepath.Join(dir, "slrnrc"), fmt.Sprintf("set hostname \"example.test\"\nset username \"lab\"\nset editor_command \"cp %s/draft %%s\"\n", dir))
			host, port, _ := strings.Cut(srv.Addr, ":")
			converse(t, dir, []string{slrn, "-h", host, "-p", port, "-f", filepath.Join(dir, "newsrc"), "-i", filepath.Join(dir, "slrnrc")},
				exchange{"12  local.test", "\r"},
				exchange{"attachment", "\r"},
				exchange{"see file", "P"},
				exchange{"want to post?", "y"},
				exchange{"Newsgroup:", "\r"},
				exchange{"Subject:", "from slrn\r"},
				exchange{"Post", "y"},
				exchange{"done.", "q"},
				exchange{"News Groups", "q"},
				exchange{"want to quit", "y"},
			)
			if srv.Posted() == nil || !strings.HasSuffix(srv.Posted()[0], "\r\n\r\n.dot\r\n.\r\nlast\r\n") || !strings.Contains(srv.Posted()[0], "Subject: from slrn\r\n") {
				t.Errorf("posted was %q\n%s", srv.Posted(), srv.Transcript())
			}
			sent(t, srv, "GROUP local.test", tt.sent, "ARTICLE 7", "POST", "QUIT")
		})
	}
}

// An exchange waits for a text on the screen and then types.
type exchange struct{ expect, send string }

// converse runs a program on a terminal of script(1).
func converse(t *testing.T, home string, program []string, dialogue ...exchange) {
	t.Helper()
	script := requireTool(t, "script")
	cmd := exec.CommandContext(patience(t), script, "-qec", strings.Join(program, " "), "/dev/null")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TERM=vt100", "LANG=C.UTF-8", "TZ=UTC", "LINES=24", "COLUMNS=80"}
	in, out := startPiped(t, cmd)
	defer cmd.Wait()
	defer in.Close()
	var screen bytes.Buffer
	buf := make([]byte, 4096)
	for _, d := range dialogue {
		for !strings.Contains(screen.String(), d.expect) || screen.Len() == 0 {
			n, err := out.Read(buf)
			screen.Write(buf[:n])
			if err != nil {
				t.Fatalf("%s ended (%v) before it said %q: %q", program[0], err, d.expect, screen.String())
			}
		}
		screen.Reset()
		if _, err := io.WriteString(in, d.send); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = io.Copy(io.Discard, out)
}

// TestSlrnScores has a newsreader request new groups, and a header field that overviews lack. By
// that field an article is scored, and not shown.
func TestSlrnScores(t *testing.T) {
	t.Parallel()
	slrn := requireTool(t, "slrn")
	srv := newsstand(t, nil)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "newsrc"), "local.test:\nlocal.empty:\n")
	writeFile(t, filepath.Join(dir, "newsrc.time"), "NEWGROUPS 941220 000000 GMT\n")
	writeFile(t, filepath.Join(dir, "score"), "[*]\nScore: =-9999\n  Content-Type: multipart/.*\n")
	writeFile(t, filepath.Join(dir, "slrnrc"), fmt.Sprintf("set hostname \"example.test\"\nset username \"lab\"\nset scorefile \"%s/score\"\n", dir))
	host, port, _ := strings.Cut(srv.Addr, ":")
	converse(t, dir, []string{slrn, "-h", host, "-p", port, "-f", filepath.Join(dir, "newsrc"), "-i", filepath.Join(dir, "slrnrc")},
		exchange{"12  local.test", "\r"},
		exchange{"plain", "q"},
		exchange{"News Groups", "q"},
		exchange{"want to quit", "y"},
	)
	sent(t, srv, "NEWGROUPS 941220 000000 GMT", "XOVER 1-12", "XHDR Content-Type 1-12", "QUIT")
	if !srv.Transcript().Has(testserver.FromServer, `7 multipart/mixed; boundary="b"`) {
		t.Errorf("%s", srv.Transcript())
	}
}

// TestPythonNews has a third-party library request what is new, and header fields.
func TestPythonNews(t *testing.T) {
	t.Parallel()
	python := requireTool(t, "/usr/bin/python3")
	if _, code := runTool(t, python, "-W", "ignore", "-c", "import nntplib"); code != 0 {
		t.Skip("this Python has no nntplib, which Python 3.13 removed")
	}
	srv := newsstand(t, nil)
	host, port, _ := strings.Cut(srv.Addr, ":")
	out, code := runTool(t, python, "-W", "ignore", "-c", `
import datetime, nntplib, sys
s = nntplib.NNTP(sys.argv[1], int(sys.argv[2]))
s.group("local.test")
print(s.xhdr("subject", "1-2")[1])
print(s.xhdr("subject", "<dots@lab.example>")[1])
print(len(s.newnews("local.*", datetime.datetime(1994, 12, 19))[1]), s.newnews("local.*", datetime.datetime(1994, 12, 22))[1])
print(sorted(g.group for g in s.newgroups(datetime.datetime(1994, 12, 19))[1]))
s.quit()
`, host, port)
	if want := "[('1', 'plain'), ('2', 'dots')]\n['<dots@lab.example> dots']\n12 []\n['local.empty', 'local.test']\n"; out != want || code != 0 {
		t.Errorf("exit %d, %s\n%s", code, out, srv.Transcript())
	}
}
