package web

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// secureHTTP2 is the scheme of the cases of HTTP/2 over TLS, whose URLs are https.
const secureHTTP2 = "https+h2"

// Sources of the cases of HTTP/2.
const (
	malformed    = "RFC 9113 §8.1.1: a malformed message is an error of its stream."
	streamEnds   = "RFC 9113 §8.1: END_STREAM ends a message; a stream that is reset has none."
	notProcessed = "RFC 9113 §8.7: a request that was not processed may be sent again."
	goingAway    = "RFC 9113 §6.8: GOAWAY."
	flow         = "RFC 9113 §5.2: flow control."
	settings     = "RFC 9113 §6.5.2: settings."
)

// onlyHTTP2 returns a configuration that refuses clients of HTTP/1.1: they cannot be judged here.
func onlyHTTP2(c *tls.Config) *tls.Config {
	c = c.Clone()
	c.NextProtos = []string{"h2"}
	c.VerifyConnection = func(state tls.ConnectionState) error {
		if state.NegotiatedProtocol != "h2" {
			return errors.New("judge: the client does not offer HTTP/2")
		}
		return nil
	}
	return c
}

// http2Cases are the cases of HTTP/2.
func http2Cases() (all []testcase.Case) {
	plain := func(task testcase.Task) testcase.Case {
		return testcase.PlainCase(secureHTTP2, task, func(r *testcase.Run) { serve(r) })
	}
	cross := func(task testcase.Task, at, says string, behaviors []testcase.Behavior, sizes ...int64) {
		place := testcase.Place{At: at, Says: says}
		if at == "body" {
			place.Stages = []string{"GET"}
		}
		all = append(all, testcase.Cross(secureHTTP2, task, []testcase.Place{place}, behaviors, sizes, ordinary)...)
	}
	answers := slices.Concat(connectionBehaviors(), answerBehaviors(), frameBehaviors(), floods())
	all = append(all, plain(testcase.Download))
	cross(testcase.Download, "CONNECT", "a response", settingBehaviors(), 1000)
	cross(testcase.Download, "REQUEST", "a response", slices.Concat(answers, fieldBehaviors()), 1000)
	cross(testcase.Download, "body", "the body", completeBodies(), 0, 1, 1000, 70_000, 300_001)
	cross(testcase.Download, "body", "the body", incompleteBodies(), 1000, 300_001)
	all = append(all, testcase.Cases(secureHTTP2, testcase.Download, slices.Concat(onceCases("GET"), http2Statuses(), http2Redirects()))...)

	all = append(all, plain(testcase.Upload))
	cross(testcase.Upload, "CONNECT", "a response", settingBehaviors(), 1000)
	answers = slices.DeleteFunc(answers, func(f testcase.Behavior) bool { return f.Name == "flood-data" }) // it says success first
	cross(testcase.Upload, "PUT", "a response to PUT", answers, 1000)
	cross(testcase.Upload, "PUT", "a response to PUT", http2Acceptances(), 0, 1000, 300_001)
	for _, c := range testcase.Cross(secureHTTP2, testcase.Upload, []testcase.Place{{At: "PUT", Says: "a response to PUT"}}, http2Refusals(), []int64{1000}, ordinary) {
		c.Should = unlessTold
		all = append(all, c)
	}
	return append(all, testcase.Cases(secureHTTP2, testcase.Upload, append(onceCases("PUT"), http2Uploads()...))...)
}

// connectionBehaviors are those of a connection that HTTP/1.1 has, too.
func connectionBehaviors() []testcase.Behavior {
	return slices.DeleteFunc(streamBehaviors(), func(f testcase.Behavior) bool { return f.Name == "half-a-status" })
}

