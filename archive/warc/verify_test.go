package warc

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The records that the cases below change. The digests are right.
const (
	info = "WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Date: 2026-11-24T12:00:00Z\r\n" +
		"Content-Type: application/warc-fields\r\nContent-Length: 19\r\n\r\nsoftware: test/1.0\n\r\n\r\n"
	resource = "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:uuid:2>\r\nWARC-Date: 2026-11-24T12:00:01.123456789Z\r\n" +
		"WARC-Target-URI: gopher://h/0/a\r\nWARC-IP-Address: 192.0.2.1\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n" +
		"WARC-Block-Digest: sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP\r\nWARC-Payload-Digest: sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP\r\n\r\nhello\n\r\n\r\n"
	response = "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:3>\r\nWARC-Date: 2026-11-24T12:00:02Z\r\n" +
		"WARC-Target-URI: http://h/\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: 25\r\n" +
		"WARC-Block-Digest: sha1:6BTCLFQPODX6DVDYFMY2LE4OQ3OO6FLF\r\nWARC-Payload-Digest: sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP\r\n\r\n" +
		"HTTP/1.0 200 OK\r\n\r\nhello\n\r\n\r\n"
	request = "WARC/1.1\r\nWARC-Type: request\r\nWARC-Record-ID: <urn:uuid:4>\r\nWARC-Date: 2026-11-24T12:00:02Z\r\n" +
		"WARC-Target-URI: http://h/\r\nWARC-Concurrent-To: <urn:uuid:3>\r\nContent-Type: application/http;msgtype=request\r\nContent-Length: 18\r\n\r\n" +
		"GET / HTTP/1.0\r\n\r\n\r\n\r\n"
	revisit = "WARC/1.1\r\nWARC-Type: revisit\r\nWARC-Record-ID: <urn:uuid:5>\r\nWARC-Date: 2026-11-24T12:00:03Z\r\n" +
		"WARC-Target-URI: gopher://h/0/a\r\nWARC-Profile: " + IdenticalPayload + "\r\nWARC-Payload-Digest: sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP\r\n" +
		"WARC-Refers-To: <urn:uuid:2>\r\nWARC-Refers-To-Target-URI: gopher://h/0/a\r\nWARC-Refers-To-Date: 2026-11-24T12:00:01Z\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
)

// edit replaces text in a record, which must have it.
func edit(record string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(record, pairs[i]) {
			panic(pairs[i])
		}
		record = strings.Replace(record, pairs[i], pairs[i+1], 1)
	}
	return record
}

// with adds a line to a header.
func with(record, line string) string {
	return strings.Replace(record, "\r\n", "\r\n"+line+"\r\n", 1)
}

// members returns a file with a gzip member for each record.
func members(records ...string) []byte {
	var b bytes.Buffer
	for _, r := range records {
		z := gzip.NewWriter(&b)
		io.WriteString(z, r)
		z.Close()
	}
	return b.Bytes()
}

// verified returns the defects of a file, each as one line.
func verified(t *testing.T, file []byte) (records int64, lines []string) {
	t.Helper()
	records, err := Verify(bytes.NewReader(file), func(f *Defect) {
		line := f.Error()
		if f.Note {
			line = "note: " + line
		}
		lines = append(lines, line)
	})
	if err != nil {
		t.Fatal(err)
	}
	return records, lines
}

