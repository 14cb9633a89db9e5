package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/testserver"
)

// A mirror that is killed, however, is gone on with by the next one: nothing that
// is whole is fetched again, and what was cut goes on where it ended.
func TestMirrorKilled(t *testing.T) {
	for signal, want := range map[syscall.Signal]int{syscall.SIGKILL: -1, syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		t.Run(signal.String(), func(t *testing.T) {
			big := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
			srv := testserver.NewFTP(t, func(s *testserver.FTP) {
				s.Content = fstest.MapFS{
					"a": {Data: []byte("a\n"), ModTime: time.Unix(1e9, 0)}, "big": {Data: big, ModTime: time.Unix(1e9, 0)}, "c": {Data: []byte("c\n")},
				}
			})
			srv.On("RETR big", 1, testserver.Drip(20_000, time.Hour))
			dir := t.TempDir()
			cmd := program(t, "mirror", "-v", "--connections", "1", srv.URL+"/", dir)
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(stderr)
			for lines.Scan() && lines.Text() != "> RETR big" {
			}
			waitForPart(t, dir)
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() {
				if strings.HasPrefix(lines.Text(), "fetch1738: (") {
					t.Errorf("it says %q", lines.Text())
				}
			}
			_ = cmd.Wait() // the code is what counts
			if got := cmd.ProcessState.ExitCode(); got != want {
				t.Errorf("exit code %d, want %d", got, want)
			}

			srv.ResetFaults()
			srv.ResetTranscript()
			out, err := program(t, "mirror", srv.URL+"/", dir).Output()
			if err != nil || !strings.HasPrefix(string(out), "2 new, 0 changed, 1 unchanged, 0 gone, 0 skipped, 0 failed;") {
				t.Errorf("%v, %s", err, out)
			}
			var asked []string
			for _, line := range srv.Transcript().From(testserver.FromClient) {
				if strings.HasPrefix(line, "RE") {
					asked = append(asked, strings.TrimRight(line, "0123456789"))
				}
			}
			if text := strings.Join(asked, " "); strings.Count(text, "REST ") != 1 || strings.Contains(text, "RETR a") {
				t.Errorf("asked: %s", text)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "big")); err != nil || !bytes.Equal(b, big) {
				t.Errorf("big has %d octets, %v", len(b), err)
			}
		})
	}
}

// waitForPart waits until something of a large file is there.
func waitForPart(t *testing.T, dir string) {
	t.Helper()
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	for {
		names, err := filepath.Glob(filepath.Join(dir, mirror.Folder, "*.part"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if info, err := os.Stat(name); err == nil && info.Size() > 10 {
				return
			}
		}
		<-ticks.C
	}
}

// A site that calls itself otherwise: why nothing came, and what to do, in a line.
func TestMirrorOtherName(t *testing.T) {
	srv := testserver.NewGopher(t, func(s *testserver.Gopher) {
		s.Host, s.Port = "notes.example", 70
		s.Content = fstest.MapFS{"one.txt": {Data: []byte("one\n")}, "two.txt": {Data: []byte("two\n")}, "sub/three.txt": {Data: []byte("three\n")}}
	})
	dir := t.TempDir()
	cmd := program(t, "mirror", srv.URL+"/", dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	want := "fetch1738: warning: " + srv.URL + "/: 3 items were skipped because they are on notes.example:70; " +
		"if that is another name of this server, use --alias notes.example:70\n"
	if err != nil || stderr.String() != want || !strings.HasPrefix(string(out), "1 new, 0 changed, 0 unchanged, 0 gone, 3 skipped,") {
		t.Errorf("%v\n%s%swant %s", err, out, &stderr, want)
	}
	cmd = program(t, "mirror", "--alias", "notes.example:70", srv.URL+"/", dir)
	stderr.Reset()
	cmd.Stderr = &stderr
	if out, err := cmd.Output(); err != nil || stderr.Len() > 0 || !strings.HasPrefix(string(out), "4 new, 0 changed, 1 unchanged, 0 gone, 0 skipped,") {
		t.Errorf("%v\n%s%s", err, out, &stderr)
	}
}

func TestMirrorLine(t *testing.T) {
	r := &mirrorReport{t: new(transfer)}
	r.count(mirror.Event{Action: mirror.Listed})
	if got := r.line(progress.Totals{}); got != "1 folders listed" {
		t.Error(got)
	}
	r.count(mirror.Event{Action: mirror.Planned, Files: 3})
	r.count(mirror.Event{Action: mirror.Added})
	r.t.account.moved.Store(3 << 20)
	if got := r.line(progress.Totals{}); got != "1 of 3 files, 3.0 MiB" {
		t.Error(got)
	}
}

// Every option is taken, or refused with a reason, and none twice.
func TestMirrorOptions(t *testing.T) {
	seen := make(map[string]bool)
	for _, o := range new(mirrorSettings).table() {
		for _, name := range []string{"--" + o.long, "-" + o.short} {
			if name != "-" && seen[name] {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
	}
	for _, o := range mirrorOptions() {
		if line := strings.TrimRight(helpLine(o), "\n"); len(line) > 80 || o.groups != "mirror" {
			t.Errorf("%q", line)
		}
	}
	for _, o := range options() {
		if !seen["--"+o.long] {
			t.Errorf("--%s is neither taken nor refused", o.long)
		}
	}
}

// What an option says about security holds for a mirror too, wherever it stands.
// Nothing that has to do with security may lack the mark.
func TestMirrorTakesGuards(t *testing.T) {
	// The words of the table itself find an option that somebody forgot to mark.
	about := regexp.MustCompile(`(?i)\b(TLS|certificate|authorit|cipher|trust|public key|password|login|netrc|proxy|proxies|permit|schemes only|redirects may)`)
	unguarded := " charset next verbose " // words that mean something else there
	of := func(table []option) map[string]uintptr {
		setters := make(map[string]uintptr)
		for _, o := range table {
			setters[o.long] = reflect.ValueOf(o.set).Pointer()
		}
		return setters
	}
	plain, ofMirror := of(options()), of(new(mirrorSettings).table())
	guards := 0
	for _, o := range options() {
		if about.MatchString(o.help) && !o.guards() && !strings.Contains(unguarded, " "+o.long+" ") {
			t.Errorf("--%s seems to be about security: %q; its groups are %q", o.long, o.help, o.groups)
		}
		if !o.guards() {
			continue
		}
		guards++
		if plain[o.long] != ofMirror[o.long] {
			t.Errorf("mirror passes over --%s", o.long)
		}
	}
	if guards < 50 {
		t.Errorf("only %d options are about security", guards)
	}
}

// Each of mirror's own options is used in a script.
func TestMirrorOptionsHaveScripts(t *testing.T) {
	var all strings.Builder
	for _, name := range []string{"mirror", "mirror_schemes"} {
		b, err := os.ReadFile("testdata/script/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	for _, o := range mirrorOptions() {
		if !strings.Contains(all.String(), " --"+o.long+" ") {
			t.Errorf("no script uses --%s", o.long)
		}
	}
}
