package fetchtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/check"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/unreliable"
)

// stored is the name of a document that the content does not have yet.
const stored = "stored.bin"

// testReplace tests that a stored document can be fetched, and that a failed upload is reported.
func testReplace(t *testing.T, s *subject) {
	if !s.stores {
		return
	}
	subtest(t, s, "documents", func(fx *fixture) {
		for _, name := range names() {
			data := documents()[name]
			store(fx, stored, 0, data)
			checkStored(fx, name, stored, data)
		}
	})
	subtest(t, s, "over another", func(fx *fixture) {
		store(fx, octets, 0, []byte("shorter"))
		checkStored(fx, "what is shorter", octets, []byte("shorter"))
	})
	subtest(t, s, "from an offset", func(fx *fixture) {
		data := documents()[octets]
		store(fx, stored, 0, data[:100])
		if a := put(fx, stored, 100, bytes.NewReader(data[100:])); a.Err != nil {
			check.Kind(fx, "storing from an offset", a, fetch.ErrUnsupported, fetch.ErrBadRange)
			data = data[:100]
		}
		checkStored(fx, "in two parts", stored, data)
	})
	subtest(t, s, "unreadable", func(fx *fixture) {
		cause := errors.New("the disk is gone")
		for _, n := range []int{0, 100, 100 << 10} {
			body := io.MultiReader(bytes.NewReader(documents()[large][:n]), iotest.ErrReader(cause))
			a := put(fx, stored, 0, body)
			check.Kind(fx, "a body that cannot be read", a, fetch.ErrLocalIO)
			if a.Err != nil && !errors.Is(a.Err, cause) {
				fx.Errorf("the error does not wrap the error of the body's reader: %v", a.Err)
			}
			store(fx, stored, 0, []byte("again"))
		}
	})
	subtest(t, s, "nowhere", func(fx *fixture) {
		check.Kind(fx, "a document in no directory", put(fx, missing+"/"+missing+"/x", 0, strings.NewReader("x")), fetch.ErrNotFound, fetch.ErrPermission)
	})
	if s.Local {
		return
	}
	damages := []unreliable.Damage{unreliable.Cut, unreliable.Reset, unreliable.Sever}
	if s.memory {
		damages = append(damages, unreliable.Stall)
	}
	for _, do := range damages {
		subtest(t, s, string(do), func(fx *fixture) { sweepUpload(fx, do) })
	}
}

// put stores a document by Replace.
func put(fx *fixture, name string, offset int64, body io.Reader) (a check.Answer) {
	fx.Helper()
	f, l := fx.open().(driver.Replacer), fx.site.Locate(name)
	if l == nil {
		fx.Fatalf("Site.Locate returns nil for %q, where a document is to be stored; set Harness.ReadOnly if the server takes none", name)
	}
	return fx.timed(fx.ctx(), l, func(ctx context.Context) error {
		_, err := f.Replace(ctx, &fetch.Request{Locator: l, Offset: offset}, body)
		return err
	})
}

// store stores a document; that must succeed.
func store(fx *fixture, name string, offset int64, data []byte) {
	fx.Helper()
	if a := put(fx, name, offset, bytes.NewReader(data)); a.Err != nil {
		fx.Errorf("storing %d bytes: %v", len(data), a.Err)
	} else if a.Hooks.Body != int64(len(data)) {
		fx.Errorf("storing %d bytes: the hook Body was called for %d in all", len(data), a.Hooks.Body)
	}
}

// checkStored fetches a document and compares it with what was stored.
func checkStored(fx *fixture, what, name string, data []byte) {
	fx.Helper()
	check.Octets(fx, what, fx.get(fx.ctx(), fx.site.Locate(name)), data)
}

// sweepUpload damages the upload of a small document.
func sweepUpload(fx *fixture, do unreliable.Damage) {
	data := documents()[small]
	eachTrial(fx, do, func() { store(fx, stored, 0, data) }, func(tr trial) {
		store(fx, stored, 0, []byte("before"))
		fx.close()
		tr.arm()
		a := put(fx, stored, 0, bytes.NewReader(data))
		fx.net.Disarm()
		fx.close() // the check must not depend on this connection
		if a.Err == nil {
			checkStored(fx, tr.what+", but the upload returned no error", stored, data)
		} else if do == unreliable.Stall {
			check.Kind(fx, tr.what, a, fetch.ErrTimeout)
		} else {
			checkBroken(fx, tr.what, do, a)
		}
		store(fx, stored, 0, data)
		if fx.fakeClock { // otherwise the server may still be busy with the broken upload
			checkStored(fx, "the next upload after a failed one ("+tr.what+")", stored, data)
		}
	})
}
