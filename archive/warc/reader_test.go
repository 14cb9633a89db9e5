package warc

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestReader checks offsets, versions, and what is skipped.
func TestReader(t *testing.T) {
	plain := []byte(info + resource + response)
	zipped := members(info, "", resource, response)
	for _, tc := range []struct {
		file    []byte
		offsets []int
	}{
		{plain, []int{0, len(info), len(info + resource)}},
		{zipped, []int{0, len(members(info, "")), len(members(info, "", resource))}},
		{members(info + resource + response), []int{0, 0, 0}},
	} {
		r := NewReader(bytes.NewReader(tc.file))
		for i, at := range tc.offsets {
			rec, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if rec.Offset != int64(at) || rec.ID() != fmt.Sprintf("urn:uuid:%d", i+1) {
				t.Errorf("%s at %d, want %d", rec.ID(), rec.Offset, at)
			}
			if _, err := io.CopyN(io.Discard, rec.Block, 3); err != nil {
				t.Error(err)
			}
		}
		for range 2 {
			if _, err := r.Next(); err != io.EOF || r.Whole() != int64(len(tc.file)) {
				t.Errorf("at the end: %v, %d", err, r.Whole())
			}
		}
	}
	if _, err := NewReader(strings.NewReader("")).Next(); err != io.EOF {
		t.Errorf("an empty file: %v", err)
	}
}

// TestHeader checks how lines of a header are read.
func TestHeader(t *testing.T) {
	r := NewReader(strings.NewReader("WARC/1.1\r\nA:1\r\na : 2 \r\nWARC-Target-URI: <x:y>\nFolded: a\r\n b\r\n\tc\r\nEmpty:\r\nContent-Length: 1\r\n\r\n.\r\n\r\n"))
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	want := Header{{"A", "1"}, {"a ", "2"}, {FieldTargetURI, "<x:y>"}, {"Folded", "a b c"}, {"Empty", ""}, {FieldContentLength, "1"}}
	if !slices.Equal(rec.Header, want) || rec.TargetURI() != "x:y" || rec.Version != "1.1" || rec.Header.Get("folded") != "a b c" {
		t.Errorf("%q", rec.Header)
	}
}

// TestParseDate checks the forms of dates.
func TestParseDate(t *testing.T) {
	second := time.Date(2026, 11, 24, 12, 0, 1, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-11-24T12:00:01Z": second, "2026-11-24T12:00:01.5Z": second.Add(500 * time.Millisecond),
		"2026-11-24T12:00:01.123456789Z": second.Add(123456789), "2026-11-24T12:00Z": second.Add(-time.Second),
		"2026-11-24": time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC), "2026-11": time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), "2026": time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		if got, err := ParseDate(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "2026-11-24T12:00:01", "2026-11-24T12:00:01+01:00", "2026-11-24T12:00:01.Z", "2026-11-24T12:00:01,5Z",
		"2026-11-24T12:00:01.1234567890Z", "2026-11-24T1:00:01Z", "2026-13-24T12:00:01Z", "20261124120001", "2026-11-24T12:00.5Z", "2026-11-24 12:00:01Z"} {
		if got, err := ParseDate(text); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
	if got := FormatDate(second.In(time.FixedZone("", 3600)), "1.1"); got != "2026-11-24T12:00:01.000000Z" {
		t.Error(got)
	}
}

