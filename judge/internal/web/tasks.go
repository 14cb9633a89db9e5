package web

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/judge/internal/scene"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// otherServer starts a server that the password is not for; it has the document.
func otherServer(s *scene.Stage, host string, configure ...func(*webtest.Server)) *webtest.Server {
	srv, err := webtest.Start(s.Ctx, host+":0", append(configure, oldHTTP)...)
	s.Check(err)
	s.Foreign = append(s.Foreign, &srv.Server)
	s.Check(srv.Put("pub/file.bin", s.Document))
	s.Check(srv.Put("incoming/readme.txt", nil))
	return srv
}

// requireLogin lets a server require a login.
func requireLogin(w *webtest.Server) { w.Users = scene.Users() }

// redirected returns a case of a document that has moved from the URL to where a function says.
// With locked, the URL has a login.
func redirected(name, does, source string, gets bool, status int, where func(*scene.Stage, *webtest.Server) string, configure ...func(*webtest.Server)) scene.Named {
	return scene.Named{Name: "redirect/" + name, Does: does, Source: source, Gets: gets, Set: func(s *scene.Stage) {
		srv := servePage(s, configure...)
		if srv.Users != nil {
			s.Login()
		}
		s.Put(srv, "pub/new.bin", s.Document)
		s.Arm(srv, "GET /pub/file.bin", 0, webtest.RedirectTo(where(s, srv), status))
	}}
}

// acceptError lets the page of an error count as an error: what a client does with those is shown
// by the cases of statuses.
func acceptError(s *scene.Stage) {
	document := s.Same
	s.Same = func(got, want []byte) bool {
		return document(got, want) || string(got) == errorPage || len(got) < 30 && bytes.HasSuffix(got, []byte("\n"))
	}
}

// redirectCases are documents that have moved.
func redirectCases() []scene.Named {
	const rfc = "RFC 9110 §15.4: redirects; RFC 3986 §5: relative references."
	to := func(location string) func(*scene.Stage, *webtest.Server) string {
		return func(*scene.Stage, *webtest.Server) string { return location }
	}
	row := func(name, does, location string, gets bool) scene.Named {
		return redirected(name, does, rfc, gets, 302, to(location))
	}
	all := []scene.Named{
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
		row("very-long", "The Location has 1 MiB.", "/pub/new.bin?"+scene.LongLine(), false),
		row("loop", "The Location is the same URL.", "/pub/file.bin", false),
		redirected("absolute", "The Location is a whole URL.", rfc, true, 302, func(_ *scene.Stage, srv *webtest.Server) string { return srv.URL + "/pub/new.bin" }),
		redirected("no-scheme", "The Location has no scheme, but a host.", rfc, true, 302, func(_ *scene.Stage, srv *webtest.Server) string { return "//" + srv.Addr + "/pub/new.bin" }),
		redirected("user-info", "The Location has another user.", rfc, false, 302, func(_ *scene.Stage, srv *webtest.Server) string {
			return "http://other:user@" + srv.Addr + "/pub/new.bin"
		}),
	}
	for _, status := range []int{301, 303, 307, 308} {
		all = append(all, redirected(fmt.Sprint("status-", status), fmt.Sprintf("The document has moved, and the status is %d.", status), rfc, true, status, to("new.bin")))
	}
	return append(append(all, chainCases()...), awayCases()...)
}

// chainCases are redirects after redirects, and broken ones.
func chainCases() []scene.Named {
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
	first := func(*scene.Stage, *webtest.Server) string { return "/hop/0" }
	back := func(w *webtest.Server) {
		w.Redirects = map[string]webtest.Redirect{"/hop/0": {Location: "/pub/file.bin"}}
	}
	return []scene.Named{
		redirected("hops-4", "Five redirects follow each other.", rfc, true, 302, first, hops(3)),
		redirected("hops-100", "A hundred redirects follow each other.", rfc, false, 302, first, hops(98)),
		redirected("loop-two", "Two redirects lead to each other.", rfc, false, 302, first, back),
		answered("redirect/no-location", "The response is 302 with a page, and there is no Location.", rfc, false, "HTTP/1.1 302 Found\nContent-Length: 61\n\n"+errorPage),
		answered("redirect/two-locations", "The response is 302 with two Locations.", "RFC 9110 §5.3.", false, "HTTP/1.1 302 Found\nLocation: /pub/a.bin\nLocation: /pub/b.bin\nContent-Length: 0\n\n"),
		{Name: "redirect/cut", Does: "The body of the redirect is cut.", Source: partial, Set: func(s *scene.Stage) {
			srv := servePage(s)
			s.Put(srv, "pub/new.bin", []byte(page()))
			s.Arm(srv, "GET /pub/file.bin", 0, exactly("HTTP/1.1 302 Found\nLocation: /pub/new.bin\nContent-Length: 1000\n\n"+errorPage)...)
		}},
	}
}

