package web

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/scene"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// namedCases are the cases of HTTP that are not constructed.
func namedCases() map[scene.Task][]scene.Named {
	return map[scene.Task][]scene.Named{
		scene.Download: slices.Concat(lengthCases(), chunkCases(), codingCases(), headCases(), statusCases(), dispositionCases(), redirectCases(), loginCases()),
		scene.Resume:   restCases(),
		scene.Upload:   putCases(),
	}
}

// page is a document without line ends, so that a fault Reply can have it.
func page() string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	text := scene.Octets(1000)
	for i, b := range text {
		text[i] = letters[int(b)%len(letters)]
	}
	return string(text)
}

// servePage starts an HTTP server whose document is page.
func servePage(s *scene.Stage, configure ...func(*webtest.Server)) *webtest.Server {
	s.Document = []byte(page())
	return serve(s, configure...)
}

// exactly returns faults that send octets and close. Each LF is sent as CR LF.
func exactly(text string) []testserver.Fault {
	return []testserver.Fault{testserver.Reply(text), testserver.Truncate(int64(len(text) + strings.Count(text, "\n")))}
}

// answered returns a case in which these octets are the response to each request; an LF is sent as
// CR LF.
func answered(name, does, source string, gets bool, text string) scene.Named {
	return scene.Named{Name: name, Does: does, Source: source, Gets: gets, Set: func(s *scene.Stage) {
		s.Arm(servePage(s), "REQUEST", 0, exactly(text)...)
	}}
}

// headed returns a case with a head and page for a body.
func headed(name, does, source string, gets bool, head string) scene.Named {
	return answered(name, does, source, gets, head+"\n\n"+page())
}

// withFields returns a case with fields of the header and page for a body.
func withFields(name, does, source string, gets bool, fields string) scene.Named {
	return headed(name, does, source, gets, "HTTP/1.1 200 OK\n"+fields)
}

// lengthCases are about Content-Length. Each sends the 1000 bytes of the document.
func lengthCases() []scene.Named {
	row := func(name, does string, values ...string) scene.Named {
		return withFields("length/"+name, does, framing, false, "Content-Length: "+strings.Join(values, "\nContent-Length: "))
	}
	return []scene.Named{
		row("two-first", "There are two Content-Length, 500 and 1000.", "500", "1000"),
		row("two-last", "There are two Content-Length, 1000 and 500.", "1000", "500"),
		row("two-same", "There are two Content-Length, both 1000.", "1000", "1000"),
		row("list-same", "Content-Length is \"1000, 1000\".", "1000, 1000"),
		row("list", "Content-Length is \"500, 1000\".", "500, 1000"),
		row("negative", "Content-Length is -1.", "-1"),
		row("plus", "Content-Length is +500.", "+500"),
		row("hexadecimal", "Content-Length is 0x1f4.", "0x1f4"),
		row("fraction", "Content-Length is 500.5.", "500.5"),
		row("exponent", "Content-Length is 1e3.", "1e3"),
		row("unit", "Content-Length is \"500 bytes\".", "500 bytes"),
		row("word", "Content-Length is a word.", "many"),
		row("empty", "Content-Length is empty.", ""),
		row("huge", "Content-Length is 2^63.", "9223372036854775808"),
		row("wraps-32", "Content-Length is 2^32 and 500.", "4294967796"),
		row("wraps-64", "Content-Length is 2^64 and 500.", "18446744073709552116"),
		row("long", "Content-Length has 5000 digits.", strings.Repeat("9", 5000)),
		withFields("length/zeros", "Content-Length is 1000 with zeros before it.", "RFC 9110 §8.6: digits.", true, "Content-Length: 00001000"),
		withFields("length/and-chunked", "Content-Length is 1000, and Transfer-Encoding is chunked, but there are no chunks.", framing, false, "Content-Length: 1000\nTransfer-Encoding: chunked"),
		withFields("length/missing-kept", "There is no Content-Length, and Connection is keep-alive.", framing, true, "Connection: keep-alive"),
	}
}

