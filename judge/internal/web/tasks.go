package web

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// otherServer starts a server that the password is not for; it has the document.
func otherServer(r *testcase.Run, host string, configure ...func(*webtest.Server)) *webtest.Server {
	srv, err := webtest.Start(r.Ctx, host+":0", append(configure, oldHTTP)...)
	testcase.Check(err)
	r.Never.Foreign = append(r.Never.Foreign, &srv.Server)
	testcase.Check(srv.Put("pub/file.bin", r.Goal.Document))
	testcase.Check(srv.Put("incoming/readme.txt", nil))
	return srv
}

// requireLogin lets a server require a login.
func requireLogin(w *webtest.Server) { w.Users = testcase.Users() }

// redirected returns a case of a document that has moved from the URL to where a function says.
// With locked, the URL has a login.
func redirected(name, does, source string, gets bool, status int, where func(*testcase.Run, *webtest.Server) string, configure ...func(*webtest.Server)) testcase.Named {
	return testcase.Named{Name: "redirect/" + name, Does: does, Source: source, Gets: gets, Set: func(r *testcase.Run) {
		srv := servePage(r, configure...)
		if srv.Users != nil {
			r.Client.Login()
		}
		testcase.Put(srv, "pub/new.bin", r.Goal.Document)
		r.Arm(srv, "GET /pub/file.bin", 0, webtest.RedirectTo(where(r, srv), status))
	}}
}

// acceptError lets the page of an error count as an error: what a client does with those is shown
// by the cases of statuses.
func acceptError(r *testcase.Run) {
	document := r.Goal.Same
	r.Goal.Same = func(got, want []byte) bool {
		return document(got, want) || string(got) == errorPage || len(got) < 30 && bytes.HasSuffix(got, []byte("\n"))
	}
}

// redirectCases are documents that have moved.
func redirectCases() []testcase.Named {
	const rfc = "RFC 9110 §15.4: redirects; RFC 3986 §5: relative references."
	to := func(location string) func(*testcase.Run, *webtest.Server) string {
		return func(*testcase.Run, *webtest.Server) string { return location }
	}
	row := func(name, does, location string, gets bool) testcase.Named {
		return redirected(name, does, rfc, gets, 302, to(location))
	}
	all := []testcase.Named{
		row("relative", "The Location is the name of another file.", "new.bin", true),
		row("dots", "The Location has dot segments.", "../a/./../pub/new.bin", true),
		row("path", "The Location is a path.", "/pub/new.bin", true),
		row("query", "The Location has a query.", "/pub/new.bin?a=b", true),
		row("fragment", "The Location has a fragment.", "/pub/new.bin#part", true),
		row("empty", "The Location is empty.", "", false),
		row("space", "The Location has a space in it.", "/pub/new.bin?a b", false),
		row("not-ascii", "The Location has bytes that are not ASCII.", "/pub/new.bin?caf\xe9", false),
		row("lone-cr", "The Location has a CR in it.", "/pub/new.bin\rSet-Cookie: a=b", false),
		row("escaped-lines", "The Location has escaped line ends with a header line behind them.", "/pub/new.bin?%0D%0AX-Evil:%201", true),
		row("scheme-unknown", "The Location has a scheme that is not registered.", "x-other://127.0.0.1/pub/new.bin", false),
		row("scheme-data", "The Location is a data URL.", "data:text/plain,evil", false),
		row("scheme-javascript", "The Location is a javascript URL.", "javascript:alert(1)", false),
		row("no-host", "The Location has no host.", "http:///pub/new.bin", false),
		row("bad-port", "The port of the Location is 99999.", "http://127.0.0.1:99999/pub/new.bin", false),
		row("long", "The Location has 8 KiB.", "/pub/new.bin?"+strings.Repeat("a", 8<<10), true),
		row("very-long", "The Location has 1 MiB.", "/pub/new.bin?"+testcase.LongLine(), false),
		row("loop", "The Location is the same URL.", "/pub/file.bin", false),
		redirected("absolute", "The Location is a whole URL.", rfc, true, 302, func(_ *testcase.Run, srv *webtest.Server) string { return srv.URL + "/pub/new.bin" }),
		redirected("no-scheme", "The Location has no scheme, but a host.", rfc, true, 302, func(_ *testcase.Run, srv *webtest.Server) string { return "//" + srv.Addr + "/pub/new.bin" }),
		redirected("user-info", "The Location has another user.", rfc, false, 302, func(_ *testcase.Run, srv *webtest.Server) string {
			return "http://other:user@" + srv.Addr + "/pub/new.bin"
		}),
	}
	for _, status := range []int{301, 303, 307, 308} {
		all = append(all, redirected(fmt.Sprint("status-", status), fmt.Sprintf("The document has moved, and the status is %d.", status), rfc, true, status, to("new.bin")))
	}
	return append(append(all, chainCases()...), awayCases()...)
}

