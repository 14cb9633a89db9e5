package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/get"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/play"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/verbtest"
)

// start runs the verb until the test ends.
func start(t *testing.T, servers int, args ...string) *verbtest.Running {
	t.Helper()
	s := verbtest.Start(t, Command(), strings.NewReader(""), servers, args...)
	if len(s.Lines) < servers {
		t.Fatalf("serve %q shows %q and complains: %s", args, s.Lines, s.Log.String())
	}
	return s
}

// controlOf returns what the first line of "serve --control" says.
func controlOf(t *testing.T, s *verbtest.Running) (first struct{ Control, Token string }) {
	t.Helper()
	if err := json.Unmarshal([]byte(strings.Join(s.Lines, "")), &first); err != nil {
		t.Fatalf("%q: %v", s.Lines, err)
	}
	return first
}

func TestServeAll(t *testing.T) {
	s := start(t, len(play.Servers()))
	for i, scheme := range []string{"ftp", "gopher", "http", "nntp", "wais", "prospero"} {
		u, err := url.Parse(s.Lines[i])
		if err != nil || u.Scheme != scheme || u.Hostname() != "127.0.0.1" || u.Path != "/" {
			t.Errorf("%q is not the URL of an %s server: %v", s.Lines[i], scheme, err)
		}
	}
	if got := verbtest.Converse(t, s.Lines[0], "USER anonymous\r\nPASS me@\r\nQUIT\r\n"); !strings.Contains(got, "\n230") {
		t.Errorf("FTP: %q", got)
	}
	if got := verbtest.Converse(t, s.Lines[1], "\r\n"); !strings.Contains(got, "README.txt\t") {
		t.Errorf("gopher: %q", got)
	}
	if got := verbtest.Converse(t, s.Lines[1], "\t$\r\n"); !strings.HasPrefix(got, "+-1\r\n+INFO: 0README.txt\t") {
		t.Errorf("gopher, as the UMN client asks: %q", got)
	}
	if got := verbtest.Converse(t, s.Lines[1], "/pub/dots.txt\r\n"); !strings.Contains(got, "\n..") {
		t.Errorf("gopher, a text with dots: %q", got)
	}
	if got := verbtest.Converse(t, s.Lines[3], "GROUP pub.rfc\r\nHEAD 1\r\nQUIT\r\n"); !strings.Contains(got, "\nSubject: examples.txt\r\n") {
		t.Errorf("NNTP: %q", got)
	}
	res, err := http.Get(s.Lines[2] + "pub/octets.bin")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || len(body) != 1738 {
		t.Errorf("HTTP: %d octets, %v", len(body), err)
	}
	http.DefaultClient.CloseIdleConnections()
	if code := s.Stop(); code != 0 {
		t.Errorf("code %d: %s", code, s.Log.String())
	}
	if _, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.Lines[1], "gopher://"), "/")); err == nil {
		t.Error("it still listens")
	}
	if got := s.Log.String(); got != "fetch1738: serving until interrupted\n" {
		t.Errorf("on standard error: %q", got)
	}
}

func TestServeFolder(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	for name, text := range map[string]string{filepath.Join(dir, "mine.txt"): "mine\n", outside: "secret\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link.txt")); err != nil {
		t.Logf("no symbolic links here: %v", err)
	}
	s := start(t, 1, "--gopher", "127.0.0.1:0", "--root", dir)
	if got := verbtest.Converse(t, s.Lines[0], "/mine.txt\r\n"); got != "mine\r\n.\r\n" {
		t.Errorf("%q", got)
	}
	if got := verbtest.Converse(t, s.Lines[0], "/link.txt\r\n"); strings.Contains(got, "secret") {
		t.Errorf("a link leads out of the folder: %q", got)
	}
}

// sampleScript is the one that the documentation quotes.
const sampleScript = "../../../../testserver/control/testdata/site.txtar"

func TestServeScript(t *testing.T) {
	s := start(t, 2, "-v", "--script", sampleScript)
	for i, scheme := range []string{"ftp", "http"} {
		if u, err := url.Parse(s.Lines[i]); err != nil || u.Scheme != scheme || u.Path != "/" {
			t.Errorf("%q is not the URL of an %s server: %v", s.Lines[i], scheme, err)
		}
	}
	if got := verbtest.Converse(t, s.Lines[1], "GET /pub/motd.txt HTTP/1.0\r\n\r\n"); !strings.HasSuffix(got, "\r\n\r\nhello, world\n") {
		t.Errorf("%q", got)
	}
	login := strings.TrimPrefix(s.Lines[0], "ftp://")
	for _, want := range []string{"18 on", "0 only for the user lab\n"} { // the fault acts once
		var out, messages bytes.Buffer
		code := get.Run(t.Context(), []string{"-q", "ftp://lab:secret@" + login + "notes.txt"}, stdio.Streams{In: strings.NewReader(""), Out: &out, Err: &messages}, get.Verbs{})
		if got := fmt.Sprintf("%d %s", code, out.String()); got != want {
			t.Errorf("%q, want %q; %s", got, want, messages.String())
		}
	}
	if code := s.Stop(); code != 0 {
		t.Errorf("code %d: %s", code, s.Log.String())
	}
	if got := s.Log.String(); !strings.Contains(got, "ftp-1 1 C: USER lab\n") || strings.Contains(got, "secret") {
		t.Errorf("on standard error: %q", got)
	}
}

