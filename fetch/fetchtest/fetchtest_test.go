package fetchtest_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
)

// flawVariable is the environment variable that names the flaw of the Fetcher under test.
const flawVariable = "FETCHTEST_FLAW"

// TestRun tests a correct Fetcher, which must pass. TestFlaws runs it in another process, with
// flawed Fetchers.
func TestRun(t *testing.T) {
	fetchtest.Run(t, fetchtest.Harness{
		New: newMini,
		Serve: func(tb testing.TB, content fs.FS, login *locator.Login) *fetchtest.Site {
			miniNet = new(testserver.Network)
			ln, err := miniNet.Listen(tb.Context(), "tcp", "127.0.0.1:21")
			if err != nil {
				tb.Fatal(err)
			}
			serveMini(tb, ln, content, login)
			return &fetchtest.Site{Dial: miniNet.Dial, Locate: locate(ln)}
		},
		Ranges: true,
	})
}

// TestRunLoopback is TestRun over real connections.
func TestRunLoopback(t *testing.T) {
	fetchtest.Run(t, fetchtest.Harness{
		New: newMini,
		Serve: func(tb testing.TB, content fs.FS, login *locator.Login) *fetchtest.Site {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				tb.Fatal(err)
			}
			serveMini(tb, ln, content, login)
			return &fetchtest.Site{Locate: locate(ln)}
		},
		Ranges: true,
	})
}

func newMini(env *fetch.Env) driver.Fetcher {
	return &mini{env: driver.NewEnv(env), flaw: os.Getenv(flawVariable)}
}

// locate returns a function that locates the documents of a mini server.
func locate(ln net.Listener) func(name string) locator.Locator {
	port := ln.Addr().(*net.TCPAddr).AddrPort().Port()
	return func(name string) locator.Locator {
		l := &locator.FTP{Server: locator.Server{HostPort: locator.HostPort{Host: "localhost", Port: port}}, HasPath: true}
		path := strings.Split(name, "/")
		l.CWD, l.Name = path[:len(path)-1], path[len(path)-1]
		return l
	}
}

// TestFlaws gives the Fetcher one flaw at a time; Run must report it.
func TestFlaws(t *testing.T) {
	for flaw, want := range map[string]struct{ group, report string }{
		"changes octets":                       {"identity/documents", "bytes, want"},
		"takes a cut for the end":              {"truncation", "bytes without an error"},
		"hides that a listing is cut":          {"truncation/entries", "incomplete without an error"},
		"lists more than it may":               {"identity/part_of_a_directory", "entries were listed"},
		"logs":                                 {"identity/documents", "package log was used"},
		"times the reader":                     {"identity/slow_reader", "timed out"},
		"waits for a body for ever":            {"truncation/crlf.txt_stall", "an operation waits for ever"},
		"reads on in spite of a cancel":        {"context", "an operation waits for ever"},
		"dials on in spite of a cancel":        {"context", "an operation waits for ever"},
		"asks for TLS in the clear":            {"TLS", "without TLS it must not be called"},
		"leaks a goroutine":                    {"close", "goroutines outlive the test"},
		"leaks a connection":                   {"close", "is still open after the Fetcher was closed"},
		"is deaf to the context":               {"context/done_before", "want an error of kind"},
		"dials around Env":                     {"truncation", "did not use Env.Dial"},
		"shows the password in errors":         {"credentials", "a password is shown by an error"},
		"shows the password in the trace":      {"credentials", "a password is shown by the hook sent"},
		"gives untyped errors":                 {"errors", "must be a *fetch.Error"},
		"calls everything missing":             {"errors/forbidden", "error's kind is"},
		"modifies the request":                 {"identity", "has modified the Request"},
		"waits for ever":                       {"hostile/silence", "an operation waits for ever"},
		"reads endless lines":                  {"hostile/endless_line", "Fetch has read"},
		"reuses without asking":                {"policy/provenance", "want an error of kind"},
		"shares sessions between users":        {"credentials", "want an error of kind"},
		"sends any octet":                      {"policy/octets", "Env.Allow was called"},
		"sends any octet of a login":           {"credentials", "was sent"},
		"keeps half-read sessions":             {"sessions", "fetch after"},
		"lists while it goes":                  {"sessions/walk", "connections are open"},
		"takes a search for an empty document": {"identity/documents", "want an error of kind NoOctets"},
		"trusts dead sessions":                 {"sessions/after_a_hang-up", "after the server hung up"},
		"can be read after Close":              {"close", "a read after Close"},
		"ignores the offset":                   {"ranges", "bytes, want"},
		"guesses the size":                     {"identity", "the Size is"},
		"explains the password":                {"explain", "a password is shown by an explanation"},
		"explains another command":             {"explain", "the Explanation says"},
		"stores what it could read":            {"replace/unreadable", "want an error of kind"},
		"believes in uploads":                  {"replace/sever", "the upload returned no error"},
		"does not tell of the body":            {"trace/body", "Body was called for 0 bytes"},
	} {
		t.Run(flaw, func(t *testing.T) {
			t.Parallel()
			// If Run does not detect the flaw, it may wait for ever.
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			group, test, _ := strings.Cut(want.group, "/")
			cmd := exec.CommandContext(ctx, os.Args[0], fmt.Sprintf("-test.run=^TestRun$/^%s$/^%s", group, test))
			cmd.Env = append(os.Environ(), flawVariable+"="+flaw)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Errorf("Run did not detect the flaw:\n%s", out)
			} else if !bytes.Contains(out, []byte(want.report)) {
				t.Errorf("the output does not contain %q: %v\n%s", want.report, err, out)
			}
			if bytes.Contains(out, []byte("panic: ")) && flaw != "leaks a goroutine" { // that flaw can only end in a panic
				t.Errorf("Run panicked:\n%s", out)
			}
		})
	}
}
