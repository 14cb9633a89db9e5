package fetchtest

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/check"
	"github.com/fetch1738/fetch1738/locator"
)

// testIdentity tests that a fetch delivers exactly the bytes of a document, however they arrive and
// are read.
func testIdentity(t *testing.T, s *subject) {
	subtest(t, s, "documents", func(fx *fixture) {
		for name, l := range fx.site.each(names()...) {
			checkDocument(fx, name, l)
		}
	})
	subtest(t, s, "reader", func(fx *fixture) {
		for name, l := range fx.site.each(small, octets, "empty") {
			if res, err, _ := fx.fetch(fx.ctx(), &fetch.Request{Locator: l}); err != nil {
				fx.Error(err)
			} else {
				if err := iotest.TestReader(onlyReader{res.Body}, s.want(name)); err != nil {
					fx.Errorf("%s: %v", name, err)
				}
				res.Close()
			}
		}
	})
	subtest(t, s, "writer to", testWriterTo)
	subtest(t, s, "directory", testDirectory)
	subtest(t, s, "part of a directory", testLimitedDirectory)
	subtest(t, s, "attributes", testAttributes)
	if s.Local {
		return
	}
	subtest(t, s, "octet by octet", func(fx *fixture) {
		fx.net.Step = 1
		checkSmallDocuments(fx)
	})
	if s.memory {
		subtest(t, s, "slow reader", testSlowReader)
		subtest(t, s, "slowly", func(fx *fixture) {
			if s.secure {
				return // a byte of TLS is a whole record
			}
			// The whole takes longer than the limits, but the server is never silent for longer
			// than they allow. A Fetcher may interrupt a Read that waits, which begins another
			// pause.
			fx.net.Step, fx.net.Pause = 1, 300*time.Millisecond
			fx.env.Limits = fetch.Limits{Reply: time.Hour, Idle: 2 * time.Second}
			checkSmallDocuments(fx)
		})
	} else {
		subtest(t, s, "zero Env", func(fx *fixture) {
			// No connections of fetchtest between the Fetcher and the network.
			fx.fetcher = s.New(nil)
			for name, l := range fx.site.each(small, octets, large) {
				check.Octets(fx, name, fx.get(fx.ctx(), l), s.want(name))
				checkFile(fx, name, l)
			}
		})
	}
}

// onlyReader hides the other methods of a Body.
type onlyReader struct{ io.Reader }

// checkDocument fetches a document and checks its Resource.
func checkDocument(fx *fixture, name string, l locator.Locator) {
	a := fx.get(fx.ctx(), l)
	want := fx.subject.want(name)
	check.Octets(fx, name, a, want)
	if a.Err != nil {
		return
	}
	if a.Resource.Kind != fetch.KindDocument || a.Resource.Items != nil {
		fx.Errorf("%s: the Resource's Kind is %v, and it has Items: %t; want a document without Items", name, a.Resource.Kind, a.Resource.Items != nil)
	}
	if a.Resource.Locator == nil || !locator.Equal(a.Resource.Locator, l) {
		fx.Errorf("%s: the Resource's Locator is %v; the one requested was %v", name, a.Resource.Locator, l)
	}
	if !fx.subject.Local && !fx.net.Reached(a.Resource.Peer) || fx.subject.Local && a.Resource.Peer.IsValid() {
		fx.Errorf("%s: Resource.Peer is %v; it must be the address of the server", name, a.Resource.Peer)
	}
	check.Size(fx, name, a.Resource.Size, want)
}

// checkSmallDocuments fetches every document but the large one.
func checkSmallDocuments(fx *fixture) {
	for _, name := range names() {
		if l := fx.site.Locate(name); l != nil && name != large {
			check.Octets(fx, name, fx.get(fx.ctx(), l), fx.subject.want(name))
		}
	}
}

// testSlowReader pauses between reads. That must not count as idleness of the server.
func testSlowReader(fx *fixture) {
	l := fx.site.Locate(large)
	if l == nil {
		return
	}
	fx.env.Limits = fetch.Limits{Reply: time.Second, Idle: time.Second}
	res := fx.mustFetch(fx.ctx(), l)
	defer res.Close()
	var got bytes.Buffer
	for range 3 {
		if _, err := io.CopyN(&got, res.Body, 100<<10); err != nil {
			fx.Fatalf("a reader that pauses got an error after %d bytes: %v", got.Len(), err)
		}
		time.Sleep(5 * time.Second)
	}
	if _, err := io.Copy(&got, res.Body); err != nil {
		fx.Fatalf("a reader that pauses got an error after %d bytes: %v", got.Len(), err)
	}
	if want := fx.subject.want(large); !bytes.Equal(got.Bytes(), want) {
		fx.Error(check.Difference(got.Bytes(), want))
	}
}

// testWriterTo reads Bodies by their WriteTo, from the start and from the middle.
func testWriterTo(fx *fixture) {
	for name, l := range fx.site.each(small, octets, large, "empty") {
		checkFile(fx, name, l)
		want := fx.subject.want(name)
		res, err, _ := fx.fetch(fx.ctx(), &fetch.Request{Locator: l})
		if err != nil {
			fx.Error(err)
			continue
		}
		head := make([]byte, min(5, len(want)))
		if _, err := io.ReadFull(res.Body, head); err != nil {
			fx.Errorf("%s: %v", name, err)
		}
		rest := bytes.NewBuffer(head)
		if n, err := io.Copy(rest, res.Body); err != nil || n != int64(len(want)-len(head)) {
			fx.Errorf("%s: after a read of 5 bytes WriteTo returns %d, %v; it must write the rest", name, n, err)
		}
		if !bytes.Equal(rest.Bytes(), want) {
			fx.Errorf("%s by WriteTo: %s", name, check.Difference(rest.Bytes(), want))
		}
		res.Close()
	}
}