// chunkCases are about Transfer-Encoding.
func chunkCases() []scene.Named {
	const rfc = "RFC 9112 §7.1: chunked coding."
	const head = "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n"
	all := "3e8\n" + page() + "\n"
	row := func(name, does, source string, gets bool, body string) scene.Named {
		return answered("chunk/"+name, does, source, gets, head+body)
	}
	// size has the first half in a chunk of its own; then comes the size.
	size := func(name, does, source, line string) scene.Named {
		return row(name, does, source, false, "1f4\n"+page()[:500]+"\n"+line+"\n"+page()[500:]+"\n0\n\n")
	}
	return []scene.Named{
		row("upper-case", "The size of the chunk is 3E8.", rfc, true, "3E8\n"+page()+"\n0\n\n"),
		row("zeros", "The size of the chunk has zeros before it.", rfc, true, "00003e8\n"+page()+"\n0\n\n"),
		row("extension", "The chunk has an extension.", rfc, true, "3e8;name=value\n"+page()+"\n0\n\n"),
		row("bytes", "Each byte is a chunk.", rfc, true, chunksOfOne(page())+"0\n\n"),
		row("trailer", "Trailer fields follow the chunks.", "RFC 9112 §7.1.2.", true, all+"0\nX-Check: 1\nX-More: 2\n\n"),
		row("long-trailer", "Trailer fields of 1 MiB follow the chunks.", "RFC 9112 §7.1.2.", false, all+"0\n"+strings.Repeat("X-Check: "+strings.Repeat("x", 91)+"\n", 10_000)+"\n"),
		row("long-extension", "A chunk has an extension of 1 MiB.", "CVE-2023-39326 (Go): chunk extensions.", false, "3e8;"+scene.LongLine()+"\n"+page()+"\n0\n\n"),
		row("no-end", "The last chunk is missing.", partial, false, all),
		row("no-final-line", "The empty line after the last chunk is missing.", partial, false, all+"0\n"),
		row("cut-in-chunk", "The only chunk has half of its bytes.", partial, false, "3e8\n"+page()[:500]),
		row("cut-in-size", "The connection is closed within the size of the second chunk.", partial, false, "1f4\n"+page()[:500]+"\n1"),
		row("no-line-end", "There is no line end after the data of the chunk.", rfc, false, "1f4\n"+page()[:500]+"1f4\n"+page()[500:]+"\n0\n\n"),
		row("shorter", "A chunk has more bytes than its size.", rfc, false, "1f4\n"+page()+"\n0\n\n"),
		row("no-chunks", "The body has no chunks.", rfc, false, page()),
		size("negative", "The size of the second chunk is -1.", "CVE-2017-13089 (wget): negative chunk sizes.", "-1"),
		size("negative-zero", "The size of the second chunk is -0.", rfc, "-0"),
		size("prefix", "The size of the second chunk is 0x1f4.", rfc, "0x1f4"),
		size("word", "The size of the second chunk is a word.", rfc, "xyz"),
		size("empty", "The size of the second chunk is missing.", rfc, ""),
		size("space", "The size of the second chunk has a space in it.", rfc, "1 f4"),
		size("maximum", "The size of the second chunk is 2^63-1.", "CVE-2017-13089 (wget): chunk sizes that become negative.", "7fffffffffffffff"),
		size("all-ones", "The size of the second chunk is 2^64-1.", "CVE-2017-13089 (wget): chunk sizes that become negative.", "ffffffffffffffff"),
		size("wraps", "The size of the second chunk is 2^64.", "RFC 9112 §7.1: a recipient must prevent overflow.", "10000000000000000"),
		coded("two-framings", "There are Content-Length, which is wrong, and chunks.", "Content-Length: 500\nTransfer-Encoding: chunked", all+"0\n\n"),
		coded("two-framings-same", "There are Content-Length, which is right, and chunks.", "Content-Length: 1000\nTransfer-Encoding: chunked", all+"0\n\n"),
		coded("twice", "Transfer-Encoding is \"chunked, chunked\", and the body has chunks once.", "Transfer-Encoding: chunked, chunked", all+"0\n\n"),
		coded("two-fields", "There are two Transfer-Encoding, chunked and identity.", "Transfer-Encoding: chunked\nTransfer-Encoding: identity", all+"0\n\n"),
		coded("unknown", "The body has a transfer coding that is not registered.", "Transfer-Encoding: x-secret", strings.ToUpper(page())),
		coded("unknown-chunked", "The body has a transfer coding that is not registered, and comes in chunks.", "Transfer-Encoding: x-secret, chunked", "3e8\n"+strings.ToUpper(page())+"\n0\n\n"),
		coded("not-last", "Transfer-Encoding is \"chunked, x-secret\".", "Transfer-Encoding: chunked, x-secret", all+"0\n\n"),
		answered("chunk/version-1.0", "A response of HTTP/1.0 comes in chunks.", "RFC 9112 §6.1: its framing is faulty.", false, "HTTP/1.0 200 OK\nTransfer-Encoding: chunked\n\n"+all+"0\n\n"),
	}
}