// defectCases are files with one defect each, and what Verify says. %d is the offset of the second
// record.
var defectCases = []struct {
	name    string
	records []string
	want    string
}{
	{"wrong block digest", []string{edit(resource, "Block-Digest: sha1:6V", "Block-Digest: sha1:7V")},
		"record at offset %d (urn:uuid:2): WARC-Block-Digest is sha1:7VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP; the block has sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP"},
	{"wrong payload digest of a resource", []string{edit(resource, "Payload-Digest: sha1:6V", "Payload-Digest: sha1:7V")},
		"record at offset %d (urn:uuid:2): WARC-Payload-Digest is sha1:7VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP; the payload has sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP"},
	{"wrong payload digest of a response", []string{edit(response, "Payload-Digest: sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP", "Payload-Digest: sha1:6BTCLFQPODX6DVDYFMY2LE4OQ3OO6FLF")},
		"record at offset %d (urn:uuid:3): WARC-Payload-Digest is sha1:6BTCLFQPODX6DVDYFMY2LE4OQ3OO6FLF; the payload has sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP"},
	{"wrong digest, another algorithm", []string{edit(resource, "Block-Digest: sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP", "Block-Digest: sha256:"+strings.Repeat("00", 32))},
		"record at offset %d (urn:uuid:2): WARC-Block-Digest is sha256:" + strings.Repeat("00", 32) + "; the block has sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"},
	{"no digest", []string{edit(resource, "Block-Digest: sha1:6V", "Block-Digest: sha1:")},
		`record at offset %d (urn:uuid:2): WARC-Block-Digest is "sha1:ZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP", which is not a digest; one has the form sha1:VALUE, with the value in base32`},
	{"Content-Length too small", []string{edit(resource, "Content-Length: 6", "Content-Length: 5")},
		"record at offset %d (urn:uuid:2): Content-Length is 5, but the record does not end there; the block has 6 bytes, if the record is all of its gzip member"},
	{"Content-Length too large", []string{edit(resource, "Content-Length: 6", "Content-Length: 60")},
		"record at offset %d (urn:uuid:2): Content-Length is 60, but only 10 bytes follow; the block has 6 bytes, if the record is all of its gzip member: unexpected EOF"},
	{"Content-Length not a number", []string{edit(resource, "Content-Length: 6", "Content-Length: +6")},
		`record at offset %d (urn:uuid:2): Content-Length is "+6", which is not a number of bytes`},
	{"end missing", []string{strings.TrimSuffix(resource, "\r\n\r\n")},
		"record at offset %d (urn:uuid:2): CR LF CR LF is missing at the end of the record: unexpected EOF"},
	{"LF in the header", []string{edit(resource, "text/plain\r\n", "text/plain\n")},
		"record at offset %d (urn:uuid:2): a line ends in LF; lines end in CR LF"},
	{"LF everywhere", []string{strings.ReplaceAll(resource, "\r\n", "\n")},
		"record at offset %d (urn:uuid:2): a line ends in LF; lines end in CR LF"},
	{"bad date", []string{edit(resource, "2026-11-24T12:00:01.123456789Z", "24 Nov 2026")},
		`record at offset %d (urn:uuid:2): WARC-Date is "24 Nov 2026"; a time such as 2026-11-24T12:00:00.5Z, with at most nine digits of a fraction`},
	{"date with ten digits", []string{edit(resource, ".123456789Z", ".1234567891Z")},
		`record at offset %d (urn:uuid:2): WARC-Date is "2026-11-24T12:00:01.1234567891Z"; a time such as 2026-11-24T12:00:00.5Z, with at most nine digits of a fraction`},
	{"fraction in 1.0", []string{edit(resource, "WARC/1.1", "WARC/1.0")},
		`record at offset %d (urn:uuid:2): WARC-Date is "2026-11-24T12:00:01.123456789Z"; a time such as 2026-11-24T12:00:00Z`},
	{"bad IP", []string{edit(resource, "192.0.2.1", "192.0.2.1:70")},
		`record at offset %d (urn:uuid:2): WARC-IP-Address is "192.0.2.1:70"; an address without port or zone, such as 192.0.2.1`},
	{"IP with a zone", []string{edit(resource, "192.0.2.1", "fe80::1%eth0")},
		`record at offset %d (urn:uuid:2): WARC-IP-Address is "fe80::1%%eth0"; an address without port or zone, such as 192.0.2.1`},
	{"a field twice", []string{with(resource, "warc-ip-address: 192.0.2.1")},
		"record at offset %d (urn:uuid:2): \"WARC-IP-Address\" is there twice; only WARC-Concurrent-To and WARC-Protocol may be repeated"},
	{"an unknown field twice", []string{with(with(resource, "X-Mine: 1"), "X-Mine: 2")},
		"record at offset %d (urn:uuid:2): \"X-Mine\" is there twice; only WARC-Concurrent-To and WARC-Protocol may be repeated"},
	{"forbidden: Filename", []string{with(resource, "WARC-Filename: a.warc.gz")},
		"record at offset %d (urn:uuid:2): WARC-Filename is forbidden here; a resource record must not have it"},
	{"forbidden: Refers-To", []string{with(resource, "WARC-Refers-To: <urn:uuid:1>")},
		"record at offset %d (urn:uuid:2): WARC-Refers-To is forbidden here; a resource record must not have it"},
	{"not a token", []string{with(resource, "X Mine: 1")},
		`record at offset %d (urn:uuid:2): "X Mine" is not a name of a field`},
	{"Content-Type missing", []string{edit(resource, "Content-Type: text/plain\r\n", "")},
		"record at offset %d (urn:uuid:2): Content-Type is missing; a record with a block must have it"},
	{"Target-URI missing", []string{edit(resource, "WARC-Target-URI: gopher://h/0/a\r\n", "")},
		"record at offset %d (urn:uuid:2): WARC-Target-URI is missing; a resource record must have it"},
	{"Target-URI in angle brackets", []string{edit(resource, "gopher://h/0/a", "<gopher://h/0/a>")},
		`record at offset %d (urn:uuid:2): WARC-Target-URI is "<gopher://h/0/a>"; a URI without angle brackets: gopher://h/0/a`},
	{"Target-URI with a space", []string{edit(resource, "gopher://h/0/a", "gopher://h/0/a b")},
		`record at offset %d (urn:uuid:2): WARC-Target-URI is "gopher://h/0/a b"; a URI with its characters encoded: gopher://h/0/a%%20b`},
	{"Target-URI in UTF-8", []string{edit(resource, "gopher://h/0/a", "gopher://h/0/ä")},
		`record at offset %d (urn:uuid:2): WARC-Target-URI is "gopher://h/0/ä"; a URI with its characters encoded: gopher://h/0/%%C3%%A4`},
	{"Target-URI without scheme", []string{edit(resource, "gopher://h/0/a", "/0/a")},
		`record at offset %d (urn:uuid:2): WARC-Target-URI is "/0/a"; a URI, which begins with a scheme and a colon`},
	{"ID without brackets", []string{edit(resource, "<urn:uuid:2>", "urn:uuid:2")},
		`record at offset %d (urn:uuid:2): WARC-Record-ID is "urn:uuid:2"; a URI in angle brackets, such as <urn:uuid:...>`},
	{"ID missing", []string{edit(resource, "WARC-Record-ID: <urn:uuid:2>\r\n", "")},
		"record at offset %d: WARC-Record-ID is missing; every record must have it"},
	{"Profile missing", []string{edit(revisit, "WARC-Profile: "+IdenticalPayload+"\r\n", "")},
		"record at offset %d (urn:uuid:5): WARC-Profile is missing; a revisit record must have it"},
	{"revisit without digest", []string{edit(revisit, "WARC-Payload-Digest: sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP\r\n", "")},
		"record at offset %d (urn:uuid:5): WARC-Payload-Digest is missing; this profile demands it"},
	{"Concurrent-To of a record to come", []string{request, response},
		"record at offset %d (urn:uuid:4): WARC-Concurrent-To names the record at offset %[2]d, which comes later; only a record before this one can be named"},
	{"an ID twice", []string{resource, edit(response, "<urn:uuid:3>", "<urn:uuid:2>")},
		"record at offset %[2]d (urn:uuid:2): WARC-Record-ID is that of an earlier record; each record has its own"},
	{"unknown algorithm", []string{edit(resource, "Block-Digest: sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP", "Block-Digest: blake3:00")},
		`note: record at offset %d (urn:uuid:2): WARC-Block-Digest is "blake3:00", an algorithm that is not known`},
	{"unknown type", []string{edit(resource, "Type: resource", "Type: picture")},
		`note: record at offset %d (urn:uuid:2): WARC-Type is "picture", which is not known`},
	{"unknown version", []string{edit(resource, "WARC/1.1", "WARC/1.2")},
		`note: record at offset %d (urn:uuid:2): the version is "1.2"; the versions 1.0 and 1.1 are known`},
	{"profile of 1.0", []string{edit(revisit, IdenticalPayload, identicalPayload10)},
		`note: record at offset %d (urn:uuid:5): WARC-Profile is "` + identicalPayload10 + `"; the profiles of this version have /warc/1.1/`},
	{"chunked", []string{edit(response, "Content-Length: 25", "Content-Length: 61", "OK\r\n\r\nhello\n", "OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhello\n\r\n0\r\n", "sha1:6BTCLFQPODX6DVDYFMY2LE4OQ3OO6FLF", "sha1:RULUY7AZGVIN3QWJ7B7O3GJYFS7JRGGD")},
		"note: record at offset %d (urn:uuid:3): WARC-Payload-Digest is sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP; the payload has sha1:CHS73F3VPAWOT53F33I3SJ6MEYTZ55VW"},
	{"no colon", []string{with(resource, "nonsense"), response},
		`record at offset %d: the line "nonsense" of the header has no colon`},
	{"not a record", []string{"hello\n", response},
		`record at offset %d: "hello" is not the beginning of a record`},
}