// codes are codes of RST_STREAM: of each class, and one that is not registered.
var codes = []string{"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "STREAM_CLOSED", "REFUSED_STREAM", "CANCEL", "ENHANCE_YOUR_CALM", "HTTP_1_1_REQUIRED", "1738"}

// nameOf returns a code as a part of the name of a case.
func nameOf(code string) string { return strings.ReplaceAll(strings.ToLower(code), "_", "-") }

// answerBehaviors are behaviors of the answer to a request as a whole.
func answerBehaviors() (all []testcase.Behavior) {
	for _, code := range codes {
		all = append(all, testcase.Behavior{
			Name: "reset-" + nameOf(code), Acts: testcase.Always(webtest.ResetStream(-1, code)),
			Does: "instead of %s the stream is reset with " + code + ", each time.", Source: streamEnds,
		})
	}
	away := func(name, does string, outcome testcase.Outcome, faults ...testserver.Fault) {
		all = append(all, testcase.Behavior{Name: "goaway-" + name, Acts: testcase.Always(faults...), Gets: outcome, Does: does, Source: goingAway})
	}
	away("served", "before %s comes GOAWAY, which says that the request is the last one.", testcase.Gets, webtest.GoAway(-1, "NO_ERROR"))
	away("later", "before %s comes GOAWAY for all that is later than 2^31-1.", testcase.Gets, webtest.GoAway(1<<31-1, "NO_ERROR"))
	away("error", "before %s comes GOAWAY with INTERNAL_ERROR.", testcase.Fails, webtest.GoAway(-1, "INTERNAL_ERROR"))
	away("close", "instead of %s comes GOAWAY, which says that the request is processed, and the connection is closed.", testcase.Fails, webtest.GoAway(-1, "NO_ERROR"), testserver.Close())
	away("unprocessed", "instead of %s comes GOAWAY, which says that the request was not processed, each time.", testcase.Fails, webtest.GoAway(0, "NO_ERROR"))
	away("unprocessed-calm", "instead of %s comes GOAWAY with ENHANCE_YOUR_CALM, which says that the request was not processed, each time.", testcase.Fails, webtest.GoAway(0, "ENHANCE_YOUR_CALM"))
	return all
}

// settingFaults are settings of the server.
func settingBehaviors() (all []testcase.Behavior) {
	row := func(name string, n int64, outcome testcase.Outcome, waits bool) {
		all = append(all, testcase.Behavior{
			Name: fmt.Sprintf("%s-%d", nameOf(name), n), Acts: testcase.Always(webtest.Setting(name, n)), Gets: outcome, Waits: waits,
			Does: fmt.Sprintf("the server has the setting %s with the value %d.", name, n), Source: settings,
		})
	}
	row("HEADER_TABLE_SIZE", 0, testcase.Gets, false)
	row("HEADER_TABLE_SIZE", 1<<32-1, testcase.Gets, false)
	row("MAX_FRAME_SIZE", 1<<24-1, testcase.Gets, false)
	row("MAX_FRAME_SIZE", 100, testcase.Fails, false)
	row("INITIAL_WINDOW_SIZE", 1<<31, testcase.Fails, false)
	row("ENABLE_PUSH", 1, testcase.Fails, false)
	row("MAX_CONCURRENT_STREAMS", 0, testcase.Fails, true)
	row("6969", 1738, testcase.Gets, false) // not registered
	return all
}

// completeBodies are responses with the whole document.
func completeBodies() []testcase.Behavior {
	row := func(name, does, source string, faults ...testserver.Fault) testcase.Behavior {
		return testcase.Behavior{Name: name, Acts: testcase.Always(faults...), Gets: testcase.Gets, Does: does, Source: source}
	}
	noLength := webtest.Chunked()
	return []testcase.Behavior{
		row("no-length", "there is no Content-Length; the end of the stream is the end of %s.", streamEnds, noLength),
		row("trailers", "trailer fields follow %s.", "RFC 9113 §8.1.", webtest.Trailers("X-Check", "1"), webtest.Trailers("X-More", "2")),
		row("trailers-no-length", "trailer fields follow %s, and there is no Content-Length.", "RFC 9113 §8.1.", webtest.Trailers("X-Check", "1"), noLength),
		row("interim", "three 103 come before the response.", early, slices.Repeat([]testserver.Fault{webtest.Interim(http.StatusEarlyHints)}, 3)...),
		{Name: "pieces", Least: 1, Acts: testcase.Always(testserver.Split(333)), Gets: testcase.Gets, Does: "%s comes in pieces of 333 bytes.", Source: testcase.TCPPieces},
	}
}

// incompleteBodies are responses whose body is not the whole document, or cannot be known to be.
func incompleteBodies() (all []testcase.Behavior) {
	row := func(name, does, source string, acts func(int64) []testserver.Fault) {
		all = append(all, testcase.Behavior{Name: name, Acts: acts, Does: does, Source: source})
	}
	noLength := webtest.Chunked()
	after := func(part func(int64) int64, fault func(n int64) webtest.Fault, with ...testserver.Fault) func(int64) []testserver.Fault {
		return func(size int64) []testserver.Fault { return append([]testserver.Fault{fault(part(size))}, with...) }
	}
	for _, code := range codes {
		reset := func(n int64) webtest.Fault { return webtest.ResetStream(n, code) }
		row("reset-"+nameOf(code), "after half of %s the stream is reset with "+code+".", streamEnds, after(testcase.Half, reset))
		row("reset-"+nameOf(code)+"-no-length", "without Content-Length, the stream is reset with "+code+" after half of %s.", streamEnds, after(testcase.Half, reset, noLength))
	}
	row("reset-none", "the stream is reset after the head.", streamEnds, after(testcase.None, func(n int64) webtest.Fault { return webtest.ResetStream(n, "CANCEL") }))
	row("end-none", "the stream ends after the head, although Content-Length is that of the document.", malformed, after(testcase.None, webtest.EndStream))
	row("end", "the stream ends after half of %s, although Content-Length is that of the document.", malformed, after(testcase.Half, webtest.EndStream))
	row("end-last-byte", "the stream ends before the last byte of %s, although Content-Length has it.", malformed, after(testcase.ButOne, webtest.EndStream))
	row("end-trailers", "trailer fields end the stream after half of %s, although Content-Length is that of the document.", malformed, after(testcase.Half, webtest.EndStream, webtest.Trailers("X-Check", "1")))
	row("promises-one", "Content-Length is one more than %s has.", malformed, after(func(n int64) int64 { return n + 1 }, webtest.ContentLength))
	row("promises-more", "Content-Length is 1 TiB more than %s has.", malformed, after(func(n int64) int64 { return n + 1<<40 }, webtest.ContentLength))
	row("promises-less", "Content-Length is half of what %s has.", malformed, after(testcase.Half, webtest.ContentLength))
	row("promises-nothing", "Content-Length is 0, and %s has the document.", malformed, after(testcase.None, webtest.ContentLength))
	row("longer", "14 bytes more than Content-Length says follow %s.", malformed, func(size int64) []testserver.Fault {
		return []testserver.Fault{testserver.Data(string(testcase.Octets(size)) + "and more of it"), webtest.ContentLength(size)}
	})
	row("late-data", "after the end of the stream come further octets of %s.", "RFC 9113 §5.1: a stream that is closed.", testcase.Always(webtest.LateData("and more of it")))
	row("cut", "half of %s comes, and the connection is closed.", streamEnds, testcase.CutAt(testcase.Half))
	row("cut-no-length", "without Content-Length, half of %s comes, and the connection is closed.", streamEnds, testcase.CutAt(testcase.Half, noLength))
	row("cut-end-no-length", "without Content-Length, the connection is closed after the last byte of %s, before the end of the stream.", streamEnds, testcase.CutAt(testcase.Whole, noLength))
	row("cut-goaway", "GOAWAY says that the request is processed, half of %s comes, and the connection is closed.", goingAway, testcase.CutAt(testcase.Half, webtest.GoAway(-1, "NO_ERROR")))
	row("cut-goaway-no-length", "GOAWAY says that the request is processed; without Content-Length, half of %s comes, and the connection is closed.", goingAway, testcase.CutAt(testcase.Half, webtest.GoAway(-1, "NO_ERROR"), noLength))
	row("connection-reset", "the connection is reset after half of %s.", testcase.TCPEnds, testcase.ResetAt(testcase.Half))
	row("connection-reset-no-length", "without Content-Length, the connection is reset after half of %s.", testcase.TCPEnds, testcase.ResetAt(testcase.Half, noLength))
	waits := len(all)
	row("stall", "half of %s comes, then nothing more, and the connection stays open.", testcase.DeadHost, testcase.StallAfter(testcase.Half))
	row("no-end", "all of %s comes, and the stream does not end.", streamEnds, testcase.Always(webtest.EndStream(-1)))
	row("no-end-no-length", "without Content-Length, all of %s comes, and the stream does not end.", streamEnds, testcase.Always(webtest.EndStream(-1), noLength))
	for i := range all[waits:] {
		all[waits+i].Waits = true
	}
	return all
}