// chainCases are redirects after redirects, and broken ones.
func chainCases() []testcase.Named {
	const rfc = "RFC 9110 §15.4: a client should detect loops."
	hops := func(n int) func(*webtest.Server) {
		return func(w *webtest.Server) {
			w.Redirects = make(map[string]webtest.Redirect)
			for i := range n {
				w.Redirects[fmt.Sprintf("/hop/%d", i)] = webtest.Redirect{Location: fmt.Sprintf("/hop/%d", i+1)}
			}
			w.Redirects[fmt.Sprintf("/hop/%d", n)] = webtest.Redirect{Location: "/pub/new.bin"}
		}
	}
	first := func(*testcase.Run, *webtest.Server) string { return "/hop/0" }
	back := func(w *webtest.Server) {
		w.Redirects = map[string]webtest.Redirect{"/hop/0": {Location: "/pub/file.bin"}}
	}
	return []testcase.Named{
		redirected("hops-4", "Five redirects follow each other.", rfc, true, 302, first, hops(3)),
		redirected("hops-100", "A hundred redirects follow each other.", rfc, false, 302, first, hops(98)),
		redirected("loop-two", "Two redirects lead to each other.", rfc, false, 302, first, back),
		answered("redirect/no-location", "The response is 302 with a page, and there is no Location.", rfc, false, "HTTP/1.1 302 Found\nContent-Length: 61\n\n"+errorPage),
		answered("redirect/two-locations", "The response is 302 with two Locations.", "RFC 9110 §5.3.", false, "HTTP/1.1 302 Found\nLocation: /pub/a.bin\nLocation: /pub/b.bin\nContent-Length: 0\n\n"),
		{Name: "redirect/cut", Does: "The body of the redirect is cut.", Source: partial, Set: func(r *testcase.Run) {
			srv := servePage(r)
			testcase.Put(srv, "pub/new.bin", []byte(page()))
			r.Arm(srv, "GET /pub/file.bin", 0, exactly("HTTP/1.1 302 Found\nLocation: /pub/new.bin\nContent-Length: 1000\n\n"+errorPage)...)
		}},
	}
}

