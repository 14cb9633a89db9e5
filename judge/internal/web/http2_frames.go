package web

import (
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// sortedBehaviors sorts those that come from a map.
func sortedBehaviors(all []testcase.Behavior) []testcase.Behavior {
	slices.SortStableFunc(all, func(a, b testcase.Behavior) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// frameFaults are frames before the response.
func frameBehaviors() (all []testcase.Behavior) {
	row := func(name, kind, octets, does, source string, outcome testcase.Outcome) {
		all = append(all, testcase.Behavior{Name: "frame-" + name, Acts: testcase.Always(webtest.Frame(kind, octets)), Gets: outcome, Does: "before %s comes " + does, Source: source})
	}
	const ignored = "RFC 9113 §4.1, §5.5: frames of unknown types must be ignored."
	const size = "RFC 9113 §4.2: a frame of a wrong size is an error."
	const state = "RFC 9113 §5.1: the states of a stream."
	row("unknown", "238", "what is it?", "a frame of a type that is not registered.", ignored, testcase.Gets)
	row("altsvc", "10", "\x00\x00h2=\":1\"", "ALTSVC.", "RFC 7838 §4.", testcase.Gets)
	row("ping", "PING", "12345678", "PING.", "RFC 9113 §6.7.", testcase.Gets)
	row("settings", "SETTINGS", "", "SETTINGS without a setting.", "RFC 9113 §6.5.", testcase.Gets)
	row("window", "WINDOW_UPDATE", "\x00\x00\x03\xe8", "WINDOW_UPDATE.", "RFC 9113 §6.9.", testcase.Gets)
	row("priority", "PRIORITY", "\x00\x00\x00\x00\x10", "PRIORITY.", "RFC 9113 §6.3.", testcase.Gets)

	row("data", "DATA", "these octets come too early", "DATA before a head.", state, testcase.Fails)
	row("continuation", "CONTINUATION", "", "CONTINUATION without HEADERS.", "RFC 9113 §6.10.", testcase.Fails)
	row("push", "PUSH_PROMISE", "\x00\x00\x00\x02\x82\x84\x87", "PUSH_PROMISE, which the client has not allowed.", "RFC 9113 §6.6, §8.4.", testcase.Fails)
	row("block", "HEADERS", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "a header block that cannot be decoded.", "RFC 9113 §4.3: an error of the connection.", testcase.Fails)
	row("window-0", "WINDOW_UPDATE", "\x00\x00\x00\x00", "WINDOW_UPDATE with 0.", "RFC 9113 §6.9.", testcase.Fails)
	row("window-2-31", "WINDOW_UPDATE", "\x7f\xff\xff\xff", "WINDOW_UPDATE that makes a window larger than 2^31-1.", "RFC 9113 §6.9.1.", testcase.Fails)
	row("large", "DATA", strings.Repeat("a", 1<<20), "a frame of 1 MiB, which the client has not allowed.", size, testcase.Fails)
	for kind, octets := range map[string]string{"SETTINGS": "12345", "PING": "123", "GOAWAY": "12", "WINDOW_UPDATE": "123", "RST_STREAM": "123", "PRIORITY": "1234"} {
		row("short-"+nameOf(kind), kind, octets, kind+" of a wrong size.", size, testcase.Fails)
	}
	return sortedBehaviors(all)
}

// floods are answers without end, and heads that are large.
func floods() (all []testcase.Behavior) {
	const rfc = "RFC 9113 §10.5: a peer that lets the other one work without end; "
	row := func(name, does, source string, waits bool, faults ...testserver.Fault) {
		all = append(all, testcase.Behavior{Name: name, Acts: testcase.Always(faults...), Waits: waits, Does: does, Source: source})
	}
	for kind, source := range map[string]string{
		"CONTINUATION": "CVE-2023-45288 (Go), CVE-2024-27316 (Apache).", "DATA": "CVE-2019-9518.", "HEADERS": early, "PING": "CVE-2019-9512.",
		"RST_STREAM": "CVE-2019-9514.", "SETTINGS": "CVE-2019-9515.", "WINDOW_UPDATE": "CVE-2024-27983 and others.",
	} {
		row("flood-"+nameOf(kind), "instead of %s frames of the type "+kind+" come without end.", rfc+source, true, webtest.Flood(kind))
	}
	row("head-endless", "the head of %s has fields without end.", rfc+"CVE-2023-45288 (Go).", true, webtest.EndlessHeaders())
	row("head-bomb", "the head of %s has 10 KiB, and 10 MiB when it is decoded.", "RFC 7541 §7.3; CVE-2016-6581 (hpack of Python).", false, webtest.HeaderBomb(10<<20))
	return sortedBehaviors(all)
}

// fieldFaults are heads that are malformed.
func fieldBehaviors() (all []testcase.Behavior) {
	row := func(name, field, value, does, source string) {
		all = append(all, testcase.Behavior{Name: "field-" + name, Acts: testcase.Always(webtest.Header(field, value)), Does: does, Source: source})
	}
	const pseudo = "RFC 9113 §8.3.2: a response has one pseudo-header field, :status."
	const valid = "RFC 9113 §8.2.1: octets that a field must not have."
	row("status-word", ":status", "OK", "the status of %s is a word.", pseudo)
	row("status-short", ":status", "20", "the status of %s is 20.", pseudo)
	row("status-101", ":status", "101", "the status of %s is 101.", "RFC 9113 §8.6: there is no 101.")
	row("path", ":path", "/", "%s has a :path.", pseudo)
	row("unknown", ":unknown", "x", "%s has a pseudo-header field that is not registered.", pseudo)
	row("lines", "X-Name", "a\r\nX-Evil: b", "%s has a field with a line end in it.", valid)
	row("nul", "X-Name", "a\x00b", "%s has a field with NUL.", valid)
	row("space", "X Name", "a", "%s has a name of a field with a space in it.", valid)
	for name, value := range map[string]string{"word": "many", "negative": "-1", "plus": "+500", "list": "500, 1000", "wraps": "18446744073709552116"} {
		row("length-"+name, "Content-Length", value, "the Content-Length of %s is \""+value+"\".", malformed)
	}
	return sortedBehaviors(all)
}

// onceCases are requests that are not processed, and are sent again by careful clients.
func onceCases(method string) (all []testcase.Named) {
	row := func(name, does string, faults ...testserver.Fault) {
		all = append(all, testcase.Named{Name: "once/" + name, Does: does, Source: notProcessed, Gets: true, Set: func(r *testcase.Run) {
			r.Arm(serve(r), method, 1, faults...)
		}})
	}
	row("refused-stream", "The first stream is reset with REFUSED_STREAM; the next one is fine.", webtest.ResetStream(-1, "REFUSED_STREAM"))
	row("goaway", "The first answer is GOAWAY, which says that the request was not processed; the next connection is fine.", webtest.GoAway(0, "NO_ERROR"))
	return all
}

// http2Statuses are responses whose body is not the document.
func http2Statuses() (all []testcase.Named) {
	for _, status := range []int{206, 304, 403, 404, 500, 503} {
		should := unlessTold
		if status < 400 {
			should = ""
		}
		all = append(all, testcase.Named{Name: fmt.Sprint("status/", status), Does: fmt.Sprintf("The response is %d.", status), Source: "RFC 9110 §15: what a status means.", Should: should, Set: func(r *testcase.Run) {
			body := errorPage
			if status == http.StatusNotModified {
				body = ""
			}
			r.Arm(serve(r), "GET", 0, webtest.Status(status), testserver.Data(body))
		}})
	}
	return all
}

// http2Redirects are documents that have moved, and logins.
func http2Redirects() []testcase.Named {
	moved := func(name, does, location string, gets bool) testcase.Named {
		return redirected(name, does, "RFC 9110 §15.4.", gets, http.StatusFound, func(*testcase.Run, *webtest.Server) string { return location })
	}
	return []testcase.Named{
		moved("path", "The document has moved to another path.", "/pub/new.bin", true),
		moved("loop", "The Location is the same URL.", "/pub/file.bin", false),
		redirected("login-http", "A document with a login has moved to a server without TLS.", "CVE-2018-18074 (requests): a login that is sent in the clear after a redirect.", false, http.StatusFound,
			func(r *testcase.Run, _ *webtest.Server) string {
				return otherServer(r, "127.0.0.1").URL + "/pub/file.bin"
			}, requireLogin),
		{Name: "login/basic", Does: "The server requires a login.", Source: "RFC 7617.", Gets: true, Set: func(r *testcase.Run) {
			serve(r, requireLogin)
			r.Client.Login()
		}},
	}
}

// http2Refusals are responses to PUT that say that the document was not stored.
func http2Refusals() (all []testcase.Behavior) {
	for _, f := range refusals() {
		if !strings.Contains(f.Name, "continue") && f.Name != "many-103" { // they are made of two heads
			all = append(all, f)
		}
	}
	return all
}

// http2Acceptances are responses to PUT after which the document is at the server. Libraries differ
// about a 204 with a Content-Length.
func http2Acceptances() []testcase.Behavior {
	all := acceptances()
	for i := range all {
		if all[i].Name == "stored-204" {
			all[i].Acts = testcase.Always(webtest.Status(http.StatusNoContent), webtest.ContentLength(-1))
		}
	}
	return append(all, testcase.Behavior{
		Name: "stored-204-length", Acts: testcase.Always(webtest.Status(http.StatusNoContent), webtest.ContentLength(8)),
		Does: "the server stores the document, and %s is 204 with a Content-Length of 8.", Source: "RFC 9113 §8.1.1 allows it, RFC 9110 §8.6 does not.",
	})
}

// http2Uploads are uploads whose server is slow, or answers early.
func http2Uploads() []testcase.Named {
	row := func(name, does, source string, gets, waits bool, size int64, at string, faults ...testserver.Fault) testcase.Named {
		return testcase.Named{Name: name, Does: does, Source: source, Gets: gets, Waits: waits, Set: func(r *testcase.Run) {
			r.Goal.Size = size
			r.Arm(serve(r), at, 0, faults...)
		}}
	}
	reply := func(status int) testserver.Fault {
		return testserver.Reply(fmt.Sprintf("HTTP/1.1 %d %s\nContent-Length: 0\n", status, http.StatusText(status)))
	}
	const large = 2 << 20
	const whole = "RFC 9113 §8.1: a complete response, then RST_STREAM with NO_ERROR."
	return []testcase.Named{
		row("large", "The server stores a document of 2 MiB, and 103 comes before its response.", early, true, false, large, "PUT", webtest.Interim(http.StatusEarlyHints)),
		// Each byte takes a round trip: 1,000 of them may last longer on a busy machine than a client waits.
		row("window/1", "The window of each request is 1 byte at first.", flow, true, false, 200, "CONNECT", webtest.Setting("INITIAL_WINDOW_SIZE", 1)),
		row("window/1000", "The window of each request is 1000 bytes at first.", flow, true, false, 300_001, "CONNECT", webtest.Setting("INITIAL_WINDOW_SIZE", 1000)),
		row("window/0", "The window of each request is 0, and is not opened.", flow, false, true, 1000, "CONNECT", webtest.Setting("INITIAL_WINDOW_SIZE", 0)),
		row("window/never", "The window of the request is not opened, so that 65,535 bytes are sent.", flow, false, true, 300_001, "PUT", webtest.NoWindow()),
		row("early/201", "The server replies 201 before it has read the document of 2 MiB, and does not read it.", whole, false, false, large, "PUT", reply(201)),
		row("early/413", "The server replies 413 before it has read the document of 2 MiB, and does not read it.", whole, false, false, large, "PUT", reply(413)),
		row("early/reset", "The stream is reset with NO_ERROR before the server has read the document of 2 MiB.", streamEnds, false, false, large, "PUT", webtest.ResetStream(-1, "NO_ERROR")),
		row("early/refused", "The stream is reset with REFUSED_STREAM before the server has read the document of 2 MiB, each time.", notProcessed, false, false, large, "PUT", webtest.ResetStream(-1, "REFUSED_STREAM")),
		row("early/close", "The server closes while the client sends a document of 2 MiB.", testcase.TCPEnds, false, false, large, "PUT", testserver.Close()),
		{Name: "too-large", Does: "The server reads half of the document, and replies 413.", Source: "RFC 9110 §15.5.14.", Set: func(r *testcase.Run) {
			r.Goal.Size = 300_001
			serve(r, func(w *webtest.Server) { w.MaxUpload = 150_000 })
		}},
		{Name: "login/basic", Does: "The server requires a login.", Source: "RFC 7617.", Gets: true, Set: func(r *testcase.Run) {
			serve(r, requireLogin)
			r.Client.Login()
		}},
		{Name: "redirect/308", Does: "The URL has moved, and the status is 308.", Source: "RFC 9110 §15.4.9.", Set: func(r *testcase.Run) {
			srv := serve(r, func(w *webtest.Server) {
				w.Redirects = map[string]webtest.Redirect{"/incoming/new.bin": {Location: "/incoming/moved.bin", Status: http.StatusPermanentRedirect}}
			})
			r.Goal.Stored = func() ([]byte, error) { return fs.ReadFile(srv.Files(), "incoming/moved.bin") }
		}},
	}
}
