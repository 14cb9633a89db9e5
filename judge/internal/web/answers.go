package web

import (
	"fmt"
	"os"
	"strings"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
)

// An answer is a case in which a text is the response to each request. An LF is sent as CR LF, and
// what stands for ${name} is in part.
type answer struct {
	name, does, source string
	gets               bool
	text               string
}

// answeredBy returns the cases of answers.
func answeredBy(rows []answer) (all []testcase.Named) {
	for _, a := range rows {
		all = append(all, answered(a.name, a.does, a.source, a.gets, a.text))
	}
	return all
}

// answered returns the case of one answer.
func answered(name, does, source string, gets bool, text string) testcase.Named {
	return testcase.Named{Name: name, Does: does, Source: source, Gets: gets, Set: func(r *testcase.Run) {
		r.Arm(servePage(r), "REQUEST", 0, exactly(os.Expand(text, part))...)
	}}
}

// part returns a part of an answer by its name.
func part(name string) string {
	switch name {
	case "page":
		return page()
	case "first": // half of the page
		return page()[:500]
	case "second":
		return page()[500:]
	case "upper":
		return strings.ToUpper(page())
	case "bytes": // chunks of one byte
		var all strings.Builder
		for _, c := range page() {
			fmt.Fprintf(&all, "1\n%c\n", c)
		}
		return all.String()
	case "digits":
		return strings.Repeat("9", 5000)
	case "long": // 1 MiB
		return testcase.LongLine()
	case "trailers": // 1 MiB
		return strings.Repeat("X-Check: "+strings.Repeat("x", 91)+"\n", 10_000)
	case "fields":
		return strings.Repeat("X-Name: value\n", 10_000)
	case "cookies":
		return strings.Repeat("Set-Cookie: a=b\n", 1000)
	case "hints":
		return strings.Repeat("HTTP/1.1 103 Early Hints\nLink: </style.css>\n\n", 5)
	case "continues":
		return strings.Repeat("HTTP/1.1 100 Continue\n\n", 10_000)
	}
	panic("judge: no part " + name)
}

// Sources of the answers.
const (
	chunked        = "RFC 9112 §7.1: chunked coding."
	transferCoding = "RFC 9112 §6.1 and §6.3: Transfer-Encoding."
	statusLine     = "RFC 9112 §4: the status line."
	early          = "RFC 9110 §15.2: any number of 1xx responses may come before the final one."
	fields         = "RFC 9112 §5: fields."
)

// lengths are about Content-Length. Each sends the 1000 bytes of the document.
var lengths = []answer{
	{"length/two-first", "There are two Content-Length, 500 and 1000.", framing, false, "HTTP/1.1 200 OK\nContent-Length: 500\nContent-Length: 1000\n\n${page}"},
	{"length/two-last", "There are two Content-Length, 1000 and 500.", framing, false, "HTTP/1.1 200 OK\nContent-Length: 1000\nContent-Length: 500\n\n${page}"},
	{"length/two-same", "There are two Content-Length, both 1000.", framing, false, "HTTP/1.1 200 OK\nContent-Length: 1000\nContent-Length: 1000\n\n${page}"},
	{"length/list-same", "Content-Length is \"1000, 1000\".", framing, false, "HTTP/1.1 200 OK\nContent-Length: 1000, 1000\n\n${page}"},
	{"length/list", "Content-Length is \"500, 1000\".", framing, false, "HTTP/1.1 200 OK\nContent-Length: 500, 1000\n\n${page}"},
	{"length/negative", "Content-Length is -1.", framing, false, "HTTP/1.1 200 OK\nContent-Length: -1\n\n${page}"},
	{"length/plus", "Content-Length is +500.", framing, false, "HTTP/1.1 200 OK\nContent-Length: +500\n\n${page}"},
	{"length/hexadecimal", "Content-Length is 0x1f4.", framing, false, "HTTP/1.1 200 OK\nContent-Length: 0x1f4\n\n${page}"},
	{"length/fraction", "Content-Length is 500.5.", framing, false, "HTTP/1.1 200 OK\nContent-Length: 500.5\n\n${page}"},
	{"length/exponent", "Content-Length is 1e3.", framing, false, "HTTP/1.1 200 OK\nContent-Length: 1e3\n\n${page}"},
	{"length/unit", "Content-Length is \"500 bytes\".", framing, false, "HTTP/1.1 200 OK\nContent-Length: 500 bytes\n\n${page}"},
	{"length/word", "Content-Length is a word.", framing, false, "HTTP/1.1 200 OK\nContent-Length: many\n\n${page}"},
	{"length/empty", "Content-Length is empty.", framing, false, "HTTP/1.1 200 OK\nContent-Length: \n\n${page}"},
	{"length/huge", "Content-Length is 2^63.", framing, false, "HTTP/1.1 200 OK\nContent-Length: 9223372036854775808\n\n${page}"},
	{"length/wraps-32", "Content-Length is 2^32 and 500.", framing, false, "HTTP/1.1 200 OK\nContent-Length: 4294967796\n\n${page}"},
	{"length/wraps-64", "Content-Length is 2^64 and 500.", framing, false, "HTTP/1.1 200 OK\nContent-Length: 18446744073709552116\n\n${page}"},
	{"length/long", "Content-Length has 5000 digits.", framing, false, "HTTP/1.1 200 OK\nContent-Length: ${digits}\n\n${page}"},
	{"length/zeros", "Content-Length is 1000 with zeros before it.", "RFC 9110 §8.6: digits.", true, "HTTP/1.1 200 OK\nContent-Length: 00001000\n\n${page}"},
	{"length/and-chunked", "Content-Length is 1000, and Transfer-Encoding is chunked, but there are no chunks.", framing, false, "HTTP/1.1 200 OK\nContent-Length: 1000\nTransfer-Encoding: chunked\n\n${page}"},
	{"length/missing-kept", "There is no Content-Length, and Connection is keep-alive.", framing, true, "HTTP/1.1 200 OK\nConnection: keep-alive\n\n${page}"},
}