// awayCases are redirects to another server, and to what is no HTTP.
func awayCases() []testcase.Named {
	const kept = "CVE-2018-1000007 (curl), CVE-2021-31879 (wget): the login is for the first host only."
	file := func(format string) func(*testcase.Run, *webtest.Server) string {
		return func(r *testcase.Run, _ *webtest.Server) string {
			return strings.ReplaceAll(format, "{canary}", r.Client.Path("canary"))
		}
	}
	observed := func(scheme, path, says string) func(*testcase.Run, *webtest.Server) string {
		return func(r *testcase.Run, _ *webtest.Server) string {
			return fmt.Sprintf("%s://127.0.0.1:%d/%s", scheme, r.Observe("127.0.0.1:0", says, "the password to another server"), path)
		}
	}
	document := func(host string, configure ...func(*webtest.Server)) func(*testcase.Run, *webtest.Server) string {
		return func(r *testcase.Run, _ *webtest.Server) string {
			return otherServer(r, host, configure...).URL + "/pub/file.bin"
		}
	}
	local := "CVE-2009-0037 (curl), CVE-2011-1521 (Python): redirects to files of the client."
	again := func(r *testcase.Run, srv *webtest.Server) string {
		other := otherServer(r, testcase.Another)
		r.Arm(&other.Server, "GET", 0, webtest.RedirectTo(srv.URL+"/pub/new.bin", 302))
		return other.URL + "/pub/file.bin"
	}
	all := []testcase.Named{
		redirected("file", "The document has moved to a file of the client.", local, false, 302, file("file://{canary}/bird")),
		redirected("file-localhost", "The document has moved to a file of the client.", local, false, 302, file("file://localhost{canary}/bird")),
		redirected("file-upper-case", "The document has moved to a file of the client, with the scheme FILE.", local, false, 302, file("FILE:{canary}/bird")),
		redirected("ftp", "A document with a login has moved to an FTP server.", kept, false, 302, observed("ftp", "pub/file.bin", "220 Hello.\r\n"), requireLogin),
		redirected("gopher", "A document with a login has moved to a gopher server.", "CVE-2026-49129 (MPD): redirects to other schemes.", false, 302, observed("gopher", "9pub/file.bin", page()), requireLogin),
		redirected("telnet", "The document has moved to a telnet server.", "CVE-2026-49129 (MPD): redirects to other schemes.", false, 302, observed("telnet", "", "login: "), requireLogin),
		redirected("host", "The document has moved to another host.", "RFC 9110 §15.4.", true, 302, document(testcase.Another)),
		redirected("host-no-scheme", "The document has moved to another host; the Location has no scheme.", "RFC 3986 §4.2.", true, 302, func(r *testcase.Run, srv *webtest.Server) string {
			return strings.TrimPrefix(document(testcase.Another)(r, srv), "http:")
		}),
		redirected("login-host", "A document with a login has moved to another host.", kept, true, 302, document(testcase.Another), requireLogin),
		redirected("login-host-308", "A document with a login has moved to another host for ever.", kept, true, 308, document(testcase.Another), requireLogin),
		redirected("login-port", "A document with a login has moved to another port of the host.", "CVE-2022-27774 (curl): the login is for the first port only.", true, 302, document("127.0.0.1"), requireLogin),
		redirected("login-demanded", "A document with a login has moved to another host, which demands one, too.", kept, false, 302, document(testcase.Another, func(w *webtest.Server) {
			w.Users = map[string]testserver.User{testcase.User: {Password: "another"}}
		}), requireLogin),
		redirected("login-back", "A document with a login has moved to another host, and from there back.", "CVE-2024-45336 (Go): the login comes back after a chain.", false, 302, again, requireLogin),
		redirected("login-path", "A document with a login has moved to another path of the server.", "RFC 9110 §15.4.", true, 302, func(*testcase.Run, *webtest.Server) string { return "/pub/new.bin" }, requireLogin),
	}
	for i := range all {
		if strings.Contains(all[i].Name, "/login-") && !all[i].Gets {
			set := all[i].Set
			all[i].Should = "It does not send the login to the other host; it ends with an error or its page, or with the whole document."
			all[i].Set = func(r *testcase.Run) { set(r); acceptError(r) }
		}
	}
	return all
}