// coded returns a case of a transfer coding.
func coded(name, does, fields, body string) scene.Named {
	return answered("chunk/"+name, does, "RFC 9112 §6.1 and §6.3: Transfer-Encoding.", false, "HTTP/1.1 200 OK\n"+fields+"\n\n"+body)
}

// chunksOfOne returns a text in chunks of one byte, with lines that end in LF.
func chunksOfOne(text string) string {
	var all strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&all, "1\n%c\n", text[i])
	}
	return all.String()
}

// codingCases are about Content-Encoding that no client has asked for. A client that keeps the
// coding gives the octets as they came; one that decodes gives the document.
func codingCases() []scene.Named {
	row := func(name, does, coding string, parts func() (document, body []byte)) scene.Named {
		return scene.Named{Name: "coding/" + name, Does: does, Source: "RFC 9110 §8.4: Content-Encoding; CVE-2023-0475 (go-getter): what expands.",
			Should: "It ends with an error, or gives the decoded document, or the octets as they came.", Set: func(s *scene.Stage) {
				var body []byte
				s.Document, body = parts()
				srv := serve(s)
				s.Same = func(got, want []byte) bool { return bytes.Equal(got, want) || bytes.Equal(got, body) }
				s.Arm(srv, "GET", 0, testserver.Data(string(body)), webtest.Header("Content-Encoding", coding))
			}}
	}
	packed := func(change func(packed []byte) []byte) func() (document, body []byte) {
		return func() (document, body []byte) { return []byte(page()), change(zipped([]byte(page()))) }
	}
	return []scene.Named{
		row("gzip", "The body is compressed with gzip.", "gzip", packed(slices.Clone)),
		row("gzip-cut", "The body has the first half of what gzip made.", "gzip", packed(func(b []byte) []byte { return b[:len(b)/2] })),
		row("gzip-no-end", "The body lacks the checksum of gzip.", "gzip", packed(func(b []byte) []byte { return b[:len(b)-8] })),
		row("gzip-checksum", "The checksum of gzip in the body is wrong.", "gzip", func() (document, body []byte) {
			b := zipped([]byte(page()))
			return []byte("(none)"), append(b[:len(b)-8], bytes.Repeat([]byte{7}, 8)...)
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
func headCases() []scene.Named { return slices.Concat(lineCases(), earlyCases(), fieldCases()) }

// lineCases are about the status line.
func lineCases() []scene.Named {
	line := func(name, does string, gets bool, status string) scene.Named {
		return headed("line/"+name, does, "RFC 9112 §4: the status line.", gets, status+lengthField)
	}
	return []scene.Named{
		answered("line/version-0.9", "The document comes without a head.", "RFC 1945 §4.1: a Simple-Response of HTTP/0.9.", false, page()),
		line("version-1.0", "The response is one of HTTP/1.0.", true, "HTTP/1.0 200 OK"),
		line("version-1.10", "The version is HTTP/1.10.", false, "HTTP/1.10 200 OK"),
		line("version-2", "The version is HTTP/2.0.", false, "HTTP/2.0 200 OK"),
		line("version-none", "The version is HTTP/.", false, "HTTP/ 200 OK"),
		line("lower-case", "The version is http/1.1.", false, "http/1.1 200 OK"),
		line("icy", "The status line begins with ICY.", false, "ICY 200 OK"),
		line("no-reason", "The status line ends after the status and a space.", true, "HTTP/1.1 200 "),
		line("no-space", "The status line ends after the status.", false, "HTTP/1.1 200"),
		line("two-spaces", "Two spaces are before the status.", false, "HTTP/1.1  200 OK"),
		line("tab", "A tab is before the status.", false, "HTTP/1.1\t200 OK"),
		line("two-digits", "The status is 20.", false, "HTTP/1.1 20 OK"),
		line("four-digits", "The status is 2000.", false, "HTTP/1.1 2000 OK"),
		line("letters", "The status is OK.", false, "HTTP/1.1 OK"),
		line("negative", "The status is -200.", false, "HTTP/1.1 -200 OK"),
		line("zero", "The status is 000.", false, "HTTP/1.1 000 Zero"),
		line("nine", "The status is 999.", false, "HTTP/1.1 999 What"),
		line("nul", "A NUL is in the reason.", false, "HTTP/1.1 200 O\x00K"),
		line("long", "The reason has 1 MiB.", false, "HTTP/1.1 200 "+scene.LongLine()),
		line("empty-line-before", "An empty line is before the status line.", false, "\nHTTP/1.1 200 OK"),
	}
}

// earlyCases are responses before the response.
func earlyCases() []scene.Named {
	const early = "RFC 9110 §15.2: any number of 1xx responses may come before the final one."
	const ok = "HTTP/1.1 200 OK" + lengthField
	return []scene.Named{
		headed("early/103", "Five 103 come before the response.", early, true, strings.Repeat("HTTP/1.1 103 Early Hints\nLink: </style.css>\n\n", 5)+ok),
		headed("early/100", "A 100 that was not expected comes before the response.", early, true, "HTTP/1.1 100 Continue\n\n"+ok),
		headed("early/199", "A 199 comes before the response.", early, false, "HTTP/1.1 199 Odd\n\n"+ok),
		headed("early/101", "A 101 that was not requested comes before the response.", "RFC 9110 §15.2.2.", false, "HTTP/1.1 101 Switching Protocols\nUpgrade: other\nConnection: Upgrade\n\n"+ok),
		answered("early/many", "Ten thousand 100 come, and the connection is closed.", "CVE-2021-3737 (Python): 100 without an end.", false, strings.Repeat("HTTP/1.1 100 Continue\n\n", 10_000)),
	}
}

// fieldCases are about the fields of the header.
func fieldCases() []scene.Named {
	const fields = "RFC 9112 §5: fields."
	field := func(name, does, source string, gets bool, fields string) scene.Named {
		return withFields("head/"+name, does, source, gets, fields+lengthField)
	}
	return []scene.Named{
		field("no-colon", "A line of the header has no colon.", fields, false, "this is no field"),
		field("no-name", "A field has no name.", fields, false, ": value"),
		field("nul", "A NUL is in a field.", "RFC 9110 §5.5.", false, "X-Name: a\x00b"),
		field("latin-1", "A field has a byte of Latin-1.", "RFC 9110 §5.5: obs-text.", true, "X-Name: caf\xe9"),
		field("escape", "A field has an escape sequence of terminals.", "CVE-2004-1488 (wget).", false, "X-Name: \x1b[2J"),
		field("folded", "A field has two lines.", "RFC 9112 §5.2: obs-fold; a client must accept it.", true, "X-Name: a\n b"),
		field("lone-cr", "A CR is in a field.", "RFC 9112 §2.2.", false, "X-Name: a\rX-Other: b"),
		withFields("head/folded-length", "Content-Length is in the second line of its field.", "RFC 9112 §5.2: obs-fold.", false, "Content-Length:\n 1000"),
		withFields("head/space", "A space is before the colon of Content-Length.", "RFC 9112 §5.1; CVE-2019-16276 (Go).", false, "Content-Length : 1000"),
		field("long-line", "A field has 1 MiB.", "CVE-2013-1752 (Python): lines without a limit.", false, "X-Name: "+scene.LongLine()),
		field("long-name", "The name of a field has 1 MiB.", "CVE-2013-1752 (Python): lines without a limit.", false, scene.LongLine()+": x"),
		field("many-fields", "There are 10,000 fields.", "CVE-2023-38039 (curl): headers without an end.", false, strings.Repeat("X-Name: value\n", 10_000)+"X-Last: 1"),
		field("many-cookies", "There are 1,000 cookies.", "CVE-2022-32205 (curl).", false, strings.Repeat("Set-Cookie: a=b\n", 1000)+"X-Last: 1"),
		field("cookie-elsewhere", "A cookie is for another domain.", "RFC 6265 §5.3: a client ignores it.", true, "Set-Cookie: a=b; Domain=example.com"),
		field("location", "A response with status 200 has a Location.", "RFC 9110 §10.2.2.", true, "Location: /no/such/file"),
		field("connection", "Connection lists Content-Length.", "RFC 9110 §7.6.1.", false, "Connection: close, Content-Length"),
		bareLF(),
		{Name: "head/alone", Waits: true, Does: "The response comes when there is another client, which does not come.", Source: "A server whose workers wait for each other.", Set: func(s *scene.Stage) {
			srv := servePage(s)
			s.Arm(srv, "REQUEST", 0, testserver.Gather(2))
			s.Seen = func() bool { return len(srv.Transcript()) > 0 }
		}},
		endlessHeader("endless", "A header has 1 MiB, and the connection is closed.", false, testserver.Truncate(1<<20)),
		endlessHeader("endless-slow", "A header has no end, and comes slowly.", true, testserver.Drip(400, 20*time.Millisecond)),
		{Name: "head/kept-open", Gets: true, Waits: true, Does: "The connection stays open after the body.", Source: framing, Set: func(s *scene.Stage) {
			text := "HTTP/1.1 200 OK" + lengthField + "\n\n" + page()
			s.Arm(servePage(s), "REQUEST", 0, testserver.Reply(text), testserver.Drip(len(text)+strings.Count(text, "\n"), time.Hour))
		}},
	}
}

// endlessHeader returns a case of EndlessHeaders with a limit.
func endlessHeader(name, does string, waits bool, limit testserver.Fault) scene.Named {
	return scene.Named{Name: "head/" + name, Does: does, Source: "CVE-2023-38039 (curl): headers without an end.", Waits: waits, Set: func(s *scene.Stage) {
		srv := servePage(s)
		s.Arm(srv, "GET", 0, webtest.EndlessHeaders())
		s.Arm(srv, "CONNECT", 0, limit)
	}}
}

// bareLF returns a case of a head whose lines end in LF: each CR is overwritten by a space.
func bareLF() scene.Named {
	const head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
	return scene.Named{Name: "head/bare-lf", Gets: true, Does: "The lines of the head end in LF.", Source: "RFC 9112 §2.2: a recipient may take LF for a line end.", Set: func(s *scene.Stage) {
		faults := exactly(strings.ReplaceAll(head, "\r\n", "\n") + page())
		faults = append(faults, testserver.Garble(0, "HTTP/1.1 200 OK \nContent-Length: 1000  \n\n"))
		s.Arm(servePage(s), "REQUEST", 0, faults...)
	}}
}

// errorPage is what servers send with an error.
const errorPage = "<html><title>Error</title><p>The page cannot be shown.</html>"

// statusCases are responses whose body is not the document.
func statusCases() (all []scene.Named) {
	row := func(status int, should, does, fields, body string) {
		all = append(all, scene.Named{Name: fmt.Sprint("status/", status), Does: does, Source: "RFC 9110 §15: what a status means.", Should: should, Set: func(s *scene.Stage) {
			s.Arm(servePage(s), "REQUEST", 0, exactly(fmt.Sprintf("HTTP/1.1 %d %s\n%sContent-Length: %d\n\n%s", status, http.StatusText(status), fields, len(body), body))...)
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
		scene.Named{Name: "status/204-body", Does: "The response is 204, and bytes follow it.", Source: "RFC 9112 §6.3: a 204 has no body.", Should: "It ends with an error, or with an empty document.", Set: func(s *scene.Stage) {
			s.Same = func(got, _ []byte) bool { return len(got) == 0 }
			s.Arm(servePage(s), "REQUEST", 0, exactly("HTTP/1.1 204 No Content\nContent-Length: 1000\n\n"+page())...)
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
func dispositionCases() (all []scene.Named) {
	row := func(name, file string) {
		all = append(all, scene.Named{Name: "disposition/" + name, Gets: true, Does: "Content-Disposition has the name " + file + ".",
			Source: "RFC 6266 §4.3; CVE-2010-3842 (curl), CVE-2016-4971 (wget): names that a server chooses.",
			Should: "It fetches the document, and writes nothing outside of its folder.", Set: func(s *scene.Stage) {
				name := strings.ReplaceAll(file, "{canary}", s.Path("canary"))
				s.Arm(servePage(s), "GET", 0, webtest.Header("Content-Disposition", "attachment; filename="+name))
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
