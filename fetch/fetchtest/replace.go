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
)

// stored is a name for what is not in the content yet.
const stored = "stored.bin"

// replace: what was stored is there, and what was not is not said to be.
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
		sorry := stderrors.New("the disk is gone")
		for _, n := range []int{0, 100, 100 << 10} {
			body := io.MultiReader(bytes.NewReader(documents()[large][:n]), iotest.ErrReader(sorry))
			a := r.put(stored, 0, body)
			r.checkKind("a body that cannot be read", a, fetch.ErrLocalIO)
			if a.err != nil && !stderrors.Is(a.err, sorry) {
				r.Errorf("%v does not wrap the reader's error", a.err)
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

// put stores by Replace.
func (r *rig) put(name string, offset int64, body io.Reader) (a answer) {
	r.Helper()
	f, l := r.open().(fetch.Replacer), r.site.Locate(name)
	if l == nil {
		r.Fatalf("the Site does not locate %q", name)
	}
	return r.timed(r.ctx(), l, func(ctx context.Context) error {
		_, err := f.Replace(ctx, &fetch.Request{Locator: l, Offset: offset}, body)
		return err
	})
}

// store puts what must arrive.
func (r *rig) store(name string, offset int64, data []byte) {
	r.Helper()
	if a := r.put(name, offset, bytes.NewReader(data)); a.err != nil {
		r.Errorf("storing %d octets: %v", len(data), a.err)
	} else if a.trace.body != int64(len(data)) {
		r.Errorf("storing %d octets: the hook Body told of %d", len(data), a.trace.body)
	}
}

func (r *rig) checkStored(what, name string, data []byte) {
	r.Helper()
	r.checkOctets(what, r.get(r.ctx(), r.site.Locate(name)), data)
}

// sweepStore damages the storing of a small document.
func (r *rig) sweepStore(do damage) {
	data := documents()[small]
	r.eachCell(do, func() { r.store(stored, 0, data) }, func(c cell) {
		r.store(stored, 0, []byte("before"))
		r.close()
		c.spoil()
		a := r.put(stored, 0, bytes.NewReader(data))
		r.net.mend()
		r.close() // what is stored does not hang on this connection
		if a.err == nil {
			r.checkStored(c.what+", and no error", stored, data)
		} else if do == stall {
			r.checkKind(c.what, a, fetch.ErrTimeout)
		} else {
			r.checkBroken(c.what, do, a)
		}
		r.store(stored, 0, data)
		if r.virtual { // else the server may still be busy with what was broken off
			r.checkStored("stored again after "+c.what, stored, data)
		}
	})
}