// TestVerifyDefects checks that Verify finds each defect, and nothing else, with gzip and without,
// between records that are right.
func TestVerifyDefects(t *testing.T) {
	for _, tc := range defectCases {
		second := int64(len(members(info)))
		third := second + int64(len(members(tc.records[0])))
		want := fmt.Sprintf(tc.want, second, third)
		want, _, _ = strings.Cut(want, "%!(EXTRA")
		file := members(append(append([]string{info}, tc.records...), edit(resource, "uuid:2", "uuid:9"))...)
		if _, got := verified(t, file); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.name, strings.Join(got, "\n"), want)
		}
	}
}

// TestVerifyPlain checks that in files without gzip Verify finds the same defects.
func TestVerifyPlain(t *testing.T) {
	for _, tc := range defectCases {
		want := strings.ReplaceAll(tc.want, "%[2]d", fmt.Sprint(len(info)+len(tc.records[0])))
		want = strings.ReplaceAll(want, "%%", "%")
		want = strings.ReplaceAll(want, "%d", fmt.Sprint(len(info)))
		want, _, _ = strings.Cut(want, "; the block has 6 bytes, if")
		want, _, _ = strings.Cut(want, ", but only 10")
		want, _, _ = strings.Cut(want, ": unexpected EOF")
		file := info + strings.Join(tc.records, "") + edit(resource, "uuid:2", "uuid:9")
		_, got := verified(t, []byte(file))
		if len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.name, strings.Join(got, "\n"), want)
		}
	}
}

