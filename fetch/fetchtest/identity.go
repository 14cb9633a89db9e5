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
	"github.com/fetch1738/fetch1738/locator"
)

// identity tests that a fetch delivers exactly the bytes of a document, however they arrive and are
// read.
func (k *kit) identity(t *testing.T) {
	k.test(t, "documents", func(r *rig) {
		for _, name := range names() {
			if l := r.site.Locate(name); l != nil {
				r.document(name, l)
			}
		}
	})
	k.test(t, "reader", func(r *rig) {
		for _, name := range []string{small, octets, "empty"} {
			l := r.site.Locate(name)
			if l == nil {
				continue
			}
			if res, err, _ := r.fetch(r.ctx(), &fetch.Request{Locator: l}); err != nil {
				r.Error(err)
			} else {
				if err := iotest.TestReader(onlyReader{res.Body}, k.want(name)); err != nil {
					r.Errorf("%s: %v", name, err)
				}
				res.Close()
			}
		}
	})
	k.test(t, "writer to", (*rig).writerTo)
	k.test(t, "directory", (*rig).directory)
	k.test(t, "part of a directory", (*rig).limitedDirectory)
	k.test(t, "attributes", (*rig).attributes)
	if k.Local {
		return
	}
	k.test(t, "octet by octet", func(r *rig) {
		r.net.step = 1
		r.smallDocuments()
	})
	if k.memory {
		k.test(t, "slow reader", (*rig).slowReader)
		k.test(t, "slowly", func(r *rig) {
			if k.secure {
				return // a byte of TLS is a whole record
			}
			// The whole takes longer than the limits, but the server is never silent for longer
			// than they allow. A Fetcher may interrupt a Read that waits, which begins another pause.
			r.net.step, r.net.pause = 1, 300*time.Millisecond
			r.env.Limits = fetch.Limits{Reply: time.Hour, Idle: 2 * time.Second}
			r.smallDocuments()
		})
	} else {
		k.test(t, "zero Env", func(r *rig) {
			// No connections of fetchtest between the Fetcher and the network.
			r.fetcher = k.New(nil)
			for _, name := range []string{small, octets, large} {
				if l := r.site.Locate(name); l != nil {
					r.checkOctets(name, r.get(r.ctx(), l), k.want(name))
					r.toFile(name, l)
				}
			}
		})
	}
}

// onlyReader hides the other methods of a Body.
type onlyReader struct{ io.Reader }

// document fetches a document and checks its Resource.
func (r *rig) document(name string, l locator.Locator) {
	a := r.get(r.ctx(), l)
	want := r.kit.want(name)
	r.checkOctets(name, a, want)
	if a.err != nil {
		return
	}
	if a.res.Kind != fetch.KindDocument || a.res.Items != nil {
		r.Errorf("%s: the Resource's Kind is %v, and it has Items: %t; want a document without Items", name, a.res.Kind, a.res.Items != nil)
	}
	if a.res.Locator == nil || !locator.Equal(a.res.Locator, l) {
		r.Errorf("%s: the Resource's Locator is %v; the one requested was %v", name, a.res.Locator, l)
	}
	if !r.kit.Local && !r.net.reached(a.res.Peer) || r.kit.Local && a.res.Peer.IsValid() {
		r.Errorf("%s: Resource.Peer is %v; it must be the address of the server", name, a.res.Peer)
	}
	r.checkSize(name, a.res.Size, want)
}

// checkSize checks that size is the right one, or unknown.
func (r *rig) checkSize(what string, size int64, want []byte) {
	r.Helper()
	if size != -1 && size != int64(len(want)) {
		r.Errorf("%s: the Size is %d; want %d, or -1 if it is unknown", what, size, len(want))
	}
}

// smallDocuments fetches every document but the large one.
func (r *rig) smallDocuments() {
	for _, name := range names() {
		if l := r.site.Locate(name); l != nil && name != large {
			r.checkOctets(name, r.get(r.ctx(), l), r.kit.want(name))
		}
	}
}

// slowReader pauses between reads. That must not count as idleness of the server.
func (r *rig) slowReader() {
	l := r.site.Locate(large)
	if l == nil {
		return
	}
	r.env.Limits = fetch.Limits{Reply: time.Second, Idle: time.Second}
	res, fail, _ := r.fetch(r.ctx(), &fetch.Request{Locator: l})
	if fail != nil {
		r.Fatal(fail)
	}
	defer res.Close()
	var got bytes.Buffer
	for range 3 {
		if _, err := io.CopyN(&got, res.Body, 100<<10); err != nil {
			r.Fatalf("a reader that pauses got an error after %d bytes: %v", got.Len(), err)
		}
		time.Sleep(5 * time.Second)
	}
	if _, err := io.Copy(&got, res.Body); err != nil {
		r.Fatalf("a reader that pauses got an error after %d bytes: %v", got.Len(), err)
	}
	if want := r.kit.want(large); !bytes.Equal(got.Bytes(), want) {
		r.Error(difference(got.Bytes(), want))
	}
}

// writerTo reads Bodies by their WriteTo, from the start and from the middle.
func (r *rig) writerTo() {
	for _, name := range []string{small, octets, large, "empty"} {
		l := r.site.Locate(name)
		if l == nil {
			continue
		}
		r.toFile(name, l)
		want := r.kit.want(name)
		res, err, _ := r.fetch(r.ctx(), &fetch.Request{Locator: l})
		if err != nil {
			r.Error(err)
			continue
		}
		head := make([]byte, min(5, len(want)))
		if _, err := io.ReadFull(res.Body, head); err != nil {
			r.Errorf("%s: %v", name, err)
		}
		rest := bytes.NewBuffer(head)
		if n, err := io.Copy(rest, res.Body); err != nil || n != int64(len(want)-len(head)) {
			r.Errorf("%s: after a read of 5 bytes WriteTo returns %d, %v; it must write the rest", name, n, err)
		}
		if !bytes.Equal(rest.Bytes(), want) {
			r.Errorf("%s by WriteTo: %s", name, difference(rest.Bytes(), want))
		}
		res.Close()
	}
}

