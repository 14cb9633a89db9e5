package warc

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// ran runs the verb with arguments.
func ran(t *testing.T, stdin string, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = Command().Run(t.Context(), args, stdio.Streams{In: strings.NewReader(stdin), Out: &stdout, Err: &stderr})
	return code, stdout.String(), stderr.String()
}

// draft returns a record.
func draft(typ warc.Type, url, id, media, text string, more ...warc.Field) warc.Draft {
	block := warc.NewBlock()
	head, body, split := strings.Cut(text, "\r\n\r\n")
	if split {
		io.WriteString(block, head+"\r\n\r\n")
		block.StartPayload()
		text = body
	}
	io.WriteString(block, text)
	return warc.Draft{Block: block, Header: append(warc.Header{
		{Name: warc.FieldType, Value: string(typ)}, {Name: warc.FieldTargetURI, Value: url}, {Name: warc.FieldRecordID, Value: "<urn:test:" + id + ">"},
		{Name: warc.FieldContentType, Value: media}, {Name: warc.FieldDate, Value: "2026-11-24T12:00:00.5Z"},
	}, more...)}
}

// archive writes a file without gzip, so that a test can change it, and returns its name.
func archive(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.warc")
	w, err := warc.CreateFile(name, warc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	one := draft(warc.Resource, "gopher://h/0/a", "1", "text/plain; charset=utf-8", "first\x1b[2J\n")
	two := draft(warc.Resource, "gopher://h/0/a", "2", "text/plain", "second\n")
	again := draft(warc.Revisit, "gopher://h/0/a", "3", "text/plain", "",
		warc.Field{Name: warc.FieldProfile, Value: warc.IdenticalPayload}, warc.Field{Name: warc.FieldPayloadDigest, Value: one.Block.Digest()})
	elsewhere := draft(warc.Revisit, "gopher://h/0/b", "4", "text/plain", "",
		warc.Field{Name: warc.FieldProfile, Value: warc.IdenticalPayload}, warc.Field{Name: warc.FieldPayloadDigest, Value: one.Block.Digest()})
	page := draft(warc.Response, "http://h/", "5", "application/http; msgtype=response", "HTTP/1.0 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\npage\n")
	cut := draft(warc.Resource, "ftp://h/cut", "6", "text/plain", "half", warc.Field{Name: warc.FieldTruncated, Value: "disconnect"})
	if err := errors.Join(w.Write(one, two, again, elsewhere, page, cut), w.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}

// damage replaces text in a file by text of the same length.
func damage(t *testing.T, name, from, to string) {
	t.Helper()
	file, err := os.ReadFile(name)
	if err != nil || !bytes.Contains(file, []byte(from)) {
		t.Fatal(err, from)
	}
	if err := os.WriteFile(name, bytes.Replace(file, []byte(from), []byte(to), 1), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestUsage checks the messages for wrong command lines and missing files.
func TestUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"(2) warc: there is no task: verify, list, get":       {},
		`(2) warc: there is no task "vrfy": verify, list`:     {"vrfy", "x"},
		"(2) warc: verify: there is no FILE":                  {"verify"},
		"(2) warc: get: there must be a FILE, and a URL":      {"get", "x"},
		"(2) warc: --head and --record exclude each other":    {"get", "--head", "--record", "x", "0"},
		"(2) warc: unknown flag: --recrod; did you mean --re": {"verify", "--recrod"},
		"(26) warc: open missing.warc: no such":               {"list", "missing.warc"},
		"(26) warc: open missing2.warc: no such":              {"get", "missing2.warc", "0"},
		"(26) warc: " + t.TempDir():                           {"list", t.TempDir()},
	} {
		code, out, errs := ran(t, "", args...)
		if want, _, _ = strings.Cut(want, "/001"); code == 0 || out != "" || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%q: %d, %q, %q", args, code, out, errs)
		}
	}
}

// TestVerify checks the lines and exit codes of verify.
func TestVerify(t *testing.T) {
	name := archive(t)
	if code, out, errs := ran(t, "", "verify", name); code != 0 || out != "1 file, 7 records: 0 faults, 0 notes\n" || errs != "" {
		t.Errorf("%d %q %q", code, out, errs)
	}
	damage(t, name, "second", "sec0nd")
	damage(t, name, "urn:test:5", "urn:tes\x1b:5")
	code, out, errs := ran(t, "", "verify", name, filepath.Dir(name))
	lines := strings.Split(out, "\n")
	if code != 1 || errs != "" || len(lines) != 8 || lines[6] != "2 files, 14 records: 6 faults, 0 notes" || strings.Contains(out, "\x1b") ||
		!strings.HasPrefix(lines[0], name+": record at offset ") || !strings.Contains(lines[0], " (urn:test:2): WARC-Block-Digest is sha1:") || !strings.Contains(lines[0], "; the block has sha1:") {
		t.Errorf("%d %q %q", code, out, errs)
	}
	file, _ := os.ReadFile(name)
	code, out, _ = ran(t, string(file), "verify", "--json", "-")
	var defect jsonDefect
	var sum jsonSummary
	lines = strings.Split(out, "\n")
	if err := errors.Join(json.Unmarshal([]byte(lines[0]), &defect), json.Unmarshal([]byte(lines[len(lines)-2]), &sum)); err != nil || code != 1 {
		t.Fatal(code, err, out)
	}
	if defect.File != "-" || defect.Field != warc.FieldBlockDigest || defect.ID != "urn:test:2" || defect.Offset == 0 || defect.Note || sum != (jsonSummary{1, 7, 3, 0}) {
		t.Errorf("%+v %+v", defect, sum)
	}
	if code, out, errs := ran(t, "", "verify", "missing.warc", name); code != 26 || !strings.HasSuffix(out, "\n1 file, 7 records: 3 faults, 0 notes\n") || !strings.Contains(errs, "missing.warc") {
		t.Errorf("%d %q %q", code, out, errs)
	}
}

// TestList checks the lines of list.
func TestList(t *testing.T) {
	name := archive(t)
	code, out, errs := ran(t, "", "list", name)
	lines := strings.Split(out, "\n")
	if code != 0 || errs != "" || len(lines) != 8 || !strings.Contains(lines[5], " 2026-11-24T12:00:00Z response            5 text/html                http://h/") {
		t.Errorf("%d %q %q", code, out, errs)
	}
	code, out, _ = ran(t, "", "list", "--json", name)
	var r jsonRecord
	if err := json.Unmarshal([]byte(strings.Split(out, "\n")[5]), &r); err != nil || code != 0 {
		t.Fatal(code, err)
	}
	digest := r.Digest
	r.Offset, r.Digest = 0, ""
	want := jsonRecord{File: name, Type: "response", Date: "2026-11-24T12:00:00.5Z", ID: "urn:test:5", URL: "http://h/", MediaType: "text/html; charset=utf-8", Status: 200, Size: 5}
	if r != want || !strings.HasPrefix(digest, "sha1:") {
		t.Errorf("%+v, want %+v", r, want)
	}
	damage(t, name, "page\n\r\n\r\n", "page\n-\n\r\n")
	if code, out, errs := ran(t, "", "list", name); code != 1 || strings.Count(out, "\n") != 7 || !strings.HasSuffix(out, " ftp://h/cut\n") || !strings.Contains(errs, "(1) warc: "+name+": record at offset ") {
		t.Errorf("%d %q %q", code, out, errs)
	}
}

// TestGet checks which document get writes, and that it says if that is not right.
func TestGet(t *testing.T) {
	name := archive(t)
	for _, tc := range []struct {
		args []string
		code int
		out  string // its end
		errs string
	}{
		{[]string{name, "gopher://h/0/a"}, 0, "first\x1b[2J\n", ""}, // the last one is a revisit of the first
		{[]string{name, "http://h/"}, 0, "page\n", ""},
		{[]string{"--head", name, "http://h/"}, 0, "\r\n\r\nHTTP/1.0 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n", ""},
		{[]string{"--record", name, "http://h/"}, 0, "\r\n\r\npage\n\r\n\r\n", ""},
		{[]string{name, "ftp://h/cut"}, 18, "half", "was not received completely (disconnect)"},
		{[]string{name, "gopher://h/0/c"}, 78, "", "there is no document of this URL"},
		{[]string{name, "gopher://h/0/b"}, 78, "", "refers to a record of another file"},
		{[]string{name, "1"}, 1, "", "record at offset 1: "},
		{[]string{name, "9999999"}, 1, "", "record at offset 9999999: the file ends here"},
		{[]string{name, "0"}, 0, "conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n", ""},
	} {
		code, out, errs := ran(t, "", append([]string{"get"}, tc.args...)...)
		if code != tc.code || !strings.HasSuffix(out, tc.out) || tc.out == "" && out != "" || !strings.Contains(errs, tc.errs) || (errs == "") != (tc.errs == "") {
			t.Errorf("%q: %d %q %q", tc.args, code, out, errs)
		}
	}
	damage(t, name, "page\n", "pale\n")
	if code, _, errs := ran(t, "", "get", name, "http://h/"); code != 1 || !strings.Contains(errs, "Digest is sha1:") {
		t.Errorf("%d %q", code, errs)
	}
}

// TestGetFolder gets the last document of all files of a folder, or of those in a WACZ file, with and
// without an index.
func TestGetFolder(t *testing.T) {
	folder := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("b.warc", text(warc.Response, "http://h/", "2", strings.Replace(hello, "hello", "first", 1)))
	write("a.warc.gz", zipped(text(warc.Response, "http://h/", "5", hello), text(warc.Response, "http://h/x", "1", strings.Replace(hello, "hello", "other", 1))))
	write("c.warc", text(warc.Revisit, "http://h/x", "3", "HTTP/1.1 304 Not Modified\r\n\r\n"))
	wacz := filepath.Join(t.TempDir(), "all.wacz")
	if code, _, errs := ran(t, "", "index", "--wacz", wacz, folder); code != 0 {
		t.Fatal(errs)
	}
	for _, indexed := range []bool{false, true} {
		if index := filepath.Join(folder, "index.cdxj"); indexed {
			if code, _, errs := ran(t, "", "index", "-o", index, folder); code != 0 {
				t.Fatal(errs)
			}
		}
		for _, tc := range []struct {
			args []string
			code int
			out  string // its end
			errs string
		}{
			{[]string{folder, "http://h/"}, 0, "hello", ""},  // not that of the last file
			{[]string{folder, "http://h/x"}, 0, "other", ""}, // the last one is a revisit, of another file
			{[]string{"--head", folder, "http://h/"}, 0, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", ""},
			{[]string{"--record", folder, "http://h/x"}, 0, "\r\n\r\nother\r\n\r\n", ""},
			{[]string{folder, "http://h/y"}, 78, "", "(78) warc: " + folder + ": there is no document of this URL"},
			{[]string{folder, "0"}, 2, "", "has no OFFSET"},
			{[]string{wacz, "http://h/"}, 0, "hello", ""},
			{[]string{t.TempDir(), "http://h/"}, 26, "", "there are no WARC or WACZ files in the folder"},
		} {
			code, out, errs := ran(t, "", append([]string{"get"}, tc.args...)...)
			if code != tc.code || !strings.HasSuffix(out, tc.out) || tc.out == "" && out != "" || !strings.Contains(errs, tc.errs) || (errs == "") != (tc.errs == "") {
				t.Errorf("%q, with an index: %t: %d %q %q", tc.args, indexed, code, out, errs)
			}
		}
	}
	write("c.warc", "not WARC")
	if code, out, errs := ran(t, "", "get", folder, "http://h/"); code != 0 || out != "hello" {
		t.Errorf("with a damaged file: %d %q %q", code, out, errs)
	}
	if code, _, errs := ran(t, "", "get", folder, "http://h/y"); code != 1 || !strings.Contains(errs, "c.warc") {
		t.Errorf("maybe in a damaged file: %d %q", code, errs)
	}
}

// TestOutput checks the exit codes if the output cannot be written, and if the user interrupts.
func TestOutput(t *testing.T) {
	name := archive(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"verify", name}, {"list", name}, {"get", name, "http://h/"}} {
		var errs bytes.Buffer
		if code := Command().Run(t.Context(), args, stdio.Streams{Out: full{}, Err: &errs}); code != 23 || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%q: %d %q", args, code, errs.String())
		}
		if code := Command().Run(ctx, args, stdio.Streams{Out: io.Discard, Err: &errs}); code != 130 {
			t.Errorf("%q: %d", args, code)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// text returns a record as another program may have written it. more are lines of its header.
func text(typ warc.Type, url, date, block string, more ...string) string {
	head := []string{"WARC/1.0", "WARC-Type: " + string(typ), "WARC-Target-URI: " + url, "WARC-Date: 2024-01-0" + date + "T03:04:05Z",
		"WARC-Record-ID: <urn:test:" + url + date + ">", "Content-Type: application/http;msgtype=response", fmt.Sprintf("Content-Length: %d", len(block))}
	return strings.Join(append(head, more...), "\r\n") + "\r\n\r\n" + block + "\r\n\r\n"
}

// hello is a response that brings "hello".
const hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

// zipped returns texts as a gzip member each.
func zipped(texts ...string) string {
	var b bytes.Buffer
	for _, text := range texts {
		zip := gzip.NewWriter(&b)
		_, _ = io.WriteString(zip, text)
		_ = zip.Close()
	}
	return b.String()
}

// got runs get for a file of that content.
func got(t *testing.T, content string, args ...string) (code int, out, errs string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.warc")
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	last := len(args) - 1
	return ran(t, "", append(append([]string{"get"}, args[:last]...), name, args[last])...)
}

// TestGetChunks writes the documents of responses that are stored in chunks, or say so.
func TestGetChunks(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for body, want := range map[string]struct {
		out  string
		code int
	}{
		"5\r\nhello\r\n0\r\n\r\n":                      {"hello", 0},
		"3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\nA: b\r\n\r\n": {"hello", 0},
		"0\r\n\r\n":      {"", 0},
		"hello":          {"hello", 0}, // the program has joined them
		"5\r\nhello\r\n": {"hello", 26},
	} {
		file := text(warc.Response, "http://h/", "1", head+body)
		if code, out, errs := got(t, file, "http://h/"); out != want.out || code != want.code || (errs == "") != (code == 0) {
			t.Errorf("%q: %d %q %q", body, code, out, errs)
		}
		if _, out, _ := got(t, file, "--record", "http://h/"); out != file {
			t.Errorf("%q: --record %q, want %q", body, out, file)
		}
	}
	cut := text(warc.Response, "http://h/", "1", head+"5\r\nhello\r\n9\r\nwor", "WARC-Truncated: disconnect")
	if code, out, errs := got(t, cut, "http://h/"); code != 18 || out != "hellowor" || !strings.Contains(errs, "(disconnect)") {
		t.Errorf("%d %q %q", code, out, errs)
	}
}

// TestGetRevisit finds the record with the payload by every field that may name it.
func TestGetRevisit(t *testing.T) {
	const digest, head = "WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N", "HTTP/1.1 304 Not Modified\r\n\r\n"
	named := []string{"WARC-Refers-To-Target-URI: http://h/a", "WARC-Refers-To-Date: 2024-01-01T03:04:05Z"}
	one := text(warc.Response, "http://h/a", "1", hello, digest)
	other := text(warc.Response, "http://h/a", "2", "HTTP/1.1 200 OK\r\n\r\nother")
	for name, tc := range map[string]struct {
		file []string
		out  string
		code int
	}{
		"by URL and date":            {[]string{one, other, text(warc.Revisit, "http://h/b", "3", head, named...)}, "hello", 0},
		"by URL and date, later":     {[]string{text(warc.Revisit, "http://h/b", "3", head, named...), one}, "hello", 0},
		"by ID":                      {[]string{one, other, text(warc.Revisit, "http://h/b", "3", head, "WARC-Refers-To: <urn:test:http://h/a1>")}, "hello", 0},
		"by digest":                  {[]string{one, other, text(warc.Revisit, "http://h/a", "3", head, digest)}, "hello", 0},
		"by digest without its name": {[]string{one, other, text(warc.Revisit, "http://h/a", "3", head, digest[:21]+digest[26:])}, "hello", 0},
		"not modified":               {[]string{one, other, text(warc.Revisit, "http://h/a", "3", head, "WARC-Profile: "+warc.NotModified), text(warc.Response, "http://h/c", "4", hello)}, "other", 0},
		"in another file":            {[]string{other, text(warc.Revisit, "http://h/a", "3", head, named...)}, "", 78},
		"with another digest":        {[]string{one, text(warc.Revisit, "http://h/b", "3", head, append(named, "WARC-Payload-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")...)}, "", 78},
	} {
		file, url := strings.Join(tc.file, ""), "http://h/b"
		if !strings.Contains(file, url) {
			url = "http://h/a"
		}
		code, out, errs := got(t, file, url)
		if code != tc.code || out != tc.out || (code != 0) != strings.Contains(errs, "another file") {
			t.Errorf("%s: %d %q %q", name, code, out, errs)
		}
		if _, out, _ := got(t, zipped(tc.file...), url); out != tc.out {
			t.Errorf("%s, compressed: %q", name, out)
		}
	}
	file := one + text(warc.Revisit, "http://h/b", "3", head, named...)
	at := fmt.Sprint(len(one))
	if code, out, errs := got(t, file, at); code != 0 || out != "hello" {
		t.Errorf("by offset: %d %q %q", code, out, errs)
	}
	if code, out, errs := got(t, file, "--record", at); code != 0 || out != file[len(one):] {
		t.Errorf("by offset: %d %q %q", code, out, errs)
	}
}

// TestGetFromDamage writes documents whose own record is whole.
func TestGetFromDamage(t *testing.T) {
	a, b, c := text(warc.Response, "http://h/a", "1", hello), text(warc.Response, "http://h/b", "1", strings.Repeat(hello, 9)), text(warc.Response, "http://h/c", "1", hello)
	long := strings.Replace(b, "Content-Length: ", "Content-Length: 1", 1)
	flipped := []byte(zipped(b))
	flipped[len(flipped)/2] ^= 4
	for name, tc := range map[string]struct {
		file string
		lost string // the URL that cannot be read
	}{
		"the last is cut":           {zipped(a, c) + zipped(b)[:60], "http://h/b"},
		"one is cut":                {zipped(a) + zipped(b)[:90] + zipped(b, c), ""},
		"an octet differs":          {zipped(a) + string(flipped) + zipped(c), "http://h/b"},
		"the length is too large":   {zipped(a, long, c), "http://h/b"},
		"it is too large by one":    {a + strings.Replace(b, "Content-Length: 396", "Content-Length: 397", 1) + c, ""},
		"empty lines between them":  {a + "\r\n\r\n" + b + c, ""},
		"NUL at the end":            {zipped(a, b, c) + strings.Repeat("\x00", 512), ""},
		"something before them":     {"x\r\n" + a + b + c, ""},
		"all in one member":         {zipped(a + b + c), ""},
		"the length is not correct": {a + strings.Replace(b, "Content-Length: ", "Content-Length: -", 1) + c, "http://h/b"},
	} {
		for _, url := range []string{"http://h/a", "http://h/b", "http://h/c"} {
			code, out, errs := got(t, tc.file, url)
			switch {
			case url == tc.lost && (code != 1 || !strings.Contains(errs, "record at offset")):
				t.Errorf("%s: %s: %d %q", name, url, code, errs)
			case url != "http://h/b" && (code != 0 || out != "hello"):
				t.Errorf("%s: %s: %d %q %q", name, url, code, out, errs)
			}
		}
	}
}