// TestVerifyRight checks that Verify refuses nothing that is right.
func TestVerifyRight(t *testing.T) {
	for name, record := range map[string]string{
		"response": response, "request": request, "revisit": revisit, "resource": resource,
		"no digests":            edit(resource, "WARC-Block-Digest", "X-Block", "WARC-Payload-Digest", "X-Payload"),
		"lower case":            edit(resource, "sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP", "SHA1:6vznhfx25eqgmkdrj6zm4ahxf2kpejmp"),
		"hexadecimal":           edit(resource, "sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP", "sha1:f572d396fae9206628714fb2ce00f72e94f2258f"),
		"MD5":                   edit(resource, "sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP", "md5:b1946ac92492d2347c6235b4d2611184"),
		"folded lines":          edit(resource, "text/plain", "text/plain;\r\n charset=utf-8"),
		"other fields":          with(resource, "X-Mine: 1"),
		"protocols":             with(with(resource, "WARC-Protocol: gopher"), "WARC-Protocol: tls/1.3"),
		"several concurrent":    with(request, "WARC-Concurrent-To: <urn:uuid:1>"),
		"brackets in 1.0":       edit(resource, "WARC/1.1", "WARC/1.0", ".123456789Z", "Z", "gopher://h/0/a", "<gopher://h/0/a>"),
		"no brackets in 1.0":    edit(resource, "WARC/1.1", "WARC/1.0", ".123456789Z", "Z"),
		"a year":                edit(resource, "2026-11-24T12:00:01.123456789Z", "2026"),
		"empty block":           edit(resource, "Content-Length: 6", "Content-Length: 0", "hello\n", "", "WARC-Block-Digest", "X-Block", "WARC-Payload-Digest", "X-Payload"),
		"no type without block": edit(resource, "Content-Type: text/plain\r\nContent-Length: 6", "Content-Length: 0", "hello\n", "", "WARC-Block-Digest", "X-Block", "WARC-Payload-Digest", "X-Payload"),
		"names in lower case":   edit(resource, "WARC-Target-URI", "warc-target-uri", "Content-Length", "content-length"),
		"characters of clients": edit(resource, "gopher://h/0/a", "gopher://h/0/a|b^{c}"),
		"metadata without URI":  edit(resource, "resource", "metadata", "WARC-Target-URI: gopher://h/0/a\r\n", "", "WARC-Payload-Digest", "X-Payload"),
		"segmented":             edit(with(resource, "WARC-Segment-Number: 1"), "Payload-Digest: sha1:6V", "Payload-Digest: sha1:7V"),
		"head without end":      edit(response, "Content-Length: 25", "Content-Length: 17", "\r\n\r\nhello\n", "\r\n", "WARC-Block-Digest", "X-Block", "WARC-Payload-Digest", "X-Payload"),
		"address of version 6":  edit(resource, "192.0.2.1", "2001:db8::1"),
	} {
		for _, file := range [][]byte{members(info, record), []byte(info + record)} {
			if n, got := verified(t, file); n != 2 || len(got) > 0 {
				t.Errorf("%s: %d records, %q", name, n, got)
			}
		}
	}
	if _, got := verified(t, members(response, request)); len(got) != 1 || !strings.HasPrefix(got[0], "note: record at offset 0 (urn:uuid:3): the first") {
		t.Errorf("without warcinfo: %q", got)
	}
}