// checkFile copies a body to a file, which may use splice.
func checkFile(fx *fixture, name string, l locator.Locator) {
	want := fx.subject.want(name)
	res, fail, _ := fx.fetch(fx.ctx(), &fetch.Request{Locator: l})
	if fail != nil {
		fx.Error(fail)
		return
	}
	defer res.Close()
	path := filepath.Join(fx.TempDir(), "copy")
	f, err := os.Create(path)
	if err != nil {
		fx.Fatal(err)
	}
	n, err := io.Copy(f, res.Body)
	f.Close()
	if err != nil || n != int64(len(want)) {
		fx.Errorf("%s to a file: %d bytes, %v", name, n, err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		fx.Errorf("%s in a file: %v %s", name, err, check.Difference(got, want))
	}
}

// testDirectory lists a directory: it must have all entries, and each must lead to what it names.
func testDirectory(fx *fixture) {
	l := fx.site.Locate(directory)
	if l == nil {
		return
	}
	res := fx.mustFetch(fx.ctx(), l)
	if res.Kind != fetch.KindDirectory && res.Kind != fetch.KindMenu || res.Items == nil {
		fx.Fatalf("%s: the Resource's Kind is %v, and it has Items: %t; want a directory or menu with Items", directory, res.Kind, res.Items != nil)
	}
	items, fail := items(fx, res)
	if fail != nil {
		fx.Fatal(fail)
	}
	if err := res.Close(); err != nil {
		fx.Errorf("Close of a directory that was read to its end returns %v", err)
	}
	var found []string
	for _, item := range items {
		if item.Locator == nil {
			continue
		}
		found = append(found, item.Name)
		checkEntry(fx, item)
	}
	slices.Sort(found)
	if want := entries(); !slices.Equal(found, want) {
		fx.Errorf("the directory lists %q, want %q", found, want)
	}
}

// testLimitedDirectory tests that no more entries are listed than the limits allow.
func testLimitedDirectory(fx *fixture) {
	l := fx.site.Locate(directory)
	if l == nil {
		return
	}
	fx.env.Limits.Items = len(entries()) - 1
	names, fail := fx.list(fx.ctx(), l)
	if len(names) != fx.env.Limits.Items {
		fx.Errorf("%d entries were listed; the limit in Env.Limits is %d", len(names), fx.env.Limits.Items)
	}
	check.Kind(fx, "a directory with more entries than the limit", check.Answer{Err: fail}, fetch.ErrTooLarge)
}

// checkEntry fetches the locator of a directory's entry.
func checkEntry(fx *fixture, item fetch.Item) {
	a := fx.do(fx.ctx(), &fetch.Request{Locator: item.Locator, From: fetch.Provenance{Kind: fetch.OriginRemote, By: fx.site.Locate(directory)}})
	if a.Err != nil {
		fx.Errorf("the entry %q: fetching its locator %v failed: %v", item.Name, item.Locator, a.Err)
		return
	}
	want, isDocument := documents()[directory+"/"+item.Name]
	if !isDocument {
		if a.Resource.Items == nil {
			fx.Errorf("the locator of the entry %q leads to a %v; want a directory", item.Name, a.Resource.Kind)
		}
		return
	}
	check.Octets(fx, "the entry "+item.Name, a, fx.subject.want(directory+"/"+item.Name))
	if item.Kind != fetch.KindDocument {
		fx.Errorf("the Kind of the entry %q is %v; want a document", item.Name, item.Kind)
	}
	check.Size(fx, "the entry "+item.Name, item.Size, want)
	if strings.ContainsAny(item.Name, "\r\n") {
		fx.Errorf("the entry %q has a line end in its name", item.Name)
	}
}

// testAttributes finds the attributes of the documents.
func testAttributes(fx *fixture) {
	finder, ok := fx.open().(driver.AttributeFinder)
	if !ok {
		return
	}
	for name, l := range fx.site.each(names()...) {
		attrs, err := finder.FindAttributes(fx.ctx(), &fetch.Request{Locator: l})
		if err != nil {
			fx.Errorf("%s: %v", name, check.Error(fx, err, l))
			continue
		}
		check.Size(fx, name, attrs.Size, fx.subject.want(name))
		if !attrs.ModTime.IsZero() && attrs.ModTime.Unix() != modTime.Unix() {
			fx.Errorf("%s: ModTime is %v, want %v", name, attrs.ModTime, modTime)
		}
	}
	if l := fx.site.Locate(missing); l != nil {
		if attrs, err := finder.FindAttributes(fx.ctx(), &fetch.Request{Locator: l}); err == nil {
			fx.Errorf("FindAttributes of a missing document returns %+v; want an error", attrs)
		} else {
			check.Kind(fx, "FindAttributes of a missing document", check.Answer{Err: check.Error(fx, err, l)}, fetch.ErrNotFound)
		}
	}
}
