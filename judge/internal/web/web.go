// Package web has the cases of HTTP, with TLS and without.
package web

import (
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/scene"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// Cases are those of HTTP/1.1, with TLS and without, and of HTTP/2.
func Cases() (all []scene.Case) {
	for _, task := range []scene.Task{scene.Download, scene.Resume, scene.Upload, scene.Deploy} {
		all = append(all, scene.PlainCase("http", task, func(s *scene.Stage) { serve(s) }))
		all = append(all, constructed("http", task)...)
		all = append(all, scene.Cases("http", task, namedCases()[task])...)
	}
	all = append(all, scene.PlainCase("https", scene.Download, func(s *scene.Stage) { serve(s) }))
	all = append(all, constructed("https", scene.Download)...)
	all = append(all, scene.Cases("https", scene.Download, secureCases())...)
	return append(all, http2Cases()...)
}

// oldHTTP keeps clients to HTTP/1.1, whose octets the cases have.
func oldHTTP(w *webtest.Server) { w.HTTP1 = true }

// serve starts an HTTP server for the task, as the scheme says: of HTTP/1.1, with TLS or without, or
// of HTTP/2 with TLS.
func serve(s *scene.Stage, configure ...func(*webtest.Server)) *webtest.Server {
	if s.Scheme != "http" {
		secure := func(w *webtest.Server) { w.TLS, w.ImplicitTLS = scene.Certificate(), true }
		configure = append([]func(*webtest.Server){secure}, configure...)
	}
	version := oldHTTP
	if s.Scheme == secureHTTP2 {
		version = func(w *webtest.Server) { w.TLS = onlyHTTP2(w.TLS) }
	}
	srv, err := webtest.Start(s.Ctx, "", append(configure, version)...)
	s.Check(err)
	if s.Task == scene.Resume && s.Begun == 0 {
		s.Begun = len(s.Document) / 2 // it is in rangeFaults
		if s.Document == nil {
			s.Begun = int(s.Size / 2)
		}
	}
	if s.Serve(&srv.Server); s.Task == scene.Deploy { // PUT creates no directories here
		s.Put(srv, "pub/sub/deeper/theirs.txt", []byte("This is a file of others.\n"))
	}
	s.At(srv.URL)
	if s.Scheme != "http" {
		s.Trust((&testserver.Server{TLS: scene.Certificate()}).CA())
	}
	s.Stored = func() ([]byte, error) { return fs.ReadFile(srv.Files(), "incoming/new.bin") }
	return srv
}

// ordinary starts the server of constructed cases.
func ordinary(s *scene.Stage) scene.Server { return serve(s) }

// constructed are the constructed cases of a task.
func constructed(scheme string, task scene.Task) (all []scene.Case) {
	connect := scene.Place{At: "CONNECT", Says: "a response"}
	request := scene.Place{At: "REQUEST", Says: "a response"}
	body := scene.Place{At: "body", Stages: []string{"GET"}, Says: "the body"}
	one, sizes := []int64{1000}, []int64{0, 1, 1000, 70_000, 300_001}
	switch {
	case scheme == "https":
		all = append(all, scene.Cross(scheme, task, []scene.Place{request}, streamFaults(), one, ordinary)...)
		return append(all, scene.Cross(scheme, task, []scene.Place{body}, bodyFaults(), sizes[2:4], ordinary)...)
	case task == scene.Download:
		all = append(all, scene.Cross(scheme, task, []scene.Place{connect}, slices.Concat(streamFaults(), headFaults()), one, ordinary)...)
		all = append(all, scene.Cross(scheme, task, []scene.Place{request}, streamFaults(), one, ordinary)...)
		return append(all, scene.Cross(scheme, task, []scene.Place{body}, bodyFaults(), sizes, ordinary)...)
	case task == scene.Resume:
		all = append(all, scene.Cross(scheme, task, []scene.Place{request}, streamFaults(), one, ordinary)...)
		all = append(all, scene.Cross(scheme, task, []scene.Place{body}, restFaults(), sizes[2:], ordinary)...)
		return append(all, scene.Cross(scheme, task, []scene.Place{{At: "range", Stages: []string{"GET"}, Says: "Content-Range"}}, rangeFaults(), []int64{1000, 70_000}, ordinary)...)
	}
	put := scene.Place{At: "PUT", Says: "a response to PUT"}
	if task == scene.Deploy {
		return append(all, scene.Cross(scheme, task, []scene.Place{put}, slices.Concat(streamFaults(), refusals()[:6]), one, ordinary)...)
	}
	all = append(all, scene.Cross(scheme, task, []scene.Place{put}, streamFaults(), one, ordinary)...)
	for _, c := range scene.Cross(scheme, task, []scene.Place{put}, refusals(), one, ordinary) {
		c.Should = unlessTold
		all = append(all, c)
	}
	return append(all, scene.Cross(scheme, task, []scene.Place{put}, acceptances(), sizes, ordinary)...)
}

// unlessTold is what is expected of a client where the server replies with an error.
const unlessTold = "It ends with an error. A client that takes an error of the server for success unless it is told otherwise (curl without -f) promises less."

const (
	framing = "RFC 9112 §6.3: how the length of a body is determined."
	partial = "RFC 9112 §8: a message that is incomplete."
)

// streamFaults are faults of a connection or of the answer to a request as a whole.
func streamFaults() []scene.Fault {
	instead := func(name, does, text string) scene.Fault {
		return scene.Fault{Name: name, Acts: scene.Always(testserver.Reply(text)), Does: does, Source: scene.OtherPort}
	}
	return []scene.Fault{
		{Name: "close", Acts: scene.Always(testserver.Close()), Does: "instead of %s the server closes the connection.", Source: scene.TCPEnds},
		{Name: "silence", Acts: scene.Always(testserver.Silence()), Waits: true, Does: "instead of %s nothing comes, and the connection stays open.", Source: scene.DeadHost},
		{Name: "late", Acts: scene.Always(testserver.Delay(50 * time.Millisecond)), Gets: scene.Gets, Does: "%s comes after 0.05 seconds.", Source: "A server that has much to do."},
		{Name: "garbage", Acts: scene.Always(testserver.Garbage(300, 1738)), Does: "instead of %s 300 random bytes come, and the connection is closed.", Source: scene.OtherPort},
		{Name: "long-line", Acts: scene.Always(testserver.Reply(scene.LongLine())), Does: "instead of %s a line of 1 MiB comes, and the connection is closed.", Source: "CVE-2013-1752 (Python): lines without a limit."},
		instead("empty", "instead of %s an empty line comes, and the connection is closed.", ""),
		instead("words", "instead of %s two words come, and the connection is closed.", "Hello there"),
		instead("mail", "instead of %s the greeting of a mail server comes.", "220 mail.example.com ESMTP"),
		instead("ssh", "instead of %s the greeting of SSH comes.", "SSH-2.0-OpenSSH_9.2"),
		instead("nul", "instead of %s four NUL come.", "\x00\x00\x00\x00"),
		instead("half-a-status", "of %s half of the status line comes, and the connection is closed.", "HTTP/1.1 2"),
	}
}

// headFaults are faults of all bytes that come over a connection: they act on the head.
func headFaults() []scene.Fault {
	cut := func(name string, n int64) scene.Fault {
		return scene.Fault{Name: name, Acts: scene.Always(testserver.Truncate(n)), Does: fmt.Sprintf("%d bytes of %%s come, all of the head, and the connection is closed.", n), Source: partial}
	}
	return []scene.Fault{
		cut("cut-1", 1), cut("cut-12", 12), cut("cut-20", 20), cut("cut-60", 60),
		{Name: "reset-0", Acts: scene.Always(testserver.Reset(0)), Does: "instead of %s the server resets the connection.", Source: scene.TCPEnds},
		{Name: "reset-40", Acts: scene.Always(testserver.Reset(40)), Does: "after 40 bytes of the head of %s the server resets the connection.", Source: scene.TCPEnds},
		{Name: "bytewise", Acts: scene.Always(testserver.Split(1)), Gets: scene.Gets, Does: "%s comes in pieces of one byte.", Source: scene.TCPPieces},
		{Name: "slow-head", Acts: scene.Always(testserver.Drip(1, time.Second)), Waits: true, Does: "%s comes slowly, one byte a second.", Source: "The attack that is known as Slowloris, against a client."},
		{Name: "no-http", Acts: scene.Always(testserver.Garble(0, "PTTH")), Does: "%s begins with PTTH instead of HTTP.", Source: "RFC 9112 §4: the status line."},
		{Name: "slow-line", Acts: scene.Always(testserver.EndlessLine(), testserver.Drip(200, 20*time.Millisecond)), Waits: true, Does: "instead of %s a line comes slowly and without an end.", Source: "CVE-2013-1752 (Python): lines without a limit."},
	}
}

func quarter(size int64) int64 { return size / 4 }

// bodyFaults are faults of the body of a response with the whole document.
func bodyFaults() []scene.Fault {
	longer := func(size int64) []testserver.Fault {
		return []testserver.Fault{testserver.Data(string(scene.Octets(size)) + "and more of it"), webtest.ContentLength(size)}
	}
	promise := func(more int64) func(int64) []testserver.Fault {
		return func(size int64) []testserver.Fault { return []testserver.Fault{webtest.ContentLength(size + more)} }
	}
	noLength := webtest.ContentLength(-1)
	return []scene.Fault{
		{Name: "none", Least: 1, Acts: scene.CutAt(scene.None), Does: "nothing of %s comes, although Content-Length is that of the document.", Source: partial},
		{Name: "cut", Least: 2, Acts: scene.CutAt(scene.Half), Does: "half of %s comes, and the connection is closed.", Source: partial},
		{Name: "last-byte", Least: 2, Acts: scene.CutAt(scene.ButOne), Does: "the last byte of %s is missing.", Source: partial},
		{Name: "reset", Least: 2, Acts: scene.ResetAt(scene.Half), Does: "the connection is reset after half of %s.", Source: scene.TCPEnds},
		{Name: "reset-end", Least: 1, Acts: scene.ResetAt(scene.Whole), Does: "the connection is reset after the last byte of %s.", Source: scene.TCPEnds},
		{Name: "stall", Least: 2, Acts: scene.StallAfter(scene.Half), Waits: true, Does: "half of %s comes, then nothing more, and the connection stays open.", Source: scene.DeadHost},
		{Name: "promises-one", Acts: promise(1), Does: "Content-Length is one more than %s has.", Source: partial},
		{Name: "promises-more", Acts: promise(1 << 40), Does: "Content-Length is 1 TiB more than %s has.", Source: partial},
		{Name: "longer", Acts: longer, Gets: scene.Gets, Does: "14 bytes more than Content-Length says follow %s.", Source: framing},
		{Name: "no-length", Acts: scene.Always(noLength), Gets: scene.Gets, Does: "the end of the connection is the end of %s.", Source: framing},
		{Name: "no-length-reset", Least: 2, Acts: scene.ResetAt(scene.Half, noLength), Does: "without Content-Length, the connection is reset after half of %s.", Source: framing},
		{Name: "chunked", Acts: scene.Always(webtest.Chunked()), Gets: scene.Gets, Does: "%s comes in chunks.", Source: "RFC 9112 §7.1."},
		{Name: "chunked-bytes", Least: 1, Acts: scene.Always(webtest.Chunked(), testserver.Split(333)), Gets: scene.Gets, Does: "%s comes in chunks, and in pieces of 333 bytes.", Source: "RFC 9112 §7.1."},
		{Name: "chunked-cut", Least: 2, Acts: scene.CutAt(scene.Half, webtest.Chunked()), Does: "%s comes in chunks, and ends in the middle.", Source: partial},
		{Name: "chunked-no-end", Least: 1, Acts: scene.CutAt(scene.Whole, webtest.Chunked()), Does: "%s comes in chunks, and the last chunk is missing.", Source: partial},
		{Name: "chunked-reset", Least: 2, Acts: scene.ResetAt(scene.Half, webtest.Chunked()), Does: "%s comes in chunks, and the connection is reset in the middle.", Source: scene.TCPEnds},
		{Name: "pieces", Least: 2, Acts: scene.Always(testserver.Split(700)), Gets: scene.Gets, Does: "%s comes in pieces of 700 bytes.", Source: scene.TCPPieces},
	}
}

// restFaults are faults of the body of a response with the rest of the document.
func restFaults() []scene.Fault {
	return []scene.Fault{
		{Name: "none", Acts: scene.CutAt(scene.None), Does: "nothing of the rest comes, although Content-Length is its length.", Source: partial},
		{Name: "cut", Acts: scene.CutAt(quarter), Does: "half of the rest comes, and the connection is closed.", Source: partial},
		{Name: "reset", Acts: scene.ResetAt(quarter), Does: "the connection is reset after half of the rest.", Source: scene.TCPEnds},
		{Name: "chunked", Acts: scene.Always(webtest.Chunked()), Gets: scene.Gets, Does: "the rest comes in chunks.", Source: "RFC 9112 §7.1."},
		{Name: "chunked-cut", Acts: scene.CutAt(quarter, webtest.Chunked()), Does: "the rest comes in chunks, and ends in the middle.", Source: partial},
		{Name: "from-start", Acts: scene.Always(testserver.FromStart()), Does: "the response says that it is the rest, but its bytes are those from the start.", Source: "A server that mistakes the offset; only a comparison with the bytes that are there shows it."},
		{Name: "stall", Acts: scene.StallAfter(quarter), Waits: true, Does: "half of the rest comes, then nothing more, and the connection stays open.", Source: scene.DeadHost},
	}
}

// rangeFaults are wrong fields in a response with the rest, and other responses to Range.
func rangeFaults() []scene.Fault {
	const rfc = "RFC 9110 §14.4: Content-Range; RFC 9110 §15.3.7: a client must inspect it."
	row := func(name, does string, value func(n int64) string, body func(data []byte) []byte) scene.Fault {
		return scene.Fault{Name: name, Does: does, Source: rfc, Acts: func(n int64) []testserver.Fault {
			return []testserver.Fault{webtest.Status(http.StatusPartialContent), webtest.Header("Content-Range", value(n)), testserver.Data(string(body(scene.Octets(n))))}
		}}
	}
	from := func(part func(int64) int64) func([]byte) []byte {
		return func(data []byte) []byte { return data[part(int64(len(data))):] }
	}
	rest := from(scene.Half)
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
	return []scene.Fault{
		row("first-half", "the response has the first half, and %s says so.", format("bytes 0-%d/%d", func(n int64) int64 { return n/2 - 1 }, scene.Whole), func(data []byte) []byte { return data[:len(data)/2] }),
		row("whole", "the response is a 206 with all bytes, and %s says so.", format("bytes 0-%d/%d", scene.ButOne, scene.Whole), from(scene.None)),
		row("later", "the response begins 10 bytes after what was requested, and %s says so.", format("bytes %d-%d/%d", func(n int64) int64 { return n/2 + 10 }, scene.ButOne, scene.Whole), from(func(n int64) int64 { return n/2 + 10 })),
		row("shorter", "the response has less than was requested, and %s says so.", format("bytes %d-%d/%d", scene.Half, func(n int64) int64 { return n - 101 }, scene.Whole), func(data []byte) []byte { return data[len(data)/2 : len(data)-100] }),
		row("other-total", "the response has the rest, but %s says that the document is longer.", format("bytes %d-%d/%d", scene.Half, scene.ButOne, func(n int64) int64 { return 2 * n }), rest),
		row("no-total", "the response has the rest, and the total of %s is not known.", format("bytes %d-%d/*", scene.Half, scene.ButOne), rest),
		row("other-unit", "the unit of %s is lines.", format("lines %d-%d/%d", scene.Half, scene.ButOne, scene.Whole), rest),
		row("unsatisfied", "%s of a 206 is that of a refusal.", format("bytes */%d", scene.Whole), rest),
		row("backwards", "the last position of %s is before the first.", format("bytes %d-%d/%d", scene.ButOne, scene.Half, scene.Whole), rest),
		row("beyond", "the last position of %s is not in the document.", format("bytes %d-%d/%d", scene.Half, scene.Whole, scene.Whole), rest),
		row("negative", "the first position of %s is negative.", format("bytes -5-%d/%d", scene.ButOne, scene.Whole), rest),
		row("huge", "the positions of %s are more than 2^64.", text("bytes 99999999999999999999-99999999999999999999/99999999999999999999"), rest),
		row("words", "%s is no range.", text("all of it"), rest),
		row("missing", "there is no %s.", text(""), rest),
		row("missing-whole", "there is no %s in a 206, which has all bytes.", text(""), from(scene.None)),
	}
}

// refusals are responses to PUT that say that the document was not stored. It was not.
func refusals() (all []scene.Fault) {
	for _, status := range []int{401, 403, 409, 413, 500, 507} {
		all = append(all, scene.Fault{
			Name: fmt.Sprint("status-", status), Does: fmt.Sprintf("%%s is %d.", status), Source: "RFC 9110 §15.5 and §15.6, RFC 4918 §11.5: errors.",
			Acts: scene.Always(testserver.Reply(fmt.Sprintf("HTTP/1.1 %d %s\nContent-Length: 0\nConnection: close\n", status, http.StatusText(status)))),
		})
	}
	text := func(name, does, reply string) scene.Fault {
		return scene.Fault{Name: name, Does: does, Source: "RFC 9110 §15: what a status means.", Acts: scene.Always(testserver.Reply(reply))}
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
func acceptances() []scene.Fault {
	return []scene.Fault{
		{Name: "stored-200", Acts: scene.Always(webtest.Status(http.StatusOK)), Gets: scene.Gets, Does: "the server stores the document, and %s is 200.", Source: "RFC 9110 §9.3.4."},
		{Name: "stored-204", Acts: scene.Always(webtest.Status(http.StatusNoContent)), Gets: scene.Gets, Does: "the server stores the document, and %s is 204.", Source: "RFC 9110 §9.3.4."},
		{Name: "stored-500", Acts: scene.Always(webtest.Status(http.StatusInternalServerError)), Does: "the server stores the document, but %s is 500.", Source: "RFC 9110 §15.6.1."},
		{Name: "stored-cut", Acts: scene.CutAt(scene.None), Does: "the server stores the document, and the body of %s is missing.", Source: partial},
		{Name: "stored-reset", Acts: scene.ResetAt(scene.None), Does: "the server stores the document, and resets the connection after the head of %s.", Source: scene.TCPEnds},
	}
}