// TestVerifyOneMember checks that one gzip member for all is found, once.
func TestVerifyOneMember(t *testing.T) {
	n, got := verified(t, members(info+resource+response+revisit))
	want := "record at offset 0 (urn:uuid:2): it is not the first record of its gzip member; each record needs a member, so that it can be found"
	if n != 4 || !slices.Equal(got, []string{want}) {
		t.Errorf("%d records, %q", n, got)
	}
}

// TestVerifyCut cuts a file at each octet: the cut is found, unless it is between two members.
func TestVerifyCut(t *testing.T) {
	for _, file := range [][]byte{members(info, resource, response), []byte(info + resource + response)} {
		ends := []int{0, len(members(info)), len(members(info, resource)), len(file)}
		if file[0] == 'W' {
			ends = []int{0, len(info), len(info + resource), len(file)}
		}
		for size := range len(file) {
			var last *Defect
			if _, err := Verify(bytes.NewReader(file[:size]), func(f *Defect) { last = f }); err != nil {
				t.Fatal(err)
			}
			i, whole := slices.BinarySearch(ends, size)
			switch {
			case whole && last != nil, !whole && (last == nil || !errors.Is(last, io.ErrUnexpectedEOF)):
				t.Fatalf("%d of %d bytes: %v", size, len(file), last)
			case !whole && int(last.Offset) != ends[i-1]:
				t.Fatalf("%d of %d bytes: %v, which is not at %d", size, len(file), last, ends[i-1])
			}
		}
	}
}

// TestVerifyDamage inverts each octet of a member: the first defect is at its place. What is
// damaged may be decoded up to some place in another member, so up to two more records are lost.
func TestVerifyDamage(t *testing.T) {
	file, at := members(info, resource, response, revisit), len(members(info))
	for i := at; i < at+len(members(resource)); i++ {
		if i-at == 8 || i-at == 9 || i-at >= 4 && i-at < 8 {
			continue // the time, the level and the system of a gzip header do not matter
		}
		bad := bytes.Clone(file)
		bad[i] ^= 0xff
		var first *Defect
		n, err := Verify(bytes.NewReader(bad), func(f *Defect) {
			if first == nil {
				first = f
			}
		})
		if err != nil || n < 2 || first == nil || first.Offset != int64(at) {
			t.Errorf("octet %d: %d records, %v, %v", i-at, n, first, err)
		}
	}
}

// TestVerifyReadError checks that a failure to read is not a defect of the file.
func TestVerifyReadError(t *testing.T) {
	file := members(info, resource)
	broken := errors.New("broken disk")
	for size := range len(file) {
		r := io.MultiReader(bytes.NewReader(file[:size]), failing{broken})
		if _, err := Verify(r, func(f *Defect) { t.Errorf("%d bytes: %v", size, f) }); err != broken {
			t.Fatalf("%d bytes: %v", size, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// FuzzVerify looks for files on which Verify fails, or which it reads differently than the Reader.
func FuzzVerify(f *testing.F) {
	for _, tc := range defectCases {
		f.Add(members(append([]string{info}, tc.records...)...))
		f.Add([]byte(info + strings.Join(tc.records, "")))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		whole := true
		n, err := Verify(bytes.NewReader(file), func(f *Defect) {
			whole = whole && f.Err == nil
			if f.Offset < 0 || f.Offset > int64(len(file)) || strings.ContainsAny(f.Error(), "\r\n\x00\x1b") {
				t.Errorf("%+q", f.Error())
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		r := NewReader(bytes.NewReader(file))
		read := int64(0)
		for {
			if _, err = r.Next(); err != nil {
				break
			}
			read++
		}
		if err == io.EOF && read != n || read > n+1 {
			t.Errorf("the Reader has %d records, Verify %d: %v", read, n, err)
		}
	})
}

// TestVerifyFiles verifies the files of testdata, which other programs have written.
func TestVerifyFiles(t *testing.T) {
	names, _ := filepath.Glob("testdata/*.warc.gz")
	if len(names) == 0 {
		t.Error("no files")
	}
	for _, name := range names {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n, defects := verified(t, file); n == 0 || len(defects) > 0 {
			t.Errorf("%s: %d records, %q", name, n, defects)
		}
	}
}