// loginCases are about the login.
func loginCases() []testcase.Named {
	demand := func(name, does string, gets bool, fields string) testcase.Named {
		return testcase.Named{Name: "login/" + name, Does: does, Source: "RFC 9110 §11, RFC 7617.", Gets: gets, Set: func(r *testcase.Run) {
			srv := servePage(r)
			r.Client.Login()
			acceptError(r)
			r.Arm(srv, "REQUEST", 0, exactly("HTTP/1.1 401 Unauthorized\n"+fields+"Content-Length: 61\n\n"+errorPage)...)
		}}
	}
	other := func(w *webtest.Server) { w.Users = map[string]testserver.User{testcase.User: {Password: "another"}} }
	with := func(name, does string, gets bool, configure func(*webtest.Server)) testcase.Named {
		return testcase.Named{Name: "login/" + name, Does: does, Source: "RFC 7617.", Gets: gets, Set: func(r *testcase.Run) {
			servePage(r, configure)
			r.Client.Login()
			acceptError(r)
		}}
	}
	return []testcase.Named{
		with("basic", "The server requires a login.", true, requireLogin),
		with("wrong", "The server refuses the login with 401, each time.", false, other),
		demand("no-demand", "The response is 401 without WWW-Authenticate, each time.", false, ""),
		demand("unknown", "The server demands a login of a kind that is not registered.", false, "WWW-Authenticate: X-Secret realm=\"lab\"\n"),
		demand("digest", "The server demands a login with Digest, which lacks the nonce.", false, "WWW-Authenticate: Digest realm=\"lab\"\n"),
		demand("many", "The server demands a thousand kinds of login.", false, strings.Repeat("WWW-Authenticate: Basic realm=\"lab\", Digest realm=\"lab\", nonce=\"1\"\n", 500)),
		demand("long", "The realm of the login has 100 KiB.", false, "WWW-Authenticate: Basic realm=\""+strings.Repeat("x", 100<<10)+"\"\n"),
		{Name: "login/proxy", Does: "The server demands a login for a proxy, although the client uses no proxy.", Source: "RFC 9110 §15.5.8.", Set: func(r *testcase.Run) {
			srv := servePage(r)
			r.Client.Login()
			acceptError(r)
			r.Arm(srv, "REQUEST", 0, exactly("HTTP/1.1 407 Proxy Authentication Required\nProxy-Authenticate: Basic realm=\"lab\"\nContent-Length: 61\n\n"+errorPage)...)
		}},
	}
}

