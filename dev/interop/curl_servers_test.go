package interop

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/telnettest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// The content of the project's own servers for the table, and their faults.

const digits = "0123456789"

func everyOctet() []byte {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	return every
}

// labContent is the content of the project's servers.
func labContent() fstest.MapFS {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(bytes.Repeat([]byte("compressed text\n"), 100))
	_ = z.Close()
	content := fstest.MapFS{
		"zipped":    {Data: zipped.Bytes()},
		"every.bin": {Data: everyOctet()}, "big.bin": {Data: bytes.Repeat([]byte(digits+"abcdef"), 1<<16)},
	}
	for name, text := range map[string]string{
		"hello.txt": "hello, world\n", "digits.txt": digits, "empty.txt": "", "lines.txt": "one\ntwo\nthree\n", "dos.txt": "one\r\ntwo\r\n",
		"dots.txt": ".\n.x\nend\n", "page.html": "<p>page</p>\n",
		"pub/a.txt": "a\n", "pub/b.txt": "b\n", "pub/c.md": "c\n", "pub/sub/deep.txt": "deep\n", "with space/a b.txt": "spaced\n", "odd/100%.txt": "percent\n",
		"n/1.txt": "n1\n", "n/2.txt": "n2\n", "n/3.txt": "n3\n", "private/key.txt": "secret\n",
		// The faults of these files are armed below.
		"cut.txt": digits, "reset.txt": digits, "busy.txt": digits, "slow.txt": digits, "silent.txt": digits, "gone.txt": digits, "chunks.txt": digits, "nolength.txt": digits,
		"attached": "attached\n", "baking.txt": "with a cookie\n", "closed.txt": digits, "error.txt": "an error's page\n",
	} {
		content[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for _, file := range content {
		file.ModTime = time.Date(1994, time.December, 1, 12, 0, 0, 0, time.UTC)
	}
	return content
}

// labUsers returns the accounts of the project's servers.
func labUsers() map[string]testserver.User {
	return map[string]testserver.User{"lab": {Password: "secret"}, "vms": {Password: "secret", Account: "acct"}}
}

// ftpKinds returns the FTP servers by variable.
func ftpKinds() map[string]func(*ftptest.Server) {
	return map[string]func(*ftptest.Server){
		"FTP": func(*ftptest.Server) {},
		"FTPOLD": func(s *ftptest.Server) {
			s.Hide = []string{"FEAT", "EPSV", "EPRT", "SIZE", "MDTM", "REST", "MLSD", "MLST"}
		},
		"FTPRO":   func(s *ftptest.Server) { s.ReadOnly = true },
		"FTPHOME": func(s *ftptest.Server) { s.LoginDir = "/pub" },
		"FTPFULL": func(s *ftptest.Server) { s.Greeting = "421 Too many users." },
		"FTPODD":  func(s *ftptest.Server) { s.Greeting = "500 Go away." },
		"FTPDENY": func(s *ftptest.Server) { s.Anonymous = false },
		"FTPTLS":  func(s *ftptest.Server) { s.ReuseTLS = true },
		"FTPS":    func(s *ftptest.Server) { s.ImplicitTLS = true },
	}
}

func startFTP(t *testing.T, secured *tls.Config, configure func(*ftptest.Server)) *ftptest.Server {
	t.Helper()
	s, err := ftptest.Start(t.Context(), "", func(s *ftptest.Server) {
		s.Content, s.Users, s.Forbidden, s.TLS = labContent(), labUsers(), []string{"private"}, secured
		configure(s)
	})
	if err != nil {
		t.Fatal(err)
	}
	s.On("RETR cut.txt", 0, testserver.Truncate(5), testserver.Reply("426 Aborted."))
	s.On("RETR closed.txt", 0, testserver.Truncate(5))
	s.On("RETR reset.txt", 0, testserver.Reset(5))
	s.On("RETR busy.txt", 1, testserver.Reply("450 Busy."))
	s.On("RETR slow.txt", 0, testserver.Drip(1, time.Hour))
	s.On("RETR silent.txt", 0, testserver.Silence())
	s.On("STOR full.txt", 0, testserver.Reply("452 Disk full."))
	s.On("STOR late.txt", 0, testserver.Drip(64, time.Millisecond), testserver.Reply("451 No more."))
	s.On("STOR over.txt", 0, testserver.Drip(64, time.Millisecond), testserver.Reply("552 Too much."))
	s.On("STOR cut.txt", 0, testserver.Truncate(4), testserver.Reply("426 Aborted."))
	return s
}

// startHTTP starts a web server; some of its redirects lead to elsewhere.
func startHTTP(t *testing.T, elsewhere string) *webtest.Server {
	t.Helper()
	s, err := webtest.Start(t.Context(), "", func(s *webtest.Server) {
		s.Content, s.Users, s.Protected = labContent(), labUsers(), []string{"/private"}
		s.Redirects = map[string]webtest.Redirect{
			"/old": {Location: "/hello.txt"}, "/moved": {Location: "/hello.txt", Status: 301}, "/see": {Location: "/echo", Status: 303},
			"/temporary": {Location: "/echo", Status: 307}, "/permanent": {Location: "/echo", Status: 308}, "/found-echo": {Location: "/echo"}, "/moved-echo": {Location: "/echo", Status: 301},
			"/loop": {Location: "/loop"}, "/twice": {Location: "/old"}, "/relative/x": {Location: "../hello.txt"},
			"/to-file": {Location: "file:///etc/hostname"}, "/to-gopher": {Location: "gopher://127.0.0.1:70/"}, "/elsewhere": {Location: elsewhere + "/echo"},
			"/elsewhere-private": {Location: elsewhere + "/private/key.txt"}, "/to-private": {Location: "/private/key.txt"},
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	s.On("GET /cut.txt", 0, testserver.Truncate(5))
	s.On("GET /reset.txt", 0, testserver.Reset(5))
	s.On("GET /busy.txt", 1, webtest.Status(503))
	s.On("GET /slow.txt", 0, testserver.Drip(1, time.Hour))
	s.On("GET /silent.txt", 0, testserver.Silence())
	s.On("GET /closed.txt", 0, testserver.Close())
	s.On("GET /error.txt", 0, webtest.Status(500))
	s.On("GET /gone.txt", 0, webtest.Status(410))
	s.On("GET /chunks.txt", 0, webtest.Chunked())
	s.On("GET /nolength.txt", 0, webtest.ContentLength(-1))
	s.On("GET /odd", 0, testserver.Reply("who are you?"))
	s.On("GET /nobody", 0, testserver.Reply("HTTP/1.1 204 No Content\n"))
	s.On("GET /attached", 0, webtest.Header("Content-Disposition", `attachment; filename="given name.txt"`))
	s.On("GET /baking.txt", 0, webtest.Header("Set-Cookie", "a=b; path=/"))
	s.On("GET /zipped", 0, webtest.Header("Content-Encoding", "gzip"))
	return s
}

func startGopher(t *testing.T) *gophertest.Server {
	t.Helper()
	s, err := gophertest.Start(t.Context(), "", func(s *gophertest.Server) { s.Content, s.Host, s.Port = labContent(), "hole", 70 })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func startTelnet(t *testing.T) *telnettest.Server {
	t.Helper()
	s, err := telnettest.Start(t.Context(), "", func(s *telnettest.Server) {
		s.Dialogue = []telnettest.Step{{Command: "\xff\xfd\x18"}, {Say: "login: ", Hear: "lab"}, {Say: "welcome\r\nlab\r\n", Hear: "bye"}}
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
