package scaletest

import (
	"bufio"
	"crypto/sha1"
	"encoding/base32"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/archive/cdx"
	"github.com/fetch1738/fetch1738/archive/warc"
)

// maxShown is the number of wrong URLs that a check prints.
const maxShown = 10

// Check checks what the hosts have seen: each document was asked for, at most repeated requests were
// for a document that had been requested before, there was at most one connection to an address at
// any moment, and between the end of a request and the next one the time wait at least.
func (h *Hosts) Check(tb testing.TB, wait time.Duration, repeated int) {
	tb.Helper()
	if missing := h.Missing(); len(missing) > 0 {
		tb.Errorf("%d of %d documents were never requested: %q", len(missing), h.Documents(), missing[:min(maxShown, len(missing))])
	}
	if requests, n := h.Count(); n > repeated {
		tb.Errorf("%d of %d requests were for a document that had been requested before, want %d at most", n, requests, repeated)
	}
	h.CheckPolite(tb, wait)
}

// CheckPolite is the part of Check about connections and the time between them.
func (h *Hosts) CheckPolite(tb testing.TB, wait time.Duration) {
	tb.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	crowded, hurried := 0, 0
	for addr, l := range h.lines {
		if l.most > 1 {
			if crowded++; crowded <= maxShown {
				tb.Errorf("%v had %d connections at once", addr, l.most)
			}
		}
		if l.gaps > 0 && l.least < wait {
			if hurried++; hurried <= maxShown {
				tb.Errorf("%v was asked %v after the end of the request before, want %v", addr, l.least, wait)
			}
		}
	}
	if len(h.strange) > 0 {
		tb.Errorf("requests for what nothing links to: %q", h.strange[:min(maxShown, len(h.strange))])
	}
}

// Connections returns the number of connections to all hosts, and the largest number of an address
// at once.
func (h *Hosts) Connections() (total, most int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.lines {
		total += l.total
		most = max(most, l.most)
	}
	return total, most
}

// CheckArchive checks a folder with WARC files and the file index.cdxj: each document is there once,
// with its octets, the index has the documents of the files and no others, and the files have no defect.
func (h *Hosts) CheckArchive(tb testing.TB, dir string) {
	tb.Helper()
	files := Captures(tb, dir)
	wrong := 0
	fail := func(format string, args ...any) {
		if wrong++; wrong <= maxShown {
			tb.Errorf(format, args...)
		}
	}
	documents := 0
	for i := range h.Options.Hosts {
		if !h.Alive(i) {
			continue
		}
		for document := range h.PerHost() {
			url, want := h.URL(i, document), digest(h.text(i, document))
			if got := files[url]; len(got) != 1 || got[0] != want {
				fail("%s: the files have %q, want %q once", url, got, want)
			}
			documents++
		}
	}
	index := IndexLines(tb, dir)
	for url, digests := range files {
		if got := index[url]; !slices.Equal(got, digests) {
			fail("%s: the index has %q, and the files %q", url, got, digests)
		}
	}
	for url, digests := range index {
		if files[url] == nil {
			fail("%s: the index has %q, and no file", url, digests)
		}
	}
	tb.Logf("%d documents in the archive", documents)
	if wrong > maxShown {
		tb.Errorf("and %d more", wrong-maxShown)
	}
}

// digest returns the digest of a payload as WARC files have it.
func digest(text string) string {
	sum := sha1.Sum([]byte(text))
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

// Captures returns the digests of the payloads in the WARC files of folders, by URL. It verifies the
// files.
func Captures(tb testing.TB, dirs ...string) map[string][]string {
	tb.Helper()
	found := make(map[string][]string)
	for _, dir := range dirs {
		eachRecord(tb, dir, func(rec *warc.Record) {
			switch rec.Type() {
			case warc.Resource, warc.Revisit, warc.Response:
				url := rec.Header.Get(warc.FieldTargetURI)
				found[url] = append(found[url], rec.Header.Get(warc.FieldPayloadDigest))
			}
		})
	}
	for _, digests := range found {
		slices.Sort(digests)
	}
	return found
}

// eachRecord calls do for each record in the WARC files of a folder. It verifies them.
func eachRecord(tb testing.TB, dir string, do func(*warc.Record)) {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.warc*"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, name := range names {
		if err := readFile(name, do, func(f *warc.Defect) { tb.Errorf("%s: %v", name, f) }); err != nil {
			tb.Errorf("%s: %v", name, err)
		}
	}
}

func readFile(name string, do func(*warc.Record), report func(*warc.Defect)) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := warc.Verify(file, report); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r := warc.NewReader(file)
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		do(rec)
	}
}

// IndexLines returns the digests in the file index.cdxj of a folder, by URL, without the lines about
// files. The files of the lines must exist.
func IndexLines(tb testing.TB, dir string) map[string][]string {
	tb.Helper()
	found := make(map[string][]string)
	file, err := os.Open(filepath.Join(dir, "index.cdxj"))
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	missing := make(map[string]error)
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, cdx.MaxLine)
	before := ""
	for lines.Scan() {
		line, err := cdx.Parse(lines.Bytes())
		if err != nil {
			tb.Fatalf("%q: %v", lines.Text(), err)
		}
		if lines.Text() < before {
			tb.Errorf("the index is not sorted: %q comes after %q", lines.Text(), before)
		}
		before = lines.Text()
		if _, known := missing[line.Filename]; !known {
			_, missing[line.Filename] = os.Stat(filepath.Join(dir, line.Filename))
		}
		if !strings.HasPrefix(line.URL, "warcinfo:") {
			found[line.URL] = append(found[line.URL], line.Digest)
		}
	}
	if err := errors.Join(append(slices.Collect(maps.Values(missing)), lines.Err())...); err != nil {
		tb.Error(err)
	}
	for _, digests := range found {
		slices.Sort(digests)
	}
	return found
}

// IsRules reports whether a URL is that of a robots.txt or caps.txt.
func IsRules(url string) bool {
	return strings.HasSuffix(url, "robots.txt") || strings.HasSuffix(url, "caps.txt")
}

// Dates returns the dates of the WARC files of a folder: those of their warcinfo records.
func Dates(tb testing.TB, dir string) (dates []time.Time) {
	tb.Helper()
	eachRecord(tb, dir, func(rec *warc.Record) {
		if rec.Type() != warc.Info {
			return
		}
		date, err := warc.ParseDate(rec.Header.Get(warc.FieldDate))
		if err != nil {
			tb.Error(err)
		}
		dates = append(dates, date)
	})
	return dates
}