// restCases are about the rest of a document, of which the client has half.
func restCases() []testcase.Named {
	const ignored = "RFC 9110 §14.2: a server may ignore Range."
	simple := func(name, does, source string, gets bool, faults ...testserver.Fault) testcase.Named {
		return testcase.Named{Name: name, Does: does, Source: source, Gets: gets, Set: func(r *testcase.Run) {
			r.Arm(servePage(r, func(w *webtest.Server) { w.NoRanges = true }), "GET", 0, faults...)
		}}
	}
	// changed has another version of a length at the server.
	changed := func(name, does string, length int) testcase.Named {
		return testcase.Named{Name: "changed/" + name, Does: does, Source: "RFC 9110 §13.1.5: If-Range; a client without the version compares the end of what it has.",
			Should: "It ends with an error, or with the whole new document.", Set: func(r *testcase.Run) {
				srv := servePage(r)
				now := bytes.ToUpper([]byte(page() + page())[:length])
				r.Goal.Begins, r.Goal.Document = r.Goal.Document[:r.Goal.Begun], now
				testcase.Put(srv, "pub/file.bin", now)
			}}
	}
	answer := func(name, does, source string, text string) testcase.Named {
		return answered(name, does, source, false, text)
	}
	return []testcase.Named{
		simple("ignored", "The server ignores Range, and sends 200 with the whole document.", ignored, true, testserver.Split(700)),
		simple("ignored-cut", "The server ignores Range, sends 200, and the connection is closed after 300 bytes.", ignored, false, testserver.Truncate(300)),
		simple("ignored-cut-later", "The server ignores Range, sends 200, and the connection is closed after 700 bytes.", ignored, false, testserver.Truncate(700)),
		simple("ignored-chunked", "The server ignores Range, and sends 200 with the whole document in chunks.", ignored, true, webtest.Chunked()),
		simple("ignored-content-range", "The server sends 200 with the whole document and a Content-Range of the rest.", "RFC 9110 §14.4: Content-Range has no meaning in a 200.", false, webtest.Header("Content-Range", "bytes 500-999/1000")),
		{Name: "complete", Gets: true, Does: "The client has the whole document, and the server replies 416.", Source: "RFC 9110 §15.5.17.", Set: func(r *testcase.Run) {
			r.Goal.Begun = len(page())
			servePage(r)
		}},
		changed("same-length", "The document is another one, of the same length.", 1000),
		changed("longer", "The document is another one, and longer.", 1300),
		changed("shorter", "The document is another one, and shorter, but longer than what the client has.", 700),
		changed("too-short", "The document is another one, and shorter than what the client has.", 300),
		answer("unsatisfied", "The response is 416, although the document has more bytes; the length is right.", "RFC 9110 §15.5.17.", "HTTP/1.1 416 Range Not Satisfiable\nContent-Range: bytes */1000\nContent-Length: 0\n\n"),
		answer("unsatisfied-shorter", "The response is 416, and the length is less than what the client has.", "RFC 9110 §15.5.17.", "HTTP/1.1 416 Range Not Satisfiable\nContent-Range: bytes */400\nContent-Length: 0\n\n"),
		answer("unsatisfied-no-length", "The response is 416 without a length.", "RFC 9110 §15.5.17.", "HTTP/1.1 416 Range Not Satisfiable\nContent-Length: 61\n\n"+errorPage),
		answer("multipart", "The response has the rest as one part of many.", "RFC 9110 §15.3.7.2: not for one range.", multipartOf(500, 1000)),
		answer("not-modified", "The response is 304.", "RFC 9110 §15.4.5.", "HTTP/1.1 304 Not Modified\n\n"),
		answer("no-content", "The response is 204.", "RFC 9110 §15.3.5.", "HTTP/1.1 204 No Content\n\n"),
		answer("not-found", "The response is 404 with an error page.", "RFC 9110 §15.5.5.", "HTTP/1.1 404 Not Found\nContent-Length: 61\n\n"+errorPage),
		answer("precondition", "The response is 412.", "RFC 9110 §15.5.13.", "HTTP/1.1 412 Precondition Failed\nContent-Length: 61\n\n"+errorPage),
		answer("unavailable", "The response is 500 with an error page.", "RFC 9110 §15.6.1.", "HTTP/1.1 500 Internal Server Error\nContent-Length: 61\n\n"+errorPage),
		redirected("moved", "The document has moved to another path.", "RFC 9110 §15.4.", true, 302, func(*testcase.Run, *webtest.Server) string { return "/pub/new.bin" }),
	}
}

