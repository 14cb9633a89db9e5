package fetchtest

import (
	"bytes"
	"context"
	stderrors "errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
)

// stored is the name of a document that the content does not have yet.
const stored = "stored.bin"

// replace tests that a stored document can be fetched, and that a failed upload is reported.
func (k *kit) replace(t *testing.T) {
	if !k.stores {
		return
	}
	k.test(t, "documents", func(r *rig) {
		for _, name := range names() {
			data := documents()[name]
			r.store(stored, 0, data)
			r.checkStored(name, stored, data)
		}
	})
	k.test(t, "over another", func(r *rig) {
		r.store(octets, 0, []byte("shorter"))
		r.checkStored("what is shorter", octets, []byte("shorter"))
	})
	k.test(t, "from an offset", func(r *rig) {
		data := documents()[octets]
		r.store(stored, 0, data[:100])
		if a := r.put(stored, 100, bytes.NewReader(data[100:])); a.err != nil {
			r.checkKind("storing from an offset", a, fetch.ErrUnsupported, fetch.ErrBadRange)
			data = data[:100]
		}
		r.checkStored("in two parts", stored, data)
	})
	k.test(t, "unreadable", func(r *rig) {
		cause := stderrors.New("the disk is gone")
		for _, n := range []int{0, 100, 100 << 10} {
			body := io.MultiReader(bytes.NewReader(documents()[large][:n]), iotest.ErrReader(cause))
			a := r.put(stored, 0, body)
			r.checkKind("a body that cannot be read", a, fetch.ErrLocalIO)
			if a.err != nil && !stderrors.Is(a.err, cause) {
				r.Errorf("the error does not wrap the error of the body's reader: %v", a.err)
			}
			r.store(stored, 0, []byte("again"))
		}
	})
	k.test(t, "nowhere", func(r *rig) {
		r.checkKind("a document in no directory", r.put(missing+"/"+missing+"/x", 0, strings.NewReader("x")), fetch.ErrNotFound, fetch.ErrPermission)
	})
	if k.Local {
		return
	}
	damages := []damage{cut, reset, sever}
	if k.memory {
		damages = append(damages, stall)
	}
	for _, do := range damages {
		k.test(t, string(do), func(r *rig) { r.sweepStore(do) })
	}
}

// put stores a document by Replace.
func (r *rig) put(name string, offset int64, body io.Reader) (a answer) {
	r.Helper()
	f, l := r.open().(driver.Replacer), r.site.Locate(name)
	if l == nil {
		r.Fatalf("Site.Locate returns nil for %q, where a document is to be stored; set Harness.ReadOnly if the server takes none", name)
	}
	return r.timed(r.ctx(), l, func(ctx context.Context) error {
		_, err := f.Replace(ctx, &fetch.Request{Locator: l, Offset: offset}, body)
		return err
	})
}

// store stores a document; that must succeed.
func (r *rig) store(name string, offset int64, data []byte) {
	r.Helper()
	if a := r.put(name, offset, bytes.NewReader(data)); a.err != nil {
		r.Errorf("storing %d bytes: %v", len(data), a.err)
	} else if a.trace.body != int64(len(data)) {
		r.Errorf("storing %d bytes: the hook Body was called for %d in all", len(data), a.trace.body)
	}
}

// checkStored fetches a document and compares it with what was stored.
func (r *rig) checkStored(what, name string, data []byte) {
	r.Helper()
	r.checkOctets(what, r.get(r.ctx(), r.site.Locate(name)), data)
}

// sweepStore damages the upload of a small document.
func (r *rig) sweepStore(do damage) {
	data := documents()[small]
	r.eachCell(do, func() { r.store(stored, 0, data) }, func(c cell) {
		r.store(stored, 0, []byte("before"))
		r.close()
		c.arm()
		a := r.put(stored, 0, bytes.NewReader(data))
		r.net.disarm()
		r.close() // the check must not depend on this connection
		if a.err == nil {
			r.checkStored(c.what+", but the upload returned no error", stored, data)
		} else if do == stall {
			r.checkKind(c.what, a, fetch.ErrTimeout)
		} else {
			r.checkBroken(c.what, do, a)
		}
		r.store(stored, 0, data)
		if r.fakeClock { // otherwise the server may still be busy with the broken upload
			r.checkStored("the next upload after a failed one ("+c.what+")", stored, data)
		}
	})
}