// awayCases are redirects to another server, and to what is no HTTP.
func awayCases() []scene.Named {
	const kept = "CVE-2018-1000007 (curl), CVE-2021-31879 (wget): the login is for the first host only."
	file := func(format string) func(*scene.Stage, *webtest.Server) string {
		return func(s *scene.Stage, _ *webtest.Server) string {
			return strings.ReplaceAll(format, "{canary}", s.Path("canary"))
		}
	}
	spy := func(scheme, path, says string) func(*scene.Stage, *webtest.Server) string {
		return func(s *scene.Stage, _ *webtest.Server) string {
			return fmt.Sprintf("%s://127.0.0.1:%d/%s", scheme, s.SpyAt("127.0.0.1:0", says, "the password to another server").Port(), path)
		}
	}
	document := func(host string, configure ...func(*webtest.Server)) func(*scene.Stage, *webtest.Server) string {
		return func(s *scene.Stage, _ *webtest.Server) string {
			return otherServer(s, host, configure...).URL + "/pub/file.bin"
		}
	}
	local := "CVE-2009-0037 (curl), CVE-2011-1521 (Python): redirects to files of the client."
	again := func(s *scene.Stage, srv *webtest.Server) string {
		other := otherServer(s, scene.Another)
		s.Arm(&other.Server, "GET", 0, webtest.RedirectTo(srv.URL+"/pub/new.bin", 302))
		return other.URL + "/pub/file.bin"
	}
	all := []scene.Named{
		redirected("file", "The document has moved to a file of the client.", local, false, 302, file("file://{canary}/bird")),
		redirected("file-localhost", "The document has moved to a file of the client.", local, false, 302, file("file://localhost{canary}/bird")),
		redirected("file-upper-case", "The document has moved to a file of the client, with the scheme FILE.", local, false, 302, file("FILE:{canary}/bird")),
		redirected("ftp", "A document with a login has moved to an FTP server.", kept, false, 302, spy("ftp", "pub/file.bin", "220 Hello.\r\n"), requireLogin),
		redirected("gopher", "A document with a login has moved to a gopher server.", "CVE-2026-49129 (MPD): redirects to other schemes.", false, 302, spy("gopher", "9pub/file.bin", page()), requireLogin),
		redirected("telnet", "The document has moved to a telnet server.", "CVE-2026-49129 (MPD): redirects to other schemes.", false, 302, spy("telnet", "", "login: "), requireLogin),
		redirected("host", "The document has moved to another host.", "RFC 9110 §15.4.", true, 302, document(scene.Another)),
		redirected("host-no-scheme", "The document has moved to another host; the Location has no scheme.", "RFC 3986 §4.2.", true, 302, func(s *scene.Stage, srv *webtest.Server) string {
			return strings.TrimPrefix(document(scene.Another)(s, srv), "http:")
		}),
		redirected("login-host", "A document with a login has moved to another host.", kept, true, 302, document(scene.Another), requireLogin),
		redirected("login-host-308", "A document with a login has moved to another host for ever.", kept, true, 308, document(scene.Another), requireLogin),
		redirected("login-port", "A document with a login has moved to another port of the host.", "CVE-2022-27774 (curl): the login is for the first port only.", true, 302, document("127.0.0.1"), requireLogin),
		redirected("login-demanded", "A document with a login has moved to another host, which demands one, too.", kept, false, 302, document(scene.Another, func(w *webtest.Server) {
			w.Users = map[string]testserver.User{scene.User: {Password: "another"}}
		}), requireLogin),
		redirected("login-back", "A document with a login has moved to another host, and from there back.", "CVE-2024-45336 (Go): the login comes back after a chain.", false, 302, again, requireLogin),
		redirected("login-path", "A document with a login has moved to another path of the server.", "RFC 9110 §15.4.", true, 302, func(*scene.Stage, *webtest.Server) string { return "/pub/new.bin" }, requireLogin),
	}
	for i := range all {
		if strings.Contains(all[i].Name, "/login-") && !all[i].Gets {
			set := all[i].Set
			all[i].Should = "It does not send the login to the other host; it ends with an error or its page, or with the whole document."
			all[i].Set = func(s *scene.Stage) { set(s); acceptError(s) }
		}
	}
	return all
}

