//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// inShell returns a command of sh in which "$@" is the program with args.
func inShell(t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	inner := program(t, args...)
	dir := t.TempDir()
	named := filepath.Join(dir, "fetch1738") // see testscript.Main
	if err := os.Symlink(inner.Path, named); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), installed(t, "sh"), append([]string{"-c", script, "sh", named}, args...)...)
	cmd.Env, cmd.Dir = inner.Env, dir
	return cmd
}

// outputs are the ways of writing to standard output. FTP, HTTP, GOPHER and NNTP are URLs, whose
// documents are not empty.
var outputs = map[string]string{
	"ftp": "FTP/pub/one.txt", "http": "HTTP/pub/one.txt", "gopher": "GOPHER/0/pub/one.txt", "nntp": "NNTP/local.test", "file": "file://FILE",
	"-o -": "-o - FTP/pub/one.txt", "silent": "-sS FTP/pub/one.txt", "range": "-r 0-1 FTP/pub/one.txt",
	"large": "FTP/big.bin", "large by http": "HTTP/big.bin", "segments": "--segments 4 FTP/big.bin",
	"two": "FTP/pub/one.txt FTP/pub/one.txt", "two, the second to a file": "-o - FTP/pub/one.txt -o file FTP/pub/one.txt",
	"--next": "FTP/pub/one.txt --next -o file FTP/pub/one.txt", "wildcard": "FTP/pub/*.txt", "glob": "FTP/pub/{one,two}.txt",
	"-Z": "-Z FTP/pub/one.txt FTP/pub/one.txt", "-Z, large": "-Z FTP/big.bin FTP/big.bin HTTP/big.bin",
	"-Z, wildcard": "-Z FTP/pub/*.txt", "-Z -w": "-Z -w %{url} -o file FTP/pub/one.txt",
	"-w": "-w %{url} -o file FTP/pub/one.txt", "-w, after stderr": "-w %{stderr}a%{stdout}b -o file FTP/pub/one.txt",
	"--trace": "--trace - -o file FTP/pub/one.txt", "--trace-ascii": "--trace-ascii - -o file FTP/pub/one.txt",
	"-D": "-D - -o file HTTP/pub/one.txt", "-D, ftp": "-D - -o file FTP/pub/one.txt", "--etag-save": "--etag-save - -o file HTTP/pub/one.txt",
	"-i": "-i HTTP/pub/one.txt", "-I": "-I HTTP/pub/one.txt", "-I, ftp": "-I FTP/pub/one.txt", "listing": "FTP/pub/",
	"--json": "--json FTP/pub/", "--list": "--list FTP/pub/", "-l": "-l FTP/pub/", "menu": "GOPHER/", "upload by http": "-i -T FILE HTTP/new",
	"--stderr -": "-v --stderr - -o file FTP/pub/one.txt", "mailto": "mailto:a@b.example",
	"parse": "parse FTP/", "parse --json": "parse --json FTP/", "explain": "explain FTP/", "explain --json": "explain --json FTP/",
	"extract": "extract FILE", "extract --json": "extract --json FILE", "archie": "archie --archie-server ARCHIE --search exact one.txt",
	"completion": "completion bash", "manual": "manual", "demo": "demo", "serve": "serve --ftp 127.0.0.1:0",
	"gateway": "gateway --port 0", "mirror": "mirror FTP/pub/ copy", "mirror --trace": "mirror --trace - FTP/pub/ copy",
	"help": "help", "--help": "--help", "--version": "--version", "help of a verb": "parse --help", "help of mirror": "mirror --help",
	"version of mirror": "mirror --version",
}

// TestOutputLost tests that an output that cannot be written is exit code 23 and one message, in all
// the ways of writing one.
func TestOutputLost(t *testing.T) {
	t.Parallel()
	content := testContent()
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = content })
	http := webtest.New(t, func(s *webtest.Server) { s.Content = content })
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = content })
	nntp := nntptest.New(t, func(s *nntptest.Server) { s.Groups = testNews() })
	archie := prosperotest.New(t, func(s *prosperotest.Server) { s.Content, s.Site = content, "lab.example" })
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("see ftp://host/a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	urls := strings.NewReplacer("FTP", ftp.URL, "HTTP", http.URL, "GOPHER", gopher.URL, "NNTP", nntp.URL, "FILE", file,
		"ARCHIE", strings.TrimPrefix(archie.URL, "prospero://"))
	for name, line := range outputs {
		for lost, script := range map[string]string{"full": `"$@" >/dev/full`, "read only": `"$@" 1</dev/null`} {
			t.Run(name+"/"+lost, func(t *testing.T) {
				if _, err := os.Stat("/dev/full"); lost == "full" && err != nil {
					t.Skip("this system has no /dev/full")
				}
				cmd := inShell(t, script, strings.Fields(urls.Replace(line))...)
				var messages bytes.Buffer
				cmd.Stderr = &messages
				_ = cmd.Run() // the code is what counts
				if code := cmd.ProcessState.ExitCode(); code != 23 {
					t.Errorf("exit code %d", code)
				}
				said := messages.String()
				if !strings.Contains(line, "--stderr") && (!strings.Contains(said, "fetch1738: (23) ") || strings.Count(said, "(23)") != 1) {
					t.Errorf("the messages are %q", said)
				}
			})
		}
	}
}

