package web

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// namedCases are the cases of HTTP that are not constructed.
func namedCases() map[testcase.Task][]testcase.Named {
	return map[testcase.Task][]testcase.Named{
		testcase.Download: slices.Concat(answeredBy(lengths), answeredBy(chunks), codingCases(), headCases(), statusCases(), dispositionCases(), redirectCases(), loginCases()),
		testcase.Resume:   restCases(),
		testcase.Upload:   putCases(),
	}
}

// page is a document without line ends, so that a fault Reply can have it.
func page() string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	text := testcase.Octets(1000)
	for i, b := range text {
		text[i] = letters[int(b)%len(letters)]
	}
	return string(text)
}

// servePage starts an HTTP server whose document is page.
func servePage(r *testcase.Run, configure ...func(*webtest.Server)) *webtest.Server {
	r.Goal.Document = []byte(page())
	return serve(r, configure...)
}

// exactly returns faults that send octets and close. Each LF is sent as CR LF.
func exactly(text string) []testserver.Fault {
	return []testserver.Fault{testserver.Reply(text), testserver.Truncate(int64(len(text) + strings.Count(text, "\n")))}
}

// codingCases are about Content-Encoding that no client has asked for. A client that keeps the
// coding gives the octets as they came; one that decodes gives the document.
func codingCases() []testcase.Named {
	row := func(name, does, coding string, parts func() (document, body []byte)) testcase.Named {
		return testcase.Named{Name: "coding/" + name, Does: does, Source: "RFC 9110 §8.4: Content-Encoding; CVE-2023-0475 (go-getter): what expands.",
			Should: "It ends with an error, or gives the decoded document, or the octets as they came.", Set: func(r *testcase.Run) {
				var body []byte
				r.Goal.Document, body = parts()
				srv := serve(r)
				r.Goal.Same = func(got, want []byte) bool { return bytes.Equal(got, want) || bytes.Equal(got, body) }
				r.Arm(srv, "GET", 0, testserver.Data(string(body)), webtest.Header("Content-Encoding", coding))
			}}
	}
	packed := func(change func(packed []byte) []byte) func() (document, body []byte) {
		return func() (document, body []byte) { return []byte(page()), change(zipped([]byte(page()))) }
	}
	return []testcase.Named{
		row("gzip", "The body is compressed with gzip.", "gzip", packed(slices.Clone)),
		row("gzip-cut", "The body has the first half of what gzip made.", "gzip", packed(func(b []byte) []byte { return b[:len(b)/2] })),
		row("gzip-no-end", "The body lacks the checksum of gzip.", "gzip", packed(func(b []byte) []byte { return b[:len(b)-8] })),
		row("gzip-checksum", "The checksum of gzip in the body is wrong.", "gzip", func() (document, body []byte) {
			b := zipped([]byte(page()))
			b = append(b[:len(b)-8], bytes.Repeat([]byte{7}, 8)...)
			return b, b // what is decoded of it is not right
		}),
		row("gzip-more", "Other bytes follow what gzip made.", "gzip", packed(func(b []byte) []byte { return append(b, "garbage behind it"...) })),
		row("gzip-twice", "The body is compressed twice.", "gzip, gzip", packed(zipped)),
		row("gzip-not", "The body is not compressed, but Content-Encoding is gzip.", "gzip", packed(func([]byte) []byte { return []byte(page()) })),
		row("gzip-bomb", "The body has 30 KiB, and expands to 30 MiB.", "gzip", func() (document, body []byte) {
			bomb := make([]byte, 30<<20)
			return bomb, zipped(bomb)
		}),
		row("unknown", "The body has a content coding that is not registered.", "x-secret", packed(func([]byte) []byte { return []byte(page()) })),
	}
}

func zipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

const lengthField = "\nContent-Length: 1000"

// headCases are about the status line and the header.
func headCases() []testcase.Named { return append(answeredBy(heads), fieldCases()...) }

// fieldCases are further ones about the fields of the header.
func fieldCases() []testcase.Named {
	return []testcase.Named{
		bareLF(),
		{Name: "head/alone", Waits: true, Does: "The response comes when there is another client, which does not come.", Source: "A server whose workers wait for each other.", Set: func(r *testcase.Run) {
			srv := servePage(r)
			r.Arm(srv, "REQUEST", 0, testserver.Gather(2))
			r.Seen = func() bool { return len(srv.Transcript()) > 0 }
		}},
		endlessHeader("endless", "A header has 1 MiB, and the connection is closed.", false, testserver.Truncate(1<<20)),
		endlessHeader("endless-slow", "A header has no end, and comes slowly.", true, testserver.Drip(400, 20*time.Millisecond)),
		{Name: "head/kept-open", Gets: true, Waits: true, Does: "The connection stays open after the body.", Source: framing, Set: func(r *testcase.Run) {
			text := "HTTP/1.1 200 OK" + lengthField + "\n\n" + page()
			r.Arm(servePage(r), "REQUEST", 0, testserver.Reply(text), testserver.Drip(len(text)+strings.Count(text, "\n"), time.Hour))
		}},
	}
}

