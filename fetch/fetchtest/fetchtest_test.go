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
	"github.com/fetch1738/fetch1738/fetch/fetchtest"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
)

// flawVariable names the flaw of the Fetcher under test, for TestFlaws.
const flawVariable = "FETCHTEST_FLAW"

// TestRun runs the kit over a good Fetcher, which must pass; TestFlaws runs it
// in another process, over bad ones.
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

// TestRunLoopback runs it over real connections.
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

func newMini(env *fetch.Env) fetch.Fetcher {
	return &mini{env: env.WithDefaults(), flaw: os.Getenv(flawVariable)}
}

// locate makes the locators of a mini server.
func locate(ln net.Listener) func(name string) locator.Locator {
	port := ln.Addr().(*net.TCPAddr).AddrPort().Port()
	return func(name string) locator.Locator {
		l := &locator.FTP{Server: locator.Server{HostPort: locator.HostPort{Host: "localhost", Port: port}}, HasPath: true}
		path := strings.Split(name, "/")
		l.CWD, l.Name = path[:len(path)-1], path[len(path)-1]
		return l
	}
}

// TestFlaws breaks the Fetcher in one way at a time; the kit must say so.
func TestFlaws(t *testing.T) {
	for flaw, want := range map[string]struct{ group, report string }{
		"changes octets":                       {"identity/documents", "octets, want"},
		"takes a cut for the end":              {"truncation", "came without an error"},
		"hides that a listing is cut":          {"truncation/entries", "without an error"},
		"lists more than it may":               {"identity/part_of_a_directory", "entries were listed"},
		"logs":                                 {"identity/documents", "something was logged"},
		"times the reader":                     {"identity/slow_reader", "timed out"},
		"waits for a body for ever":            {"truncation/crlf.txt_stall", "something waits for ever"},
		"reads on in spite of a cancel":        {"context", "something waits for ever"},
		"dials on in spite of a cancel":        {"context", "something waits for ever"},
		"asks for TLS in the clear":            {"TLS", "where there is no TLS"},
		"leaks a goroutine":                    {"close", "goroutines outlive the test"},
		"leaks a connection":                   {"close", "is still open after all is closed"},
		"is deaf to the context":               {"context/done_before", "want one of kind"},
		"dials around Env":                     {"truncation", "nothing was dialled by Env.Dial"},
		"shows the password in errors":         {"credentials", "a password is shown by an error"},
		"shows the password in the trace":      {"credentials", "a password is shown by the hook sent"},
		"gives untyped errors":                 {"errors", "not an *fetch.Error"},
		"calls everything missing":             {"errors/forbidden", "want one of"},
		"modifies the request":                 {"identity", "has modified the Request"},
		"waits for ever":                       {"hostile/silence", "something waits for ever"},
		"reads endless lines":                  {"hostile/endless_line", "Fetch has read"},
		"reuses without asking":                {"policy/provenance", "want one of kind"},
		"shares sessions between users":        {"credentials", "want one of kind"},
		"sends any octet":                      {"policy/octets", "Allow was asked"},
		"sends any octet of a login":           {"credentials", "was sent"},
		"keeps half-read sessions":             {"sessions", "fetch after"},
		"lists while it goes":                  {"sessions/walk", "connections are open"},
		"takes a search for an empty document": {"identity/documents", "want an error of kind NoOctets"},
		"trusts dead sessions":                 {"sessions/after_a_hang-up", "after the server hung up"},
		"can be read after Close":              {"close", "a read after Close"},
		"ignores the offset":                   {"ranges", "octets, want"},
		"guesses the size":                     {"identity", "the Size is"},
		"explains the password":                {"explain", "a password is shown by a plan"},
		"explains another command":             {"explain", "the plan says"},
		"stores what it could read":            {"replace/unreadable", "want one of"},
		"believes in uploads":                  {"replace/sever", "and no error"},
		"does not tell of the body":            {"trace/body", "Body told of 0 octets"},
	} {
		t.Run(flaw, func(t *testing.T) {
			t.Parallel()
			// A kit that does not see the flaw may well wait for ever.
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			group, test, _ := strings.Cut(want.group, "/")
			cmd := exec.CommandContext(ctx, os.Args[0], fmt.Sprintf("-test.run=^TestRun$/^%s$/^%s", group, test))
			cmd.Env = append(os.Environ(), flawVariable+"="+flaw)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Errorf("the kit is content:\n%s", out)
			} else if !bytes.Contains(out, []byte(want.report)) {
				t.Errorf("the kit does not say %q: %v\n%s", want.report, err, out)
			}
			if bytes.Contains(out, []byte("panic: ")) && flaw != "leaks a goroutine" { // which nothing else can end
				t.Errorf("the run panics:\n%s", out)
			}
		})
	}
}
