package interop

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/judge"
)

// TestJudgeIsRight compares the verdicts of a case with what clients do at ProFTPD. A file that
// becomes shorter while ProFTPD sends it is the case of half of the data and 226: SIZE and the
// reply to RETR have stated the size from before.
func TestJudgeIsRight(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"curl", "wget", "lftp", "ncftpget", "python3", "ruby", "perl", "node"} {
		requireTool(t, program)
	}
	srv := startDaemon(t, "proftpd", "TransferRate RETR 60.0", "UseSendfile off")
	var lied []string
	for _, p := range commands(t) {
		if p.task != judge.Download || !slices.Contains(p.schemes, "ftp") || !slices.Contains([]string{
			"curl", "wget", "ncftp", "ncftp-stdout", "ftplib", "urlopen", "ruby-net-ftp", "perl-net-ftp", "basic-ftp", "lftp", "fetch1738",
		}, p.name) {
			continue
		}
		want, got := inCase(t, p), shrinking(t, srv, p)
		if got != (want.Verdict == judge.Lied) || want.Verdict > judge.GaveUp && want.Verdict != judge.Lied {
			t.Errorf("%s: the judge says %v (%s); at ProFTPD it lied: %v", p.name, want.Verdict, want.Why(), got)
		}
		if got {
			lied = append(lied, p.name)
		}
	}
	if slices.Contains(lied, "fetch1738") || len(lied) < 5 {
		t.Errorf("at ProFTPD lied: %q", lied)
	}
	t.Logf("at ProFTPD lied: %q", lied)
}

// attempts are how often a client is asked that gave up before the transfer, as one on a busy machine
// may: most have a limit of five seconds.
const attempts = 10

// inCase judges a client in the case.
func inCase(t *testing.T, p peer) (r judge.Result) {
	const name = "ftp/download/data/cut-226/70000"
	for range attempts {
		for r = range (&judge.Judge{Client: p.client, Folder: t.TempDir(), Limit: 10 * judge.Limit}).All(patience(t), judge.Select(judge.Cases(), name)) {
		}
		if r.Case.Name == name && r.Met {
			break
		}
	}
	return r
}

// shrinking has a client fetch a file that is cut to its first tenth as soon as some of it has
// come. It reports whether the client claims success.
func shrinking(t *testing.T, srv *vsftpd, p peer) bool {
	t.Helper()
	for range attempts {
		if success, cut := shrink(t, srv, p); cut {
			return success
		}
	}
	t.Fatalf("%s gets nothing", p.name)
	return false
}

// shrink does it once. If the client ends before anything has come, the file is not cut.
func shrink(t *testing.T, srv *vsftpd, p peer) (success, cut bool) {
	t.Helper()
	const size = 700_000 // at the rate of the server, it takes twelve seconds if it is not cut
	dir := t.TempDir()
	name := p.name + ".bin"
	file := filepath.Join(srv.root, "pub", name)
	writeFile(t, file, string(bytes.Repeat([]byte("a line of text\n"), size/15+1)[:size]))
	c := judge.Case{
		URL: "ftp://" + srv.addr + "/pub/" + name, Task: judge.Download, User: "anonymous", Password: "judge@example.com",
		Out: filepath.Join(dir, "in", "out"), Dir: filepath.Join(dir, "in"), Home: filepath.Join(dir, "home"),
	}
	for _, folder := range []string{"in", "home", "tmp"} {
		makeDir(t, filepath.Join(dir, folder), 0o700)
	}
	ended := make(chan error, 1)
	ctx := patience(t)
	go func() { ended <- p.client(ctx, c) }()
	for {
		select {
		case err := <-ended:
			if !cut {
				t.Logf("%s ended before a byte had come: %v", p.name, err)
			}
			data, _ := os.ReadFile(c.Out)
			return err == nil && len(data) < size, cut
		case <-time.After(5 * time.Millisecond):
		}
		if found, _ := filepath.Glob(filepath.Join(dir, "in", "*")); !cut && slices.ContainsFunc(found, hasOctets) {
			if err := os.Truncate(file, size/10); err != nil {
				t.Fatal(err)
			}
			cut = true
		}
	}
}

// hasOctets reports whether a file is there and not empty.
func hasOctets(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Size() > 0
}