// chunks are about Transfer-Encoding.
var chunks = []answer{
	{"chunk/upper-case", "The size of the chunk is 3E8.", chunked, true, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3E8\n${page}\n0\n\n"},
	{"chunk/zeros", "The size of the chunk has zeros before it.", chunked, true, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n00003e8\n${page}\n0\n\n"},
	{"chunk/extension", "The chunk has an extension.", chunked, true, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3e8;name=value\n${page}\n0\n\n"},
	{"chunk/bytes", "Each byte is a chunk.", chunked, true, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n${bytes}0\n\n"},
	{"chunk/trailer", "Trailer fields follow the chunks.", "RFC 9112 §7.1.2.", true, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3e8\n${page}\n0\nX-Check: 1\nX-More: 2\n\n"},
	{"chunk/long-trailer", "Trailer fields of 1 MiB follow the chunks.", "RFC 9112 §7.1.2.", false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3e8\n${page}\n0\n${trailers}\n"},
	{"chunk/long-extension", "A chunk has an extension of 1 MiB.", "CVE-2023-39326 (Go): chunk extensions.", false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3e8;${long}\n${page}\n0\n\n"},
	{"chunk/no-end", "The last chunk is missing.", partial, false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3e8\n${page}\n"},
	{"chunk/no-final-line", "The empty line after the last chunk is missing.", partial, false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3e8\n${page}\n0\n"},
	{"chunk/cut-in-chunk", "The only chunk has half of its bytes.", partial, false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3e8\n${first}"},
	{"chunk/cut-in-size", "The connection is closed within the size of the second chunk.", partial, false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1f4\n${first}\n1"},
	{"chunk/no-line-end", "There is no line end after the data of the chunk.", chunked, false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1f4\n${first}1f4\n${second}\n0\n\n"},
	{"chunk/shorter", "A chunk has more bytes than its size.", chunked, false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1f4\n${page}\n0\n\n"},
	{"chunk/no-chunks", "The body has no chunks.", chunked, false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n${page}"},
	{"chunk/negative", "The size of the second chunk is -1.", "CVE-2017-13089 (wget): negative chunk sizes.", false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1f4\n${first}\n-1\n${second}\n0\n\n"},
	{"chunk/negative-zero", "The size of the second chunk is -0.", chunked, false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1f4\n${first}\n-0\n${second}\n0\n\n"},
	{"chunk/prefix", "The size of the second chunk is 0x1f4.", chunked, false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1f4\n${first}\n0x1f4\n${second}\n0\n\n"},
	{"chunk/word", "The size of the second chunk is a word.", chunked, false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1f4\n${first}\nxyz\n${second}\n0\n\n"},
	{"chunk/empty", "The size of the second chunk is missing.", chunked, false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1f4\n${first}\n\n${second}\n0\n\n"},
	{"chunk/space", "The size of the second chunk has a space in it.", chunked, false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1f4\n${first}\n1 f4\n${second}\n0\n\n"},
	{"chunk/maximum", "The size of the second chunk is 2^63-1.", "CVE-2017-13089 (wget): chunk sizes that become negative.", false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1f4\n${first}\n7fffffffffffffff\n${second}\n0\n\n"},
	{"chunk/all-ones", "The size of the second chunk is 2^64-1.", "CVE-2017-13089 (wget): chunk sizes that become negative.", false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1f4\n${first}\nffffffffffffffff\n${second}\n0\n\n"},
	{"chunk/wraps", "The size of the second chunk is 2^64.", "RFC 9112 §7.1: a recipient must prevent overflow.", false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1f4\n${first}\n10000000000000000\n${second}\n0\n\n"},
	{"chunk/two-framings", "There are Content-Length, which is wrong, and chunks.", transferCoding, false, "HTTP/1.1 200 OK\nContent-Length: 500\nTransfer-Encoding: chunked\n\n3e8\n${page}\n0\n\n"},
	{"chunk/two-framings-same", "There are Content-Length, which is right, and chunks.", transferCoding, false, "HTTP/1.1 200 OK\nContent-Length: 1000\nTransfer-Encoding: chunked\n\n3e8\n${page}\n0\n\n"},
	{"chunk/twice", "Transfer-Encoding is \"chunked, chunked\", and the body has chunks once.", transferCoding, false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked, chunked\n\n3e8\n${page}\n0\n\n"},
	{"chunk/two-fields", "There are two Transfer-Encoding, chunked and identity.", transferCoding, false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nTransfer-Encoding: identity\n\n3e8\n${page}\n0\n\n"},
	{"chunk/unknown", "The body has a transfer coding that is not registered.", transferCoding, false, "HTTP/1.1 200 OK\nTransfer-Encoding: x-secret\n\n${upper}"},
	{"chunk/unknown-chunked", "The body has a transfer coding that is not registered, and comes in chunks.", transferCoding, false, "HTTP/1.1 200 OK\nTransfer-Encoding: x-secret, chunked\n\n3e8\n${upper}\n0\n\n"},
	{"chunk/not-last", "Transfer-Encoding is \"chunked, x-secret\".", transferCoding, false, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked, x-secret\n\n3e8\n${page}\n0\n\n"},
	{"chunk/version-1.0", "A response of HTTP/1.0 comes in chunks.", "RFC 9112 §6.1: its framing is faulty.", false, "HTTP/1.0 200 OK\nTransfer-Encoding: chunked\n\n3e8\n${page}\n0\n\n"},
}

// heads are about the status line, responses before the response, and the fields of the header.
var heads = []answer{
	{"line/version-0.9", "The document comes without a head.", "RFC 1945 §4.1: a Simple-Response of HTTP/0.9.", false, "${page}"},
	{"line/version-1.0", "The response is one of HTTP/1.0.", statusLine, true, "HTTP/1.0 200 OK\nContent-Length: 1000\n\n${page}"},
	{"line/version-1.10", "The version is HTTP/1.10.", statusLine, false, "HTTP/1.10 200 OK\nContent-Length: 1000\n\n${page}"},
	{"line/version-2", "The version is HTTP/2.0.", statusLine, false, "HTTP/2.0 200 OK\nContent-Length: 1000\n\n${page}"},
	{"line/version-none", "The version is HTTP/.", statusLine, false, "HTTP/ 200 OK\nContent-Length: 1000\n\n${page}"},
	{"line/lower-case", "The version is http/1.1.", statusLine, false, "http/1.1 200 OK\nContent-Length: 1000\n\n${page}"},
	{"line/icy", "The status line begins with ICY.", statusLine, false, "ICY 200 OK\nContent-Length: 1000\n\n${page}"},
	{"line/no-reason", "The status line ends after the status and a space.", statusLine, true, "HTTP/1.1 200 \nContent-Length: 1000\n\n${page}"},
	{"line/no-space", "The status line ends after the status.", statusLine, false, "HTTP/1.1 200\nContent-Length: 1000\n\n${page}"},
	{"line/two-spaces", "Two spaces are before the status.", statusLine, false, "HTTP/1.1  200 OK\nContent-Length: 1000\n\n${page}"},
	{"line/tab", "A tab is before the status.", statusLine, false, "HTTP/1.1\t200 OK\nContent-Length: 1000\n\n${page}"},
	{"line/two-digits", "The status is 20.", statusLine, false, "HTTP/1.1 20 OK\nContent-Length: 1000\n\n${page}"},
	{"line/four-digits", "The status is 2000.", statusLine, false, "HTTP/1.1 2000 OK\nContent-Length: 1000\n\n${page}"},
	{"line/letters", "The status is OK.", statusLine, false, "HTTP/1.1 OK\nContent-Length: 1000\n\n${page}"},
	{"line/negative", "The status is -200.", statusLine, false, "HTTP/1.1 -200 OK\nContent-Length: 1000\n\n${page}"},
	{"line/zero", "The status is 000.", statusLine, false, "HTTP/1.1 000 Zero\nContent-Length: 1000\n\n${page}"},
	{"line/nine", "The status is 999.", statusLine, false, "HTTP/1.1 999 What\nContent-Length: 1000\n\n${page}"},
	{"line/nul", "A NUL is in the reason.", statusLine, false, "HTTP/1.1 200 O\x00K\nContent-Length: 1000\n\n${page}"},
	{"line/long", "The reason has 1 MiB.", statusLine, false, "HTTP/1.1 200 ${long}\nContent-Length: 1000\n\n${page}"},
	{"line/empty-line-before", "An empty line is before the status line.", statusLine, false, "\nHTTP/1.1 200 OK\nContent-Length: 1000\n\n${page}"},

	{"early/103", "Five 103 come before the response.", early, true, "${hints}HTTP/1.1 200 OK\nContent-Length: 1000\n\n${page}"},
	{"early/100", "A 100 that was not expected comes before the response.", early, true, "HTTP/1.1 100 Continue\n\nHTTP/1.1 200 OK\nContent-Length: 1000\n\n${page}"},
	{"early/199", "A 199 comes before the response.", early, false, "HTTP/1.1 199 Odd\n\nHTTP/1.1 200 OK\nContent-Length: 1000\n\n${page}"},
	{"early/101", "A 101 that was not requested comes before the response.", "RFC 9110 §15.2.2.", false, "HTTP/1.1 101 Switching Protocols\nUpgrade: other\nConnection: Upgrade\n\nHTTP/1.1 200 OK\nContent-Length: 1000\n\n${page}"},
	{"early/many", "Ten thousand 100 come, and the connection is closed.", "CVE-2021-3737 (Python): 100 without an end.", false, "${continues}"},

	{"head/no-colon", "A line of the header has no colon.", fields, false, "HTTP/1.1 200 OK\nthis is no field\nContent-Length: 1000\n\n${page}"},
	{"head/no-name", "A field has no name.", fields, false, "HTTP/1.1 200 OK\n: value\nContent-Length: 1000\n\n${page}"},
	{"head/nul", "A NUL is in a field.", "RFC 9110 §5.5.", false, "HTTP/1.1 200 OK\nX-Name: a\x00b\nContent-Length: 1000\n\n${page}"},
	{"head/latin-1", "A field has a byte of Latin-1.", "RFC 9110 §5.5: obs-text.", true, "HTTP/1.1 200 OK\nX-Name: caf\xe9\nContent-Length: 1000\n\n${page}"},
	{"head/escape", "A field has an escape sequence of terminals.", "CVE-2004-1488 (wget).", false, "HTTP/1.1 200 OK\nX-Name: \x1b[2J\nContent-Length: 1000\n\n${page}"},
	{"head/folded", "A field has two lines.", "RFC 9112 §5.2: obs-fold; a client must accept it.", true, "HTTP/1.1 200 OK\nX-Name: a\n b\nContent-Length: 1000\n\n${page}"},
	{"head/lone-cr", "A CR is in a field.", "RFC 9112 §2.2.", false, "HTTP/1.1 200 OK\nX-Name: a\rX-Other: b\nContent-Length: 1000\n\n${page}"},
	{"head/folded-length", "Content-Length is in the second line of its field.", "RFC 9112 §5.2: obs-fold.", false, "HTTP/1.1 200 OK\nContent-Length:\n 1000\n\n${page}"},
	{"head/space", "A space is before the colon of Content-Length.", "RFC 9112 §5.1; CVE-2019-16276 (Go).", false, "HTTP/1.1 200 OK\nContent-Length : 1000\n\n${page}"},
	{"head/long-line", "A field has 1 MiB.", "CVE-2013-1752 (Python): lines without a limit.", false, "HTTP/1.1 200 OK\nX-Name: ${long}\nContent-Length: 1000\n\n${page}"},
	{"head/long-name", "The name of a field has 1 MiB.", "CVE-2013-1752 (Python): lines without a limit.", false, "HTTP/1.1 200 OK\n${long}: x\nContent-Length: 1000\n\n${page}"},
	{"head/many-fields", "There are 10,000 fields.", "CVE-2023-38039 (curl): headers without an end.", false, "HTTP/1.1 200 OK\n${fields}X-Last: 1\nContent-Length: 1000\n\n${page}"},
	{"head/many-cookies", "There are 1,000 cookies.", "CVE-2022-32205 (curl).", false, "HTTP/1.1 200 OK\n${cookies}X-Last: 1\nContent-Length: 1000\n\n${page}"},
	{"head/cookie-elsewhere", "A cookie is for another domain.", "RFC 6265 §5.3: a client ignores it.", true, "HTTP/1.1 200 OK\nSet-Cookie: a=b; Domain=example.com\nContent-Length: 1000\n\n${page}"},
	{"head/location", "A response with status 200 has a Location.", "RFC 9110 §10.2.2.", true, "HTTP/1.1 200 OK\nLocation: /no/such/file\nContent-Length: 1000\n\n${page}"},
	{"head/connection", "Connection lists Content-Length.", "RFC 9110 §7.6.1.", false, "HTTP/1.1 200 OK\nConnection: close, Content-Length\nContent-Length: 1000\n\n${page}"},
}