// TestMirrorWithoutOutput tests that the copy of a mirror is complete if its report is lost.
func TestMirrorWithoutOutput(t *testing.T) {
	t.Parallel()
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = testContent() })
	for line, want := range map[string]int{"mirror URL/pub/ copy": 23, "mirror -s URL/pub/ copy": 0} {
		cmd := inShell(t, `"$@" 1</dev/null`, strings.Fields(strings.ReplaceAll(line, "URL", srv.URL))...)
		_ = cmd.Run() // the code is what counts
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("%s: %d", line, code)
		}
		if b, err := os.ReadFile(filepath.Join(cmd.Dir, "copy/one.txt")); string(b) != "one\n" {
			t.Errorf("%s: %q, %v", line, b, err)
		}
	}
}

// TestOutputKept tests outputs that are not lost, because nothing is written to them.
func TestOutputKept(t *testing.T) {
	t.Parallel()
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = testContent() })
	for script, line := range map[string]string{`"$@" >/dev/full`: "-o file URL/hello.txt", `"$@" 2>&-`: "-o file -v URL/hello.txt", `"$@" <&-`: "-o file URL/hello.txt"} {
		cmd := inShell(t, script, strings.Fields(strings.ReplaceAll(line, "URL", srv.URL))...)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s, %s: %v: %s", script, line, err, said)
		}
		if b, err := os.ReadFile(filepath.Join(cmd.Dir, "file")); string(b) != "hello, world\n" {
			t.Errorf("%s, %s: %q, %v", script, line, b, err)
		}
	}
}

// TestOutputDiscarded tests that /dev/null is an output, however it was opened. Shells open it for
// writing, Python and Node.js for reading and writing, for all streams or for some. A closed output
// is the same, because the runtime opens /dev/null in its place.
func TestOutputDiscarded(t *testing.T) {
	t.Parallel()
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = testContent() })
	var scripts []string
	for _, in := range []string{"", " <&-", " </dev/null", " 0<>/dev/null"} {
		for _, out := range []string{" >/dev/null", " 1<>/dev/null", " >&-", " 1<&0"} {
			for _, messages := range []string{"", " 2>&-", " 2>/dev/null", " 2<>/dev/null", " 2>&1"} {
				if out == " 1<&0" && in != " 0<>/dev/null" || out == " >&-" && messages == " 2>&1" {
					continue // not an output, or a redirection that the shell refuses
				}
				scripts = append(scripts, `"$@"`+in+out+messages)
			}
		}
	}
	for _, script := range scripts {
		cmd := inShell(t, script, srv.URL+"/hello.txt")
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", script, err, said)
		}
	}
	for _, line := range []string{
		"--version", "--help", "-v URL/hello.txt", "-Z URL/hello.txt URL/pub/one.txt", "URL/pub/*.txt", "--json URL/pub/", "-I URL/hello.txt", "-o - URL/hello.txt",
		"-o file -w %{url} URL/hello.txt", "-o file --trace - URL/hello.txt", "-o file --stderr - -v URL/hello.txt", "--segments 4 URL/big.bin", "-T file URL/new",
		"parse URL/", "explain URL/", "extract file", "manual", "completion bash", "mirror URL/pub/ copy",
	} {
		cmd := inShell(t, `"$@" 1<>/dev/null`, strings.Fields(strings.ReplaceAll(line, "URL", srv.URL))...)
		if err := os.WriteFile(filepath.Join(cmd.Dir, "file"), []byte("see ftp://host/a\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", line, err, said)
		}
	}
}

// TestLostOutputEndsTheRun tests that there are no more transfers after the first one that cannot
// write standard output.
func TestLostOutputEndsTheRun(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = testContent() })
	for _, line := range []string{
		"-o - URL/pub/one.txt -o file URL/pub/two.txt", "URL/pub/one.txt --next -o file URL/pub/two.txt",
		"-Z --parallel-max 1 -o - URL/pub/one.txt -o file URL/pub/two.txt", "--retry 3 -o - URL/pub/one.txt -o file URL/pub/two.txt",
		"-o a -w %{url} URL/pub/one.txt -o file URL/pub/two.txt", "-Z --parallel-max 1 -o a -w %{url} URL/pub/one.txt -o file URL/pub/two.txt",
		"-o a --trace /dev/full URL/pub/one.txt -o file URL/pub/two.txt",
	} {
		cmd := inShell(t, `"$@" >/dev/full`, strings.Fields(strings.ReplaceAll(line, "URL", srv.URL))...)
		said, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != 23 || strings.Count(string(said), "(23)") != 1 {
			t.Errorf("%s: %d, %v: %s", line, code, err, said)
		}
		if got := srv.Transcript().String(); strings.Contains(got, "two.txt") || !strings.Contains(got, "one.txt") {
			t.Errorf("%s: %s", line, got)
		}
		srv.ResetTranscript()
	}
}