// endlessHeader returns a case of EndlessHeaders with a limit.
func endlessHeader(name, does string, waits bool, limit testserver.Fault) testcase.Named {
	return testcase.Named{Name: "head/" + name, Does: does, Source: "CVE-2023-38039 (curl): headers without an end.", Waits: waits, Set: func(r *testcase.Run) {
		srv := servePage(r)
		r.Arm(srv, "GET", 0, webtest.EndlessHeaders())
		r.Arm(srv, "CONNECT", 0, limit)
	}}
}

// bareLF returns a case of a head whose lines end in LF: each CR is overwritten by a space.
func bareLF() testcase.Named {
	const head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
	return testcase.Named{Name: "head/bare-lf", Gets: true, Does: "The lines of the head end in LF.", Source: "RFC 9112 §2.2: a recipient may take LF for a line end.", Set: func(r *testcase.Run) {
		faults := exactly(strings.ReplaceAll(head, "\r\n", "\n") + page())
		faults = append(faults, testserver.Garble(0, "HTTP/1.1 200 OK \nContent-Length: 1000  \n\n"))
		r.Arm(servePage(r), "REQUEST", 0, faults...)
	}}
}

// errorPage is what servers send with an error.
const errorPage = "<html><title>Error</title><p>The page cannot be shown.</html>"

// statusCases are responses whose body is not the document.
func statusCases() (all []testcase.Named) {
	row := func(status int, should, does, fields, body string) {
		all = append(all, testcase.Named{Name: fmt.Sprint("status/", status), Does: does, Source: "RFC 9110 §15: what a status means.", Should: should, Set: func(r *testcase.Run) {
			r.Arm(servePage(r), "REQUEST", 0, exactly(fmt.Sprintf("HTTP/1.1 %d %s\n%sContent-Length: %d\n\n%s", status, http.StatusText(status), fields, len(body), body))...)
		}})
	}
	for _, status := range []int{401, 403, 404, 500, 502} {
		row(status, unlessTold, fmt.Sprintf("The response is %d with an error page.", status), "", errorPage)
	}
	row(503, "It ends with an error, or tries again later.", "The response is 503 with an error page and Retry-After.", "Retry-After: 3600\n", errorPage)
	row(206, "", "The response is a 206 with half of the document, although no range was requested.", "Content-Range: bytes 0-499/1000\n", page()[:500])
	row(300, "It ends with an error: the page is not the document.", "The response is 300 with a page of choices.", "", errorPage)
	row(304, "It ends with an error: it has not asked for changes only.", "The response is 304, although the request has no condition.", "", "")
	row(416, "It ends with an error: it has not asked for a range.", "The response is 416, although no range was requested.", "Content-Range: bytes */1000\n", "")
	all = append(all,
		testcase.Named{Name: "status/204-body", Does: "The response is 204, and bytes follow it.", Source: "RFC 9112 §6.3: a 204 has no body.", Should: "It ends with an error, or with an empty document.", Set: func(r *testcase.Run) {
			srv := servePage(r)
			r.Goal.Document = []byte{}
			r.Arm(srv, "REQUEST", 0, exactly("HTTP/1.1 204 No Content\nContent-Length: 1000\n\n"+page())...)
		}},
		answered("status/304-body", "The response is 304, although the request has no condition, and bytes follow it.", "RFC 9112 §6.3: a 304 has no body.", false, "HTTP/1.1 304 Not Modified\nContent-Length: 1000\n\n"+errorPage),
		answered("status/multipart", "The response is a 206 with many parts, although no range was requested.", "RFC 9110 §15.3.7.", false, multipartOf(0, 500)),
	)
	return all
}

// multipartOf returns a response with one part of page in multipart/byteranges.
func multipartOf(first, end int) string {
	return "HTTP/1.1 206 Partial Content\nContent-Type: multipart/byteranges; boundary=edge\n\n" +
		fmt.Sprintf("--edge\nContent-Type: text/plain\nContent-Range: bytes %d-%d/1000\n\n%s\n--edge--\n", first, end-1, page()[first:end])
}

// dispositionCases are names that the server gives the document. The document is right.
func dispositionCases() (all []testcase.Named) {
	row := func(name, file string) {
		all = append(all, testcase.Named{Name: "disposition/" + name, Gets: true, Does: "Content-Disposition has the name " + file + ".",
			Source: "RFC 6266 §4.3; CVE-2010-3842 (curl), CVE-2016-4971 (wget): names that a server chooses.",
			Should: "It fetches the document, and writes nothing outside of its folder.", Set: func(r *testcase.Run) {
				name := strings.ReplaceAll(file, "{canary}", r.Client.Path("canary"))
				r.Arm(servePage(r), "GET", 0, webtest.Header("Content-Disposition", "attachment; filename="+name))
			}})
	}
	row("parent", `"../../../canary/bird"`)
	row("absolute", `"{canary}/bird"`)
	row("backslash", `"..\\..\\..\\canary\\bird"`)
	row("escaped", `x; filename*=UTF-8''..%2F..%2F..%2Fcanary%2Fbird`)
	row("dots", `".."`)
	row("home", `".bashrc"`)
	row("nul", `"a%00b"`)
	return all
}