// loginCases are about the login.
func loginCases() []scene.Named {
	demand := func(name, does string, gets bool, fields string) scene.Named {
		return scene.Named{Name: "login/" + name, Does: does, Source: "RFC 9110 §11, RFC 7617.", Gets: gets, Set: func(s *scene.Stage) {
			srv := servePage(s)
			s.Login()
			acceptError(s)
			s.Arm(srv, "REQUEST", 0, exactly("HTTP/1.1 401 Unauthorized\n"+fields+"Content-Length: 61\n\n"+errorPage)...)
		}}
	}
	other := func(w *webtest.Server) { w.Users = map[string]testserver.User{scene.User: {Password: "another"}} }
	with := func(name, does string, gets bool, configure func(*webtest.Server)) scene.Named {
		return scene.Named{Name: "login/" + name, Does: does, Source: "RFC 7617.", Gets: gets, Set: func(s *scene.Stage) {
			servePage(s, configure)
			s.Login()
			acceptError(s)
		}}
	}
	return []scene.Named{
		with("basic", "The server requires a login.", true, requireLogin),
		with("wrong", "The server refuses the login with 401, each time.", false, other),
		demand("no-demand", "The response is 401 without WWW-Authenticate, each time.", false, ""),
		demand("unknown", "The server demands a login of a kind that is not registered.", false, "WWW-Authenticate: X-Secret realm=\"lab\"\n"),
		demand("digest", "The server demands a login with Digest, which lacks the nonce.", false, "WWW-Authenticate: Digest realm=\"lab\"\n"),
		demand("many", "The server demands a thousand kinds of login.", false, strings.Repeat("WWW-Authenticate: Basic realm=\"lab\", Digest realm=\"lab\", nonce=\"1\"\n", 500)),
		demand("long", "The realm of the login has 100 KiB.", false, "WWW-Authenticate: Basic realm=\""+strings.Repeat("x", 100<<10)+"\"\n"),
		{Name: "login/proxy", Does: "The server demands a login for a proxy, although the client uses no proxy.", Source: "RFC 9110 §15.5.8.", Set: func(s *scene.Stage) {
			srv := servePage(s)
			s.Login()
			acceptError(s)
			s.Arm(srv, "REQUEST", 0, exactly("HTTP/1.1 407 Proxy Authentication Required\nProxy-Authenticate: Basic realm=\"lab\"\nContent-Length: 61\n\n"+errorPage)...)
		}},
	}
}

