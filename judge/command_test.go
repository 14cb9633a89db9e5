//go:build unix

package judge

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
)

// judged runs a command in one case, whether or not it can do the plain one.
func judged(t *testing.T, name string, limit time.Duration, argv ...string) Result {
	t.Helper()
	return (&Judge{Client: Command(argv...), Limit: limit, Folder: t.TempDir()}).runCase(t.Context(), named(t, name))
}

// TestCommand runs shells that behave well and badly.
func TestCommand(t *testing.T) {
	const plain = "ftp/upload/stor/login"
	for _, tc := range []struct {
		name, on string
		argv     []string
		want     Verdict
		why      string
	}{
		{"exit code", plain, []string{"sh", "-c", "echo one >&2; echo last words >&2; exit 7"}, GaveUp, `exit 7: "last words"`},
		{"no such program", plain, []string{"/nowhere/at/all"}, GaveUp, "no such file"},
		{"signal", plain, []string{"sh", "-c", "kill -SEGV $$"}, Crashed, "segmentation fault"},
		{"broken pipe", plain, []string{"sh", "-c", "kill -PIPE $$"}, GaveUp, "signal: broken pipe"},
		{"signal of a child", plain, []string{"sh", "-c", "sh -c 'kill -ABRT $$'; exit $?"}, Crashed, "signal of a child: aborted"},
		{"panic of Go", plain, []string{"sh", "-c", "printf 'panic: oh\\n\\ngoroutine 1 [running]:\\n' >&2; exit 2"}, Crashed, "a panic of Go"},
		{"a word about panic", plain, []string{"sh", "-c", "echo do not panic: all is well >&2; exit 2"}, GaveUp, "exit 2"},
		{"login in the URL", plain, []string{"sh", "-c", `case $1 in ftp://lab:*@127.0.0.1:*/incoming/new.bin) exit 3;; esac`, "sh", "{url}"}, GaveUp, "exit 3"},
		{"login apart", plain, []string{"sh", "-c", `case $1:$2 in ftp://127.0.0.1:*/incoming/new.bin:lab) exit 3;; esac`, "sh", "{url}", "{user}"}, GaveUp, "exit 3"},
		{"file to send", plain, []string{"sh", "-c", `test -s "$1" && test -d "$2" && exit 3`, "sh", "{out}", "{dir}"}, GaveUp, "exit 3"},
		{"its folders", plain, []string{"sh", "-c", `test "$(pwd -P)" = "$(cd "$1" && pwd -P)" && touch "$HOME/x" "$TMPDIR/y" && exit 3`, "sh", "{dir}"}, GaveUp, "exit 3"},
		{"certificate", "https/download/plain", []string{"sh", "-c", `grep -q CERTIFICATE "$1" && exit 3`, "sh", "{ca}"}, GaveUp, "exit 3"},
		{"standard output", "ftp/list/login", []string{"printf", "one.txt\\n/pub/sub/\\ntwo.bin\\r\\n./third file.txt\\n"}, Right, "all is there"},
		{"names missing", "ftp/list/login", []string{"printf", "one.txt\\nsub\\n"}, Lied, "2 of 4 names are not in the list: \"third file.txt\", \"two.bin\""},
		{"no output", "http/download/plain", []string{"true"}, Lied, "the file is empty instead of having 1000 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if r := judged(t, tc.on, 0, tc.argv...); r.Verdict != tc.want || !strings.Contains(r.Why(), tc.why) {
				t.Errorf("%v: %s\n%s", r.Verdict, r.Why(), r.Stderr)
			}
		})
	}
}

// TestCommandThatHangs ends a program that does not end itself, with those that it has started.
func TestCommandThatHangs(t *testing.T) {
	if r := judged(t, "http/download/plain", 50*time.Millisecond, "sleep", "1000"); r.Verdict != Hung || !strings.Contains(r.Why(), "no end within 50ms") {
		t.Errorf("%v: %s", r.Verdict, r.Why())
	}
	fifo := t.TempDir() + "/fifo"
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	program := Command("sh", "-c", `(echo up; exec sleep 1000) > "$1" & wait`, "sh", fifo)
	j := &Judge{Folder: t.TempDir(), Client: func(ctx context.Context, c Case) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		ended := make(chan error)
		go func() { ended <- program(ctx, c) }()
		child, err := os.Open(fifo)
		if err != nil {
			return err
		}
		defer child.Close()
		if _, err := io.ReadFull(child, make([]byte, len("up\n"))); err != nil {
			return err
		}
		cancel()
		_, err = io.ReadAll(child) // it ends when no process has it open any more
		return errors.Join(err, <-ended)
	}}
	for r := range j.All(t.Context(), Select(Cases(), "http/download/plain")) {
		if r.Verdict != GaveUp || !strings.Contains(r.Why(), "canceled") {
			t.Errorf("%v: %s", r.Verdict, r.Why())
		}
	}
}

// TestProxyVariables checks that a program is not sent to a proxy.
func TestProxyVariables(t *testing.T) {
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	if r := judged(t, "http/download/plain", 0, "sh", "-c", `test -z "$http_proxy$HTTPS_PROXY" && exit 3`, "sh", "{url}"); !strings.HasPrefix(r.Why(), "exit 3") {
		t.Error(r.Why())
	}
}