// toFile copies a body to a file, which may use splice.
func (r *rig) toFile(name string, l locator.Locator) {
	want := r.kit.want(name)
	res, fail, _ := r.fetch(r.ctx(), &fetch.Request{Locator: l})
	if fail != nil {
		r.Error(fail)
		return
	}
	defer res.Close()
	path := filepath.Join(r.TempDir(), "copy")
	f, err := os.Create(path)
	if err != nil {
		r.Fatal(err)
	}
	n, err := io.Copy(f, res.Body)
	f.Close()
	if err != nil || n != int64(len(want)) {
		r.Errorf("%s to a file: %d bytes, %v", name, n, err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		r.Errorf("%s in a file: %v %s", name, err, difference(got, want))
	}
}

// directory lists a directory: it must have all entries, and each must lead to what it names.
func (r *rig) directory() {
	l := r.site.Locate(directory)
	if l == nil {
		return
	}
	res, err, _ := r.fetch(r.ctx(), &fetch.Request{Locator: l})
	if err != nil {
		r.Fatal(err)
	}
	if res.Kind != fetch.KindDirectory && res.Kind != fetch.KindMenu || res.Items == nil {
		r.Fatalf("%s: the Resource's Kind is %v, and it has Items: %t; want a directory or menu with Items", directory, res.Kind, res.Items != nil)
	}
	items, fail := r.items(res)
	if fail != nil {
		r.Fatal(fail)
	}
	if err := res.Close(); err != nil {
		r.Errorf("Close of a directory that was read to its end returns %v", err)
	}
	var found []string
	for _, item := range items {
		if item.Locator == nil {
			continue
		}
		found = append(found, item.Name)
		r.follow(item)
	}
	slices.Sort(found)
	if want := entries(); !slices.Equal(found, want) {
		r.Errorf("the directory lists %q, want %q", found, want)
	}
}

// limitedDirectory tests that no more entries are listed than the limits allow.
func (r *rig) limitedDirectory() {
	l := r.site.Locate(directory)
	if l == nil {
		return
	}
	r.env.Limits.Items = len(entries()) - 1
	names, fail := r.list(r.ctx(), l)
	if len(names) != r.env.Limits.Items {
		r.Errorf("%d entries were listed; the limit in Env.Limits is %d", len(names), r.env.Limits.Items)
	}
	r.checkKind("a directory with more entries than the limit", answer{err: fail}, fetch.ErrTooLarge)
}

// items collects the Items of a Resource.
func (r *rig) items(res *fetch.Resource) (items []fetch.Item, fail *fetch.Error) {
	r.Helper()
	for item, err := range res.Items {
		if fail != nil {
			r.Errorf("Items continues with %q after an error; it must end", item.Name)
		}
		if err != nil {
			fail = r.checkError(err, res.Locator)
			continue
		}
		items = append(items, item)
	}
	return items, fail
}

// follow fetches the locator of a directory's entry.
func (r *rig) follow(item fetch.Item) {
	a := r.do(r.ctx(), &fetch.Request{Locator: item.Locator, From: fetch.Provenance{Kind: fetch.OriginRemote, By: r.site.Locate(directory)}})
	if a.err != nil {
		r.Errorf("the entry %q: fetching its locator %v failed: %v", item.Name, item.Locator, a.err)
		return
	}
	want, isDocument := documents()[directory+"/"+item.Name]
	if !isDocument {
		if a.res.Items == nil {
			r.Errorf("the locator of the entry %q leads to a %v; want a directory", item.Name, a.res.Kind)
		}
		return
	}
	r.checkOctets("the entry "+item.Name, a, r.kit.want(directory+"/"+item.Name))
	if item.Kind != fetch.KindDocument {
		r.Errorf("the Kind of the entry %q is %v; want a document", item.Name, item.Kind)
	}
	r.checkSize("the entry "+item.Name, item.Size, want)
	if strings.ContainsAny(item.Name, "\r\n") {
		r.Errorf("the entry %q has a line end in its name", item.Name)
	}
}

// attributes finds the attributes of the documents.
func (r *rig) attributes() {
	finder, ok := r.open().(driver.AttributeFinder)
	if !ok {
		return
	}
	for _, name := range names() {
		l := r.site.Locate(name)
		if l == nil {
			continue
		}
		attrs, err := finder.FindAttributes(r.ctx(), &fetch.Request{Locator: l})
		if err != nil {
			r.Errorf("%s: %v", name, r.checkError(err, l))
			continue
		}
		r.checkSize(name, attrs.Size, r.kit.want(name))
		if !attrs.ModTime.IsZero() && attrs.ModTime.Unix() != modTime.Unix() {
			r.Errorf("%s: ModTime is %v, want %v", name, attrs.ModTime, modTime)
		}
	}
	if l := r.site.Locate(missing); l != nil {
		if attrs, err := finder.FindAttributes(r.ctx(), &fetch.Request{Locator: l}); err == nil {
			r.Errorf("FindAttributes of a missing document returns %+v; want an error", attrs)
		} else {
			r.checkKind("FindAttributes of a missing document", answer{err: r.checkError(err, l)}, fetch.ErrNotFound)
		}
	}
}