// With --control, the servers of scripts are in the list when the first line is printed.
func TestServeScriptAndControl(t *testing.T) {
	s := start(t, 1, "--control", "0", "--script", sampleScript, "--script", sampleScript)
	first := controlOf(t, s)
	r, err := http.NewRequestWithContext(t.Context(), "GET", first.Control+"/v1/servers", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+first.Token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer res.Body.Close()
	var list struct{ Servers []struct{ ID string } }
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil || len(list.Servers) != 4 || list.Servers[3].ID != "http-4" {
		t.Errorf("%+v, %v", list, err)
	}
}

// A session that failed fails in the same way again: the client of a replay ends with the same code,
// and shows the same conversation. A client that differs is reported, without its password.
func TestServeRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "record")
	get := func(s *verbtest.Running, password string) string {
		var out, messages bytes.Buffer
		u := strings.Replace(s.Lines[0], "//", "//guest:"+password+"@", 1) + "pub/motd.txt"
		code := get.Run(t.Context(), []string{"-v", "-o", "-", u}, stdio.Streams{In: strings.NewReader(""), Out: &out, Err: &messages}, get.Verbs{})
		return fmt.Sprintf("%d %q\n%s", code, out.String(), messages.String())
	}
	for range 20 {
		s := start(t, 2, "--script", sampleScript, "--record", file)
		want := []string{get(s, "x"), get(s, "x"), get(s, "x")}
		if code := s.Stop(); code != 0 || !strings.HasPrefix(want[0], "18 \"he\"\n") || !strings.HasPrefix(want[1], "0 \"hello, world\\n\"\n") {
			t.Fatalf("code %d: %q", code, want)
		}
		again := verbtest.Start(t, Command(), strings.NewReader(""), 2, "--replay", file)
		if len(again.Lines) == 0 && strings.Contains(again.Log.String(), "address already in use") {
			continue // another program has taken one of the ports
		}
		got := []string{get(again, "x"), get(again, "x"), get(again, "s3cret")}
		for i := range 2 {
			if got[i] != want[i] {
				t.Errorf("the client shows\n%s\nand with the replay\n%s", want[i], got[i])
			}
		}
		log := again.Log.String()
		if !strings.HasPrefix(got[2], "0 \"hello, world\\n\"\n") || !strings.Contains(log, `: byte 18 of the client is in "PASS ****"; recorded: "PASS ****"`+"\n") || strings.Contains(log, "s3cret") {
			t.Errorf("the client shows\n%s\nand the replay\n%s", got[2], log)
		}
		return
	}
	t.Fatal("one of the ports was taken each time")
}

// TestServeReplayPrints tests that nothing of a record is executed by a terminal, and that each
// line on standard output is one URL.
func TestServeReplayPrints(t *testing.T) {
	for _, event := range []string{
		`"url":"ftp\u001b]0;x\u0007://127.0.0.1:1","addr":"127.0.0.1:0"`, `"url":"ftp://127.0.0.1:1/\u001b[31m","addr":"127.0.0.1:0"`,
		`"url":"ftp://127.0.0.1:1/\nftp://evil.example","addr":"127.0.0.1:0"`, `"url":"ftp://127.0.0.1:1/\u009b31m","addr":"127.0.0.1:0"`,
		`"url":"ftp://127.0.0.1:1/\u202egpj","addr":"127.0.0.1:0"`, `"url":"ftp","addr":"127.0.0.1:0"`, `"addr":"127.0.0.1:0"`,
		`"url":"ftp://127.0.0.1:1","addr":"\u001b[31m"`, `"url":"ftp://127.0.0.1:1","addr":"127.0.0.1:\u001b[31m"`,
	} {
		file := filepath.Join(t.TempDir(), "record")
		if err := os.WriteFile(file, []byte(`{"t":"0s","event":"listen",`+event+"}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		got := verbtest.Run(t, Command(), "", "--replay", file)
		if got.Code != 2 || got.Out != "" || strings.ContainsFunc(got.Err, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			t.Errorf("%s: %+v", event, got)
		}
		verbtest.OneLine(t, got.Err)
	}
}

func TestServeVerbose(t *testing.T) {
	s := start(t, 2, "-v", "--ftp", "0", "--http", "localhost:0")
	verbtest.Converse(t, s.Lines[0], "USER lab\r\nPASS s3cretword\r\npass s3cretword\r\nPASS s3cret\x01word\r\nQUIT\r\n")
	verbtest.Converse(t, s.Lines[1], "GET / HTTP/1.1\r\nHost: h\r\nauthorization: Basic czNjcmV0d29yZA==\r\nConnection: close\r\n\r\n")
	s.Stop()
	log := s.Log.String()
	for _, want := range []string{"ftp 1 C: USER lab\n", "ftp 1 C: PASS ****\n", "http 1 C: GET / HTTP/1.1\n", "authorization: ****\n"} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is missing in:\n%s", want, log)
		}
	}
	for _, secret := range []string{"s3cret", "czNjcmV0"} {
		if strings.Contains(log, secret) {
			t.Errorf("%q is shown:\n%s", secret, log)
		}
	}
}

func TestServeRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--ftp", "0.0.0.0:0"}, 2, `--ftp "0.0.0.0:0" is reachable from other hosts; use --public to allow that`},
		{[]string{"--http", ":0"}, 2, "use --public to allow that"},
		{[]string{"--gopher", "[::]:7070"}, 2, "use --public to allow that"},
		{[]string{"--gopher", "host.example:7070"}, 2, "use --public to allow that"},
		{[]string{"--gopher", "10.0.0.1:7070"}, 2, "use --public to allow that"},
		{[]string{"--gopher", "localhost"}, 2, "is not HOST:PORT or PORT"},
		{[]string{"--gopher", ""}, 2, "is not HOST:PORT or PORT"},
		{[]string{"--gopher", "70000"}, 2, "is not HOST:PORT or PORT"},
		{[]string{"--gopher", "127.0.0.1:70000"}, 2, "invalid port; use 0 to 65535"},
		{[]string{"--root", filepath.Join(t.TempDir(), "missing")}, 26, "missing"},
		{[]string{"--http", "0", "--ftp", taken.Addr().String()}, 2, "address already in use"},
	} {
		got := verbtest.Run(t, Command(), "", tc.args...)
		if got.Code != tc.code || got.Out != "" || !strings.Contains(got.Err, tc.want) {
			t.Errorf("serve %q: %+v", tc.args, got)
		}
		verbtest.OneLine(t, got.Err)
	}
}

// The control API ends with standard input, and has the token of a file.
func TestServeControl(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("a-token-of-sixteen\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, stop := io.Pipe()
	s := verbtest.Start(t, Command(), in, 1, "--control", "0", "--until-eof", "--token-file", file, "--root", filepath.Dir(file))
	first := controlOf(t, s)
	if first.Token != "a-token-of-sixteen" {
		t.Errorf("the token is %q", first.Token)
	}
	r, _ := http.NewRequestWithContext(t.Context(), "POST", first.Control+"/v1/servers", strings.NewReader(`{"protocol":"gopher","folder":"."}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+first.Token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	var srv struct{ URL string }
	if err := json.NewDecoder(res.Body).Decode(&srv); err != nil || res.StatusCode != http.StatusCreated {
		t.Fatalf("%s, %v", res.Status, err)
	}
	res.Body.Close()
	if got := verbtest.Converse(t, srv.URL, "/token\r\n"); !strings.Contains(got, "a-token-of-sixteen") {
		t.Errorf("%q", got)
	}
	open, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "gopher://"))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	stop.Close()
	if got := s.Ended(); got != 0 {
		t.Errorf("it ends with %d", got)
	}
	_, _ = io.Copy(io.Discard, open) // ends with the server
}

// Options that have no meaning together are refused.
func TestServeControlRefuses(t *testing.T) {
	short := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(short, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"--control", "0", "--ftp", "0"}, "without it"},
		{[]string{"--control", "0.0.0.0:0"}, "use --public"},
		{[]string{"--control", "x"}, "is not HOST:PORT"},
		{[]string{"--control-host", "x"}, "for --control"},
		{[]string{"--token-file", short}, "for --control"},
		{[]string{"--control", "0", "--token-file", short}, "16 or more"},
		{[]string{"--control", "0", "--root", short}, "not a directory"},
		{[]string{"--control", "0", "--store", filepath.Join(short, "x")}, "not a directory"},
	} {
		var errs bytes.Buffer
		if code := Command().Run(t.Context(), tc.args, stdio.Streams{In: strings.NewReader(""), Out: io.Discard, Err: &errs}); code == 0 || !strings.Contains(errs.String(), tc.want) {
			t.Errorf("%q: %d %s", tc.args, code, errs.String())
		}
	}
}

// TestServeArchive tests that each site has a server, with the captures of a time.
func TestServeArchive(t *testing.T) {
	name := verbtest.ArchiveFile(t)
	for at, want := range map[string]string{"": "second\r\n.\r\n", "1994-12-01": "first\r\n.\r\n", "1994-12-01T22:00:00Z": "first\r\n.\r\n", "1996-01-01T01:00:00+01:00": "second\r\n.\r\n"} {
		s := start(t, 2, "--archive", name, "--at", at)
		local, site, _ := strings.Cut(s.Lines[1], "\t")
		if !strings.HasPrefix(local, "gopher://127.0.0.1:") || site != "gopher://h.example/" || !strings.HasSuffix(s.Lines[0], "\tftp://h.example/") {
			t.Fatalf("it shows %q", s.Lines)
		}
		if got := verbtest.Converse(t, local, "file\r\n"); got != want {
			t.Errorf("at %q: %q, want %q", at, got, want)
		}
		if code := s.Stop(); code != 0 || s.Log.String() != "fetch1738: serving until interrupted\n" {
			t.Errorf("code %d: %s", code, s.Log.String())
		}
	}
}
