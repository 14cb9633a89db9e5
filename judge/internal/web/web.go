// Package web has the cases of HTTP, with TLS and without.
package web

import (
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// Cases are those of HTTP/1.1, with TLS and without, and of HTTP/2.
func Cases() (all []testcase.Case) {
	for _, task := range []testcase.Task{testcase.Download, testcase.Resume, testcase.Upload, testcase.Deploy} {
		all = append(all, testcase.PlainCase("http", task, func(r *testcase.Run) { serve(r) }))
		all = append(all, constructed("http", task)...)
		all = append(all, testcase.Cases("http", task, namedCases()[task])...)
	}
	all = append(all, testcase.PlainCase("https", testcase.Download, func(r *testcase.Run) { serve(r) }))
	all = append(all, constructed("https", testcase.Download)...)
	all = append(all, testcase.Cases("https", testcase.Download, secureCases())...)
	return append(all, http2Cases()...)
}

// oldHTTP keeps clients to HTTP/1.1, whose octets the cases have.
func oldHTTP(w *webtest.Server) { w.HTTP1 = true }

// serve starts an HTTP server for the task, as the scheme says: of HTTP/1.1, with TLS or without, or
// of HTTP/2 with TLS.
func serve(r *testcase.Run, configure ...func(*webtest.Server)) *webtest.Server {
	if r.Scheme != "http" {
		secure := func(w *webtest.Server) { w.TLS, w.ImplicitTLS = testcase.Certificate(), true }
		configure = append([]func(*webtest.Server){secure}, configure...)
	}
	version := oldHTTP
	if r.Scheme == secureHTTP2 {
		version = func(w *webtest.Server) { w.TLS = onlyHTTP2(w.TLS) }
	}
	srv, err := webtest.Start(r.Ctx, "", append(configure, version)...)
	testcase.Check(err)
	if r.Task == testcase.Resume && r.Goal.Begun == 0 {
		r.Goal.Begun = len(r.Goal.Document) / 2 // it is in rangeFaults
		if r.Goal.Document == nil {
			r.Goal.Begun = int(r.Goal.Size / 2)
		}
	}
	if r.Serve(&srv.Server); r.Task == testcase.Deploy { // PUT creates no directories here
		testcase.Put(srv, "pub/sub/deeper/theirs.txt", []byte("This is a file of others.\n"))
	}
	r.At(srv.URL)
	if r.Scheme != "http" {
		r.Client.Trust((&testserver.Server{TLS: testcase.Certificate()}).CA())
	}
	r.Goal.Stored = func() ([]byte, error) { return fs.ReadFile(srv.Files(), "incoming/new.bin") }
	return srv
}

// ordinary starts the server of constructed cases.
func ordinary(r *testcase.Run) testcase.Server { return serve(r) }

// constructed are the constructed cases of a task.
func constructed(scheme string, task testcase.Task) (all []testcase.Case) {
	connect := testcase.Place{At: "CONNECT", Says: "a response"}
	request := testcase.Place{At: "REQUEST", Says: "a response"}
	body := testcase.Place{At: "body", Stages: []string{"GET"}, Says: "the body"}
	one, sizes := []int64{1000}, []int64{0, 1, 1000, 70_000, 300_001}
	switch {
	case scheme == "https":
		all = append(all, testcase.Cross(scheme, task, []testcase.Place{request}, streamBehaviors(), one, ordinary)...)
		return append(all, testcase.Cross(scheme, task, []testcase.Place{body}, bodyBehaviors(), sizes[2:4], ordinary)...)
	case task == testcase.Download:
		all = append(all, testcase.Cross(scheme, task, []testcase.Place{connect}, slices.Concat(streamBehaviors(), headBehaviors()), one, ordinary)...)
		all = append(all, testcase.Cross(scheme, task, []testcase.Place{request}, streamBehaviors(), one, ordinary)...)
		return append(all, testcase.Cross(scheme, task, []testcase.Place{body}, bodyBehaviors(), sizes, ordinary)...)
	case task == testcase.Resume:
		all = append(all, testcase.Cross(scheme, task, []testcase.Place{request}, streamBehaviors(), one, ordinary)...)
		all = append(all, testcase.Cross(scheme, task, []testcase.Place{body}, restBehaviors(), sizes[2:], ordinary)...)
		return append(all, testcase.Cross(scheme, task, []testcase.Place{{At: "range", Stages: []string{"GET"}, Says: "Content-Range"}}, rangeBehaviors(), []int64{1000, 70_000}, ordinary)...)
	}
	put := testcase.Place{At: "PUT", Says: "a response to PUT"}
	if task == testcase.Deploy {
		return append(all, testcase.Cross(scheme, task, []testcase.Place{put}, slices.Concat(streamBehaviors(), refusals()[:6]), one, ordinary)...)
	}
	all = append(all, testcase.Cross(scheme, task, []testcase.Place{put}, streamBehaviors(), one, ordinary)...)
	for _, c := range testcase.Cross(scheme, task, []testcase.Place{put}, refusals(), one, ordinary) {
		c.Should = unlessTold
		all = append(all, c)
	}
	return append(all, testcase.Cross(scheme, task, []testcase.Place{put}, acceptances(), sizes, ordinary)...)
}

// unlessTold is what is expected of a client where the server replies with an error.
const unlessTold = "It ends with an error. A client that takes an error of the server for success unless it is told otherwise (curl without -f) promises less."

const (
	framing = "RFC 9112 §6.3: how the length of a body is determined."
	partial = "RFC 9112 §8: a message that is incomplete."
)

// streamBehaviors are behaviors of a connection or of the answer to a request as a whole.
func streamBehaviors() []testcase.Behavior {
	instead := func(name, does, text string) testcase.Behavior {
		return testcase.Behavior{Name: name, Acts: testcase.Always(testserver.Reply(text)), Does: does, Source: testcase.OtherPort}
	}
	return []testcase.Behavior{
		{Name: "close", Acts: testcase.Always(testserver.Close()), Does: "instead of %s the server closes the connection.", Source: testcase.TCPEnds},
		{Name: "silence", Acts: testcase.Always(testserver.Silence()), Waits: true, Does: "instead of %s nothing comes, and the connection stays open.", Source: testcase.DeadHost},
		{Name: "late", Acts: testcase.Always(testserver.Delay(50 * time.Millisecond)), Gets: testcase.Gets, Does: "%s comes after 0.05 seconds.", Source: "A server that has much to do."},
		{Name: "garbage", Acts: testcase.Always(testserver.Garbage(300, 1738)), Does: "instead of %s 300 random bytes come, and the connection is closed.", Source: testcase.OtherPort},
		{Name: "long-line", Acts: testcase.Always(testserver.Reply(testcase.LongLine())), Does: "instead of %s a line of 1 MiB comes, and the connection is closed.", Source: "CVE-2013-1752 (Python): lines without a limit."},
		instead("empty", "instead of %s an empty line comes, and the connection is closed.", ""),
		instead("words", "instead of %s two words come, and the connection is closed.", "Hello there"),
		instead("mail", "instead of %s the greeting of a mail server comes.", "220 mail.example.com ESMTP"),
		instead("ssh", "instead of %s the greeting of SSH comes.", "SSH-2.0-OpenSSH_9.2"),
		instead("nul", "instead of %s four NUL come.", "\x00\x00\x00\x00"),
		instead("half-a-status", "of %s half of the status line comes, and the connection is closed.", "HTTP/1.1 2"),
	}
}

// headBehaviors are behaviors of all bytes that come over a connection: they act on the head.
func headBehaviors() []testcase.Behavior {
	cut := func(name string, n int64) testcase.Behavior {
		return testcase.Behavior{Name: name, Acts: testcase.Always(testserver.Truncate(n)), Does: fmt.Sprintf("%d bytes of %%s come, all of the head, and the connection is closed.", n), Source: partial}
	}
	return []testcase.Behavior{
		cut("cut-1", 1), cut("cut-12", 12), cut("cut-20", 20), cut("cut-60", 60),
		{Name: "reset-0", Acts: testcase.Always(testserver.Reset(0)), Does: "instead of %s the server resets the connection.", Source: testcase.TCPEnds},
		{Name: "reset-40", Acts: testcase.Always(testserver.Reset(40)), Does: "after 40 bytes of the head of %s the server resets the connection.", Source: testcase.TCPEnds},
		{Name: "bytewise", Acts: testcase.Always(testserver.Split(1)), Gets: testcase.Gets, Does: "%s comes in pieces of one byte.", Source: testcase.TCPPieces},
		{Name: "slow-head", Acts: testcase.Always(testserver.Drip(1, time.Second)), Waits: true, Does: "%s comes slowly, one byte a second.", Source: "The attack that is known as Slowloris, against a client."},
		{Name: "no-http", Acts: testcase.Always(testserver.Garble(0, "PTTH")), Does: "%s begins with PTTH instead of HTTP.", Source: "RFC 9112 §4: the status line."},
		{Name: "slow-line", Acts: testcase.Always(testserver.EndlessLine(), testserver.Drip(200, 20*time.Millisecond)), Waits: true, Does: "instead of %s a line comes slowly and without an end.", Source: "CVE-2013-1752 (Python): lines without a limit."},
	}
}

func quarter(size int64) int64 { return size / 4 }

// bodyBehaviors are behaviors of the body of a response with the whole document.
func bodyBehaviors() []testcase.Behavior {
	longer := func(size int64) []testserver.Fault {
		return []testserver.Fault{testserver.Data(string(testcase.Octets(size)) + "and more of it"), webtest.ContentLength(size)}
	}
	promise := func(more int64) func(int64) []testserver.Fault {
		return func(size int64) []testserver.Fault { return []testserver.Fault{webtest.ContentLength(size + more)} }
	}
	noLength := webtest.ContentLength(-1)
	return []testcase.Behavior{
		{Name: "none", Least: 1, Acts: testcase.CutAt(testcase.None), Does: "nothing of %s comes, although Content-Length is that of the document.", Source: partial},
		{Name: "cut", Least: 2, Acts: testcase.CutAt(testcase.Half), Does: "half of %s comes, and the connection is closed.", Source: partial},
		{Name: "last-byte", Least: 2, Acts: testcase.CutAt(testcase.ButOne), Does: "the last byte of %s is missing.", Source: partial},
		{Name: "reset", Least: 2, Acts: testcase.ResetAt(testcase.Half), Does: "the connection is reset after half of %s.", Source: testcase.TCPEnds},
		{Name: "reset-end", Least: 1, Acts: testcase.ResetAt(testcase.Whole), Does: "the connection is reset after the last byte of %s.", Source: testcase.TCPEnds},
		{Name: "stall", Least: 2, Acts: testcase.StallAfter(testcase.Half), Waits: true, Does: "half of %s comes, then nothing more, and the connection stays open.", Source: testcase.DeadHost},
		{Name: "promises-one", Acts: promise(1), Does: "Content-Length is one more than %s has.", Source: partial},
		{Name: "promises-more", Acts: promise(1 << 40), Does: "Content-Length is 1 TiB more than %s has.", Source: partial},
		{Name: "longer", Acts: longer, Gets: testcase.Gets, Does: "14 bytes more than Content-Length says follow %s.", Source: framing},
		{Name: "no-length", Acts: testcase.Always(noLength), Gets: testcase.Gets, Does: "the end of the connection is the end of %s.", Source: framing},
		{Name: "no-length-reset", Least: 2, Acts: testcase.ResetAt(testcase.Half, noLength), Does: "without Content-Length, the connection is reset after half of %s.", Source: framing},
		{Name: "chunked", Acts: testcase.Always(webtest.Chunked()), Gets: testcase.Gets, Does: "%s comes in chunks.", Source: "RFC 9112 §7.1."},
		{Name: "chunked-bytes", Least: 1, Acts: testcase.Always(webtest.Chunked(), testserver.Split(333)), Gets: testcase.Gets, Does: "%s comes in chunks, and in pieces of 333 bytes.", Source: "RFC 9112 §7.1."},
		{Name: "chunked-cut", Least: 2, Acts: testcase.CutAt(testcase.Half, webtest.Chunked()), Does: "%s comes in chunks, and ends in the middle.", Source: partial},
		{Name: "chunked-no-end", Least: 1, Acts: testcase.CutAt(testcase.Whole, webtest.Chunked()), Does: "%s comes in chunks, and the last chunk is missing.", Source: partial},
		{Name: "chunked-reset", Least: 2, Acts: testcase.ResetAt(testcase.Half, webtest.Chunked()), Does: "%s comes in chunks, and the connection is reset in the middle.", Source: testcase.TCPEnds},
		{Name: "pieces", Least: 2, Acts: testcase.Always(testserver.Split(700)), Gets: testcase.Gets, Does: "%s comes in pieces of 700 bytes.", Source: testcase.TCPPieces},
	}
}

// restBehaviors are behaviors of the body of a response with the rest of the document.
func restBehaviors() []testcase.Behavior {
	return []testcase.Behavior{
		{Name: "none", Acts: testcase.CutAt(testcase.None), Does: "nothing of the rest comes, although Content-Length is its length.", Source: partial},
		{Name: "cut", Acts: testcase.CutAt(quarter), Does: "half of the rest comes, and the connection is closed.", Source: partial},
		{Name: "reset", Acts: testcase.ResetAt(quarter), Does: "the connection is reset after half of the rest.", Source: testcase.TCPEnds},
		{Name: "chunked", Acts: testcase.Always(webtest.Chunked()), Gets: testcase.Gets, Does: "the rest comes in chunks.", Source: "RFC 9112 §7.1."},
		{Name: "chunked-cut", Acts: testcase.CutAt(quarter, webtest.Chunked()), Does: "the rest comes in chunks, and ends in the middle.", Source: partial},
		{Name: "from-start", Acts: testcase.Always(testserver.FromStart()), Does: "the response says that it is the rest, but its bytes are those from the start.", Source: "A server that mistakes the offset; only a comparison with the bytes that are there shows it."},
		{Name: "stall", Acts: testcase.StallAfter(quarter), Waits: true, Does: "half of the rest comes, then nothing more, and the connection stays open.", Source: testcase.DeadHost},
	}
}

// rangeFaults are wrong fields in a response with the rest, and other responses to Range.
func rangeBehaviors() []testcase.Behavior {
	const rfc = "RFC 9110 §14.4: Content-Range; RFC 9110 §15.3.7: a client must inspect it."
	row := func(name, does string, value func(n int64) string, body func(data []byte) []byte) testcase.Behavior {
		return testcase.Behavior{Name: name, Does: does, Source: rfc, Acts: func(n int64) []testserver.Fault {
			return []testserver.Fault{webtest.Status(http.StatusPartialContent), webtest.Header("Content-Range", value(n)), testserver.Data(string(body(testcase.Octets(n))))}
		}}
	}
	from := func(part func(int64) int64) func([]byte) []byte {
		return func(data []byte) []byte { return data[part(int64(len(data))):] }
	}
	rest := from(testcase.Half)
	text := func(t string) func(int64) string { return func(int64) string { return t } }
	format := func(f string, all ...func(int64) int64) func(int64) string {
		return func(n int64) string {
			args := make([]any, len(all))
			for i := range all {
				args[i] = all[i](n)
			}
			return fmt.Sprintf(f, args...)
		}
	}
	return []testcase.Behavior{
		row("first-half", "the response has the first half, and %s says so.", format("bytes 0-%d/%d", func(n int64) int64 { return n/2 - 1 }, testcase.Whole), func(data []byte) []byte { return data[:len(data)/2] }),
		row("whole", "the response is a 206 with all bytes, and %s says so.", format("bytes 0-%d/%d", testcase.ButOne, testcase.Whole), from(testcase.None)),
		row("later", "the response begins 10 bytes after what was requested, and %s says so.", format("bytes %d-%d/%d", func(n int64) int64 { return n/2 + 10 }, testcase.ButOne, testcase.Whole), from(func(n int64) int64 { return n/2 + 10 })),
		row("shorter", "the response has less than was requested, and %s says so.", format("bytes %d-%d/%d", testcase.Half, func(n int64) int64 { return n - 101 }, testcase.Whole), func(data []byte) []byte { return data[len(data)/2 : len(data)-100] }),
		row("other-total", "the response has the rest, but %s says that the document is longer.", format("bytes %d-%d/%d", testcase.Half, testcase.ButOne, func(n int64) int64 { return 2 * n }), rest),
		row("no-total", "the response has the rest, and the total of %s is not known.", format("bytes %d-%d/*", testcase.Half, testcase.ButOne), rest),
		row("other-unit", "the unit of %s is lines.", format("lines %d-%d/%d", testcase.Half, testcase.ButOne, testcase.Whole), rest),
		row("unsatisfied", "%s of a 206 is that of a refusal.", format("bytes */%d", testcase.Whole), rest),
		row("backwards", "the last position of %s is before the first.", format("bytes %d-%d/%d", testcase.ButOne, testcase.Half, testcase.Whole), rest),
		row("beyond", "the last position of %s is not in the document.", format("bytes %d-%d/%d", testcase.Half, testcase.Whole, testcase.Whole), rest),
		row("negative", "the first position of %s is negative.", format("bytes -5-%d/%d", testcase.ButOne, testcase.Whole), rest),
		row("huge", "the positions of %s are more than 2^64.", text("bytes 99999999999999999999-99999999999999999999/99999999999999999999"), rest),
		row("words", "%s is no range.", text("all of it"), rest),
		row("missing", "there is no %s.", text(""), rest),
		row("missing-whole", "there is no %s in a 206, which has all bytes.", text(""), from(testcase.None)),
	}
}

// refusals are responses to PUT that say that the document was not stored. It was not.
func refusals() (all []testcase.Behavior) {
	for _, status := range []int{401, 403, 409, 413, 500, 507} {
		all = append(all, testcase.Behavior{
			Name: fmt.Sprint("status-", status), Does: fmt.Sprintf("%%s is %d.", status), Source: "RFC 9110 §15.5 and §15.6, RFC 4918 §11.5: errors.",
			Acts: testcase.Always(testserver.Reply(fmt.Sprintf("HTTP/1.1 %d %s\nContent-Length: 0\nConnection: close\n", status, http.StatusText(status)))),
		})
	}
	text := func(name, does, reply string) testcase.Behavior {
		return testcase.Behavior{Name: name, Does: does, Source: "RFC 9110 §15: what a status means.", Acts: testcase.Always(testserver.Reply(reply))}
	}
	return append(all,
		text("continue-500", "%s is 100, then 500.", "HTTP/1.1 100 Continue\n\nHTTP/1.1 500 Internal Server Error\nContent-Length: 0\n"),
		text("continue-close", "%s is 100, and the connection is closed.", "HTTP/1.1 100 Continue\n"),
		text("many-103", "%s is 103 ten thousand times, and the connection is closed.", strings.Repeat("HTTP/1.1 103 Early Hints\n\n", 10_000)),
		text("not-modified", "%s is 304.", "HTTP/1.1 304 Not Modified\n"),
		text("no-location", "%s is 307 without a Location.", "HTTP/1.1 307 Temporary Redirect\nContent-Length: 0\n"),
		text("loop", "%s is 307 to the same URL, each time.", "HTTP/1.1 307 Temporary Redirect\nLocation: /incoming/new.bin\nContent-Length: 0\n"),
		text("unauthorized", "%s is 401 with a demand for a login.", "HTTP/1.1 401 Unauthorized\nWWW-Authenticate: Basic realm=\"lab\"\nContent-Length: 0\n"),
	)
}

// acceptances are responses to PUT after which the document is at the server.
func acceptances() []testcase.Behavior {
	return []testcase.Behavior{
		{Name: "stored-200", Acts: testcase.Always(webtest.Status(http.StatusOK)), Gets: testcase.Gets, Does: "the server stores the document, and %s is 200.", Source: "RFC 9110 §9.3.4."},
		{Name: "stored-204", Acts: testcase.Always(webtest.Status(http.StatusNoContent)), Gets: testcase.Gets, Does: "the server stores the document, and %s is 204.", Source: "RFC 9110 §9.3.4."},
		{Name: "stored-500", Acts: testcase.Always(webtest.Status(http.StatusInternalServerError)), Does: "the server stores the document, but %s is 500.", Source: "RFC 9110 §15.6.1."},
		{Name: "stored-cut", Acts: testcase.CutAt(testcase.None), Does: "the server stores the document, and the body of %s is missing.", Source: partial},
		{Name: "stored-reset", Acts: testcase.ResetAt(testcase.None), Does: "the server stores the document, and resets the connection after the head of %s.", Source: testcase.TCPEnds},
	}
}