// putCases are uploads.
func putCases() []testcase.Named {
	with := func(name, does, source string, gets bool, size int64, configure func(*webtest.Server)) testcase.Named {
		return testcase.Named{Name: name, Does: does, Source: source, Gets: gets, Set: func(r *testcase.Run) {
			r.Goal.Size = size
			if srv := serve(r, configure); srv.Users != nil {
				r.Client.Login()
			}
		}}
	}
	moved := func(status int, location string) func(*webtest.Server) {
		return func(w *webtest.Server) {
			w.Redirects = map[string]webtest.Redirect{"/incoming/new.bin": {Location: location, Status: status}}
		}
	}
	// elsewhere has the URL that the upload moves from.
	elsewhere := func(name, does string, status int) testcase.Named {
		return testcase.Named{Name: "redirect/" + name, Does: does, Source: "RFC 9110 §15.4.", Set: func(r *testcase.Run) {
			srv := serve(r, moved(status, "/incoming/moved.bin"))
			r.Goal.Stored = func() ([]byte, error) { return fs.ReadFile(srv.Files(), "incoming/moved.bin") }
		}}
	}
	return append([]testcase.Named{
		with("empty", "The document is empty.", "RFC 9110 §9.3.4.", true, 0, nil),
		with("large", "The document has 2 MiB, for which clients may wait for 100.", "RFC 9110 §10.1.1: Expect.", true, 2<<20, nil),
		with("too-large", "The server reads half of the document, and replies 413.", "RFC 9110 §15.5.14.", false, 300_001, func(w *webtest.Server) { w.MaxUpload = 150_000 }),
		with("read-only", "The server refuses all uploads with 405.", "RFC 9110 §15.5.6.", false, 1000, func(w *webtest.Server) { w.ReadOnly = true }),
		with("login", "The server requires a login.", "RFC 7617.", true, 1000, requireLogin),
		with("login-missing", "The server requires a login, and the client has a wrong one.", "RFC 7617.", false, 1000, func(w *webtest.Server) {
			w.Users = map[string]testserver.User{testcase.User: {Password: "another"}}
		}),
		with("read-rights", "The login may read only.", "RFC 9110 §15.5.4.", false, 1000, func(w *webtest.Server) {
			w.Users = map[string]testserver.User{testcase.User: {Password: testcase.Password, Deny: testserver.Write}}
		}),
		elsewhere("307", "The URL has moved, and the status is 307.", http.StatusTemporaryRedirect),
		elsewhere("308", "The URL has moved, and the status is 308.", http.StatusPermanentRedirect),
		elsewhere("302", "The URL has moved, and the status is 302.", http.StatusFound),
		elsewhere("301", "The URL has moved, and the status is 301.", http.StatusMovedPermanently),
		{Name: "redirect/login-host", Does: "A URL with a login has moved to another host, and the status is 307.", Source: "CVE-2018-1000007 (curl), CVE-2021-31879 (wget): the login is for the first host only.", Set: func(r *testcase.Run) {
			srv := serve(r, requireLogin)
			r.Client.Login()
			other := otherServer(r, testcase.Another)
			r.Goal.Stored = func() ([]byte, error) { return fs.ReadFile(other.Files(), "incoming/new.bin") }
			r.Arm(srv, "PUT", 0, webtest.RedirectTo(other.URL+"/incoming/new.bin", http.StatusTemporaryRedirect))
		}},
	}, earlyPutCases()...)
}

// earlyPutCases are uploads to which the server replies before it has read the document, which is
// more than the buffers of the connection hold.
func earlyPutCases() []testcase.Named {
	const megabytes = 24 << 20
	return []testcase.Named{
		{Name: "created-early", Does: "The server replies 201 before it has read the document of 24 MiB, reads 1 MiB of it, and closes.", Source: "RFC 9112 §9.6; servers that do not look how much they have.", Set: func(r *testcase.Run) {
			r.Goal.Size = megabytes
			r.Arm(serve(r), "PUT", 0, testserver.Reply("HTTP/1.1 201 Created\nContent-Length: 0\nConnection: close\n"))
		}},
		{Name: "refused-early", Does: "The server replies 413 before it has read the document of 24 MiB, reads 1 MiB of it, and closes.", Source: "RFC 9110 §15.5.14.", Set: func(r *testcase.Run) {
			r.Goal.Size = megabytes
			r.Arm(serve(r), "PUT", 0, testserver.Reply("HTTP/1.1 413 Content Too Large\nContent-Length: 0\nConnection: close\n"))
		}},
		{Name: "closed-early", Does: "The server closes while the client sends a document of 24 MiB.", Source: testcase.TCPEnds, Set: func(r *testcase.Run) {
			r.Goal.Size = megabytes
			r.Arm(serve(r), "PUT", 0, testserver.Close())
		}},
		{Name: "expectation", Does: "The first response is 417; without Expect the server stores the document.", Source: "RFC 9110 §10.1.1: a client repeats the request without Expect.", Set: func(r *testcase.Run) {
			r.Goal.Size = 2 << 20
			r.Arm(serve(r), "PUT", 1, testserver.Reply("HTTP/1.1 417 Expectation Failed\nContent-Length: 0\nConnection: close\n"))
		}},
	}
}