// TestRelativeProgram runs a program of the current directory, which is not that of the client.
func TestRelativeProgram(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("client", []byte("#!/bin/sh\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if r := judged(t, "http/download/plain", 0, "./client", "{url}"); r.Claim != "exit 3" {
		t.Error(r.Claim)
	}
}

// TestTree accepts a tree at any depth of the folder, and no missing or wrong file.
func TestTree(t *testing.T) {
	const name = "ftp/tree/tree/empty"
	for script, want := range map[string]Verdict{
		"exit 0":           Right,
		"exit 1":           GaveUp,
		"touch ../outside": Lied,
	} {
		if r := judged(t, name, 0, "sh", "-c", script); r.Verdict != want {
			t.Errorf("%s: %v: %s", script, r.Verdict, r.Why())
		}
	}
	cases := Select(Cases(), "ftp/tree/plain")
	for _, missing := range []string{"", "first.txt", "second.bin", "sub/deeper/fourth.txt"} {
		for cut := range 2 {
			j := &Judge{Folder: t.TempDir(), Client: func(_ context.Context, c Case) error {
				for name, data := range testcase.TreeFiles(1000) {
					if name == missing {
						if data = data[cut:]; cut == 0 {
							continue
						}
					}
					file := filepath.Join(c.Dir, "127.0.0.1", "pub", name)
					if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, data, 0o600)); err != nil {
						return err
					}
				}
				return nil
			}}
			for r := range j.All(t.Context(), cases) {
				if right := missing == ""; (r.Verdict == Right) != right {
					t.Errorf("without %q: %v: %s", missing, r.Verdict, r.Why())
				}
			}
		}
	}
}

// TestLeft judges what programs leave in place of a file: it may have no end, or lead anywhere.
func TestLeft(t *testing.T) {
	for _, on := range []string{"ftp/download/plain", "ftp/list/plain", "ftp/tree/plain"} {
		for script, why := range map[string]string{
			`ln -s /dev/zero "$0"`:                     "in its folder",
			`ln -s /dev/stdin "$0"`:                    "in its folder",
			`truncate -s 200G "$0"`:                    ": 214748364800 bytes, far more",
			`mkfifo "$0"`:                              "not a regular file (p",
			`mkdir "$0"`:                               "not a regular file (d",
			`ln -s "$0" "$0"`:                          "in its folder",
			`echo x > "$HOME/x"; ln -s "$HOME/x" "$0"`: "in its folder",
		} {
			t.Run(on+" "+script, func(t *testing.T) {
				t.Parallel()
				argv := []string{"sh", "-c", `cd "$(dirname "$0")"; ` + script, "{out}"}
				if strings.Contains(on, "/tree/") {
					argv[3] = "{dir}/first.txt"
				}
				if r := judged(t, on, 0, argv...); r.Verdict != Lied || !strings.Contains(r.Why(), why) {
					t.Errorf("%v: %s", r.Verdict, r.Why())
				}
			})
		}
	}
	for script, want := range map[string]Verdict{
		`truncate -s 200G ../evil; exit 1`:           Lied,
		`mkfifo ../evil; exit 1`:                     Lied,
		`truncate -s 200G ../../../canary/bird`:      Lied,
		`mkfifo fifo; truncate -s 200G x; exit 1`:    GaveUp,
		`cat "$0" > other; ln -s other link; exit 1`: GaveUp,
	} {
		if r := judged(t, "ftp/tree/plain", 0, "sh", "-c", script, "{out}"); r.Verdict != want {
			t.Errorf("%s: %v: %s", script, r.Verdict, r.Why())
		}
	}
	if r := judged(t, "http/download/plain", 0, "sh", "-c", `printf 'one.txt' > other; ln -s other "$0"; exit 3`, "{out}"); r.Verdict != GaveUp {
		t.Errorf("%v: %s", r.Verdict, r.Why())
	}
}

// TestChildren ends what a program has started when the program ends, whatever that says.
func TestChildren(t *testing.T) {
	for _, exit := range []string{"0", "1"} {
		fifo := t.TempDir() + "/fifo"
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			child, err := os.Open(fifo)
			if err == nil {
				_, err = io.ReadAll(child) // it ends when no process has it open any more
				err = errors.Join(err, child.Close())
			}
			ended <- err
		}()
		r := judged(t, "http/upload/plain", 0, "sh", "-c", `(exec sleep 1000) > "$0" 2>&1 & exit "$1"`, fifo, exit)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if want := map[string]string{"0": "success, but", "1": "exit 1"}[exit]; !strings.HasPrefix(r.Why(), want) {
			t.Errorf("exit %s: %v: %s", exit, r.Verdict, r.Why())
		}
	}
	r := judged(t, "http/upload/plain", 0, "sh", "-c", `(exec sleep 1000) & exit 0`)
	if !strings.HasPrefix(r.Why(), "success, but") {
		t.Errorf("a child has the standard error open: %v: %s", r.Verdict, r.Why())
	}
}

// TestWithoutPlain tries the plain case if it is not among the cases: an error says nothing about a
// client that can do nothing.
func TestWithoutPlain(t *testing.T) {
	const download, upload = "http/download/body/cut/1000", "http/upload/redirect"
	for _, tc := range []struct {
		client Client
		want   []string
	}{
		{Command("false"), []string{"http/download/plain", "http/upload/plain"}},
		{get, []string{"http/upload/plain", download}},
	} {
		var got []string
		for r := range (&Judge{Client: tc.client, Folder: t.TempDir()}).All(t.Context(), Select(Cases(), download, upload)) {
			got = append(got, r.Case.Name)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// TestUnfit leaves the other cases out if the client cannot do the first one of a group.
func TestUnfit(t *testing.T) {
	n := 0
	for r := range (&Judge{Client: Command("false"), Folder: t.TempDir()}).All(t.Context(), Select(Cases(), "https/download", "http/upload")) {
		if n++; r.Verdict != GaveUp || !strings.HasSuffix(r.Case.Name, "/plain") {
			t.Errorf("%s: %v", r.Case.Name, r.Verdict)
		}
	}
	if n != 2 {
		t.Errorf("%d results", n)
	}
}