// restCases are about the rest of a document, of which the client has half.
func restCases() []scene.Named {
	const ignored = "RFC 9110 §14.2: a server may ignore Range."
	simple := func(name, does, source string, gets bool, faults ...testserver.Fault) scene.Named {
		return scene.Named{Name: name, Does: does, Source: source, Gets: gets, Set: func(s *scene.Stage) {
			s.Arm(servePage(s, func(w *webtest.Server) { w.NoRanges = true }), "GET", 0, faults...)
		}}
	}
	// changed has another version of a length at the server.
	changed := func(name, does string, length int) scene.Named {
		return scene.Named{Name: "changed/" + name, Does: does, Source: "RFC 9110 §13.1.5: If-Range; a client without the version compares the end of what it has.",
			Should: "It ends with an error, or with the whole new document.", Set: func(s *scene.Stage) {
				srv := servePage(s)
				now := bytes.ToUpper([]byte(page() + page())[:length])
				s.Same = func(got, _ []byte) bool { return bytes.Equal(got, now) }
				s.Put(srv, "pub/file.bin", now)
			}}
	}
	answer := func(name, does, source string, text string) scene.Named {
		return answered(name, does, source, false, text)
	}
	return []scene.Named{
		simple("ignored", "The server ignores Range, and sends 200 with the whole document.", ignored, true, testserver.Split(700)),
		simple("ignored-cut", "The server ignores Range, sends 200, and the connection is closed after 300 bytes.", ignored, false, testserver.Truncate(300)),
		simple("ignored-cut-later", "The server ignores Range, sends 200, and the connection is closed after 700 bytes.", ignored, false, testserver.Truncate(700)),
		simple("ignored-chunked", "The server ignores Range, and sends 200 with the whole document in chunks.", ignored, true, webtest.Chunked()),
		simple("ignored-content-range", "The server sends 200 with the whole document and a Content-Range of the rest.", "RFC 9110 §14.4: Content-Range has no meaning in a 200.", false, webtest.Header("Content-Range", "bytes 500-999/1000")),
		{Name: "complete", Gets: true, Does: "The client has the whole document, and the server replies 416.", Source: "RFC 9110 §15.5.17.", Set: func(s *scene.Stage) {
			s.Begun = len(page())
			servePage(s)
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
		redirected("moved", "The document has moved to another path.", "RFC 9110 §15.4.", true, 302, func(*scene.Stage, *webtest.Server) string { return "/pub/new.bin" }),
	}
}

// putCases are uploads.
func putCases() []scene.Named {
	with := func(name, does, source string, gets bool, size int64, configure func(*webtest.Server)) scene.Named {
		return scene.Named{Name: name, Does: does, Source: source, Gets: gets, Set: func(s *scene.Stage) {
			s.Size = size
			if srv := serve(s, configure); srv.Users != nil {
				s.Login()
			}
		}}
	}
	moved := func(status int, location string) func(*webtest.Server) {
		return func(w *webtest.Server) {
			w.Redirects = map[string]webtest.Redirect{"/incoming/new.bin": {Location: location, Status: status}}
		}
	}
	// elsewhere has the URL that the upload moves from.
	elsewhere := func(name, does string, status int) scene.Named {
		return scene.Named{Name: "redirect/" + name, Does: does, Source: "RFC 9110 §15.4.", Set: func(s *scene.Stage) {
			srv := serve(s, moved(status, "/incoming/moved.bin"))
			s.Stored = func() ([]byte, error) { return fs.ReadFile(srv.Files(), "incoming/moved.bin") }
		}}
	}
	return append([]scene.Named{
		with("empty", "The document is empty.", "RFC 9110 §9.3.4.", true, 0, nil),
		with("large", "The document has 2 MiB, for which clients may wait for 100.", "RFC 9110 §10.1.1: Expect.", true, 2<<20, nil),
		with("too-large", "The server reads half of the document, and replies 413.", "RFC 9110 §15.5.14.", false, 300_001, func(w *webtest.Server) { w.MaxUpload = 150_000 }),
		with("read-only", "The server refuses all uploads with 405.", "RFC 9110 §15.5.6.", false, 1000, func(w *webtest.Server) { w.ReadOnly = true }),
		with("login", "The server requires a login.", "RFC 7617.", true, 1000, requireLogin),
		with("login-missing", "The server requires a login, and the client has a wrong one.", "RFC 7617.", false, 1000, func(w *webtest.Server) {
			w.Users = map[string]testserver.User{scene.User: {Password: "another"}}
		}),
		with("read-rights", "The login may read only.", "RFC 9110 §15.5.4.", false, 1000, func(w *webtest.Server) {
			w.Users = map[string]testserver.User{scene.User: {Password: scene.Password, Deny: testserver.Write}}
		}),
		elsewhere("307", "The URL has moved, and the status is 307.", http.StatusTemporaryRedirect),
		elsewhere("308", "The URL has moved, and the status is 308.", http.StatusPermanentRedirect),
		elsewhere("302", "The URL has moved, and the status is 302.", http.StatusFound),
		elsewhere("301", "The URL has moved, and the status is 301.", http.StatusMovedPermanently),
		{Name: "redirect/login-host", Does: "A URL with a login has moved to another host, and the status is 307.", Source: "CVE-2018-1000007 (curl), CVE-2021-31879 (wget): the login is for the first host only.", Set: func(s *scene.Stage) {
			srv := serve(s, requireLogin)
			s.Login()
			other := otherServer(s, scene.Another)
			s.Stored = func() ([]byte, error) { return fs.ReadFile(other.Files(), "incoming/new.bin") }
			s.Arm(srv, "PUT", 0, webtest.RedirectTo(other.URL+"/incoming/new.bin", http.StatusTemporaryRedirect))
		}},
	}, earlyPutCases()...)
}

// earlyPutCases are uploads to which the server replies before it has read the document, which is
// more than the buffers of the connection hold.
func earlyPutCases() []scene.Named {
	const megabytes = 24 << 20
	return []scene.Named{
		{Name: "created-early", Does: "The server replies 201 before it has read the document of 24 MiB, reads 1 MiB of it, and closes.", Source: "RFC 9112 §9.6; servers that do not look how much they have.", Set: func(s *scene.Stage) {
			s.Size = megabytes
			s.Arm(serve(s), "PUT", 0, testserver.Reply("HTTP/1.1 201 Created\nContent-Length: 0\nConnection: close\n"))
		}},
		{Name: "refused-early", Does: "The server replies 413 before it has read the document of 24 MiB, reads 1 MiB of it, and closes.", Source: "RFC 9110 §15.5.14.", Set: func(s *scene.Stage) {
			s.Size = megabytes
			s.Arm(serve(s), "PUT", 0, testserver.Reply("HTTP/1.1 413 Content Too Large\nContent-Length: 0\nConnection: close\n"))
		}},
		{Name: "closed-early", Does: "The server closes while the client sends a document of 24 MiB.", Source: scene.TCPEnds, Set: func(s *scene.Stage) {
			s.Size = megabytes
			s.Arm(serve(s), "PUT", 0, testserver.Close())
		}},
		{Name: "expectation", Does: "The first response is 417; without Expect the server stores the document.", Source: "RFC 9110 §10.1.1: a client repeats the request without Expect.", Set: func(s *scene.Stage) {
			s.Size = 2 << 20
			s.Arm(serve(s), "PUT", 1, testserver.Reply("HTTP/1.1 417 Expectation Failed\nContent-Length: 0\nConnection: close\n"))
		}},
	}
}