// TestPayload checks that Payload ends in an error if a digest differs or octets are missing, and
// that the Reader resumes with the next record.
func TestPayload(t *testing.T) {
	for name, record := range map[string]string{
		"block":      edit(resource, "Block-Digest: sha1:6V", "Block-Digest: sha1:7V"),
		"payload":    edit(resource, "Payload-Digest: sha1:6V", "Payload-Digest: sha1:7V"),
		"response":   edit(response, "Payload-Digest: sha1:6V", "Payload-Digest: sha1:7V"),
		"no digest":  edit(resource, "Block-Digest: sha1:6V", "Block-Digest: sha1:"),
		"too short":  edit(resource, "Content-Length: 6", "Content-Length: 60"),
		"too long":   edit(resource, "Content-Length: 6", "Content-Length: 5"),
		"end of it":  strings.TrimSuffix(resource, "\r\n"),
		"short head": edit(response, "Content-Length: 25", "Content-Length: 99"),
	} {
		r := NewReader(bytes.NewReader(members(record, info)))
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		p, err := rec.Payload()
		if err == nil {
			_, err = io.ReadAll(p)
		}
		if bad, ok := errors.AsType[*Defect](err); !ok || bad.Offset != 0 || bad.ID != rec.ID() {
			t.Errorf("%s: %v", name, err)
		}
		if p != nil {
			if _, again := p.Read(make([]byte, 1)); again != err {
				t.Errorf("%s: then %v", name, again)
			}
		}
	}
	r := NewReader(bytes.NewReader(members(response, resource)))
	rec, _ := r.Next()
	p, err := rec.Payload()
	if err != nil || string(p.Head) != "HTTP/1.0 200 OK\r\n\r\n" {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != nil {
		t.Error(err)
	}
}

// zeros is a reader of n octets.
func zeros(n int64) io.Reader { return io.LimitReader(zero{}, n) }

type zero struct{}

func (zero) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestHostile checks that the memory that files need is bounded, and that there is a defect.
func TestHostile(t *testing.T) {
	zipped := func(parts ...io.Reader) io.Reader {
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
		io.Copy(z, io.MultiReader(parts...))
		z.Close()
		return &b
	}
	head := func(length string) io.Reader {
		return strings.NewReader(edit(resource, "Content-Length: 6", "Content-Length: "+length))
	}
	many := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, tc := range map[string]struct {
		file  io.Reader
		limit uint64 // of memory, in MiB
	}{
		"a bomb":                  {zipped(head("50000000"), zeros(50_000_000)), 4},
		"a bomb as a header":      {zipped(strings.NewReader("WARC/1.1\r\nX: "), zeros(30_000_000)), 8},
		"a bomb as a line":        {zipped(zeros(30_000_000)), 4},
		"a bomb after the block":  {zipped(head("6"), zeros(30_000_000)), 4},
		"a huge length":           {head("9223372036854775807"), 4},
		"a length out of range":   {head("9223372036854775808"), 4},
		"a million fields":        {strings.NewReader("WARC/1.1\r\n" + many("X-%d: 1\r\n", 1_000_000) + "\r\n"), 8},
		"as many fields as fit":   {strings.NewReader("WARC/1.1\r\n" + many("X-%d:\r\n", 100_000) + "\r\n"), 64},
		"a field many times":      {strings.NewReader("WARC/1.1\r\n" + many("X:\r\n%.0d", 200_000) + "Content-Length: 0\r\n\r\n\r\n\r\n"), 256},
		"a line folded often":     {strings.NewReader("WARC/1.1\r\nX: 1\r\n" + many(" %d\r\n", 100_000) + "\r\n"), 16},
		"a head without end":      {strings.NewReader(edit(response, "Content-Length: 25", "Content-Length: 9000000", "hello", "") + strings.Repeat("X: 1\r\n", 1_500_000)), 4},
		"only heads":              {strings.NewReader(edit(response, "Content-Length: 25", "Content-Length: 9000000", "OK\r\n\r\nhello", "OK\r\n") + strings.Repeat("X: 1\r\n", 1_500_000)), 16},
		"many empty members":      {bytes.NewReader(append(bytes.Repeat(members(""), 100_000), 0)), 16},
		"beginnings of members":   {bytes.NewReader(bytes.Repeat([]byte("\x1f\x8b\x08\x00"), 300_000)), 64},
		"beginnings of records":   {strings.NewReader(strings.Repeat("WARC/1.1\r\n", 300_000)), 64},
		"concurrent to the world": {strings.NewReader("WARC/1.1\r\nWARC-Record-ID: <x:" + strings.Repeat("x", 1000) + ">\r\nContent-Length: 0\r\n" + many("WARC-Concurrent-To: <x:%d>\r\n", 25_000) + "\r\n\r\n\r\n"), 64},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		defects := 0
		if _, err := Verify(tc.file, func(f *Defect) { defects++ }); err != nil || defects == 0 {
			t.Errorf("%s: %d defects, %v", name, defects, err)
		}
		runtime.ReadMemStats(&after)
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > tc.limit {
			t.Errorf("%s: %d MiB", name, used)
		}
	}
}

// FuzzReader looks for files that the Reader reads differently from the beginning and from an offset,
// or of which a Payload has more or less than the block.
func FuzzReader(f *testing.F) {
	f.Add(members(info, resource, response, revisit))
	f.Add(members(info + resource + response))
	f.Add([]byte(info + resource + response + revisit))
	f.Add([]byte(strings.ReplaceAll(info+resource, "\r\n", "\n")))
	f.Fuzz(func(t *testing.T, file []byte) {
		r := NewReader(bytes.NewReader(file))
		last := int64(-1)
		for {
			rec, err := r.Next()
			if err != nil {
				if bad, ok := errors.AsType[*Defect](err); err != io.EOF && (!ok || bad.Offset > int64(len(file))) {
					t.Fatal(err)
				}
				break
			}
			if rec.Offset != last {
				last = rec.Offset
				at, err := ReadAt(bytes.NewReader(file), rec.Offset)
				if err != nil || !slices.Equal(at.Header, rec.Header) || at.Offset != rec.Offset || at.Length != rec.Length {
					t.Fatalf("at %d: %v, %v", rec.Offset, at, err)
				}
			}
			if p, err := rec.Payload(); err == nil {
				n, err := io.Copy(io.Discard, p)
				if n += int64(len(p.Head)); err == nil && n != rec.Length || n > rec.Length {
					t.Fatalf("%d octets of %d", n, rec.Length)
				}
			}
			if r.Whole() > int64(len(file)) {
				t.Fatal(r.Whole())
			}
		}
	})
}
