package segments

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/file/resume"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/simdisk"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// A run that was stopped anywhere is resumed by the next one: nothing is lost, and what came
// is not fetched again.
func TestResume(t *testing.T) {
	data := content(2_000_003, 5)
	for name, w := range worlds(t, data) {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(6, 1738))
			for range 10 {
				path := partPath(t)
				runs := 0
				for ; runs < 20; runs++ {
					ctx, stop := context.WithCancel(t.Context())
					left := atomic.Int64{}
					left.Store(r.Int64N(800_000))
					j := w.job(2 + r.IntN(8))
					j.Incoming = func(body io.Reader) io.Reader { return stopping{body, &left, stop} }
					var missing int64
					j.Missing = func(n int64) { missing = n }
					err := run(ctx, path, j)
					stop()
					if err == nil {
						break
					}
					if info, err := os.Stat(path); err != nil || info.Size() == int64(len(data)) {
						t.Fatalf("what is not whole looks as if it were: %d bytes, %v", info.Size(), err)
					}
					if runs > 0 && missing == int64(len(data)) {
						t.Error("nothing was resumed")
					}
				}
				if runs == 20 {
					t.Error("the document does not become whole")
				}
				checkFile(t, path, data)
			}
		})
	}
}

// stopping ends a run after a number of bytes.
type stopping struct {
	io.Reader
	left *atomic.Int64
	stop func()
}

func (s stopping) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b[:min(len(b), 5000)])
	if s.left.Add(-int64(n)) < 0 {
		s.stop()
	}
	return n, err
}

// A run that is killed leaves a file that the next one can rely on, whatever the
// moment.
func TestKilled(t *testing.T) {
	data := content(1_000_003, 7)
	for name, w := range worlds(t, data) {
		t.Run(name, func(t *testing.T) {
			path := partPath(t)
			var mu sync.Mutex
			var left []string // what a kill would have left
			reads := 0
			j := w.job(4)
			j.SaveEvery = 50 * time.Microsecond
			j.Incoming = func(body io.Reader) io.Reader {
				return watched{body, func() {
					mu.Lock()
					defer mu.Unlock()
					if reads++; reads%40 == 0 {
						left = append(left, snapshot(t, path, len(data)))
					}
				}}
			}
			if err := run(t.Context(), path, j); err != nil {
				t.Fatal(err)
			}
			checkFile(t, path, data)
			for _, file := range left {
				j := w.job(3)
				j.Warn = func(format string, args ...any) { t.Errorf(format, args...) }
				if err := run(t.Context(), file, j); err != nil {
					t.Fatal(err)
				}
				checkFile(t, file, data)
			}
		})
	}
}

// watched calls a function before each read.
type watched struct {
	io.Reader
	before func()
}

func (w watched) Read(b []byte) (int, error) {
	w.before()
	return w.Reader.Read(b[:min(len(b), 5000)])
}

// snapshot is a copy of a part as it is: the footer first, so that it tells of nothing
// that the copy lacks.
func snapshot(t *testing.T, path string, size int) string {
	file, err := os.Open(path)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer file.Close()
	record, err := io.ReadAll(io.NewSectionReader(file, int64(size), 1<<20))
	if err != nil {
		t.Error(err)
	}
	octets := make([]byte, size)
	if _, err := file.ReadAt(octets, 0); err != nil {
		t.Error(err)
	}
	name := partPath(t)
	if err := os.WriteFile(name, append(octets, record...), 0o600); err != nil {
		t.Error(err)
	}
	return name
}

// redirecting fetches another document than is asked for.
type redirecting struct {
	Fetcher
	to locator.Locator
}

func (r redirecting) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	other := *req
	other.Locator = r.to
	return r.Fetcher.Fetch(ctx, &other)
}

func (r redirecting) FindAttributes(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
	other := *req
	other.Locator = r.to
	return r.Fetcher.FindAttributes(ctx, &other)
}

// The file of another document, or of an older version, is not built upon.
func TestAnotherDocument(t *testing.T) {
	old, data := content(300_007, 8), content(300_007, 9)
	before, after := worlds(t, old), worlds(t, data)
	for name := range before {
		for _, same := range []bool{true, false} {
			t.Run(fmt.Sprint(name, same), func(t *testing.T) {
				path := partPath(t)
				ctx, stop := context.WithCancel(t.Context())
				left := atomic.Int64{}
				left.Store(100_000)
				j := before[name].job(2)
				j.Incoming = func(body io.Reader) io.Reader { return stopping{body, &left, stop} }
				if run(ctx, path, j) == nil {
					t.Fatal("not stopped")
				}
				w := after[name]
				if same {
					defer after[name].ResetFaults()
					if name == "ftp" {
						w.On("MDTM", 0, testserver.Reply("213 20000101000000"))
					} else {
						w.On("REQUEST", 0, webtest.Header("ETag", `"new"`))
					}
					w = &world{url: before[name].url, fetcher: redirecting{w.fetcher, w.job(2).Request.Locator}, options: w.options}
				}
				var warned []string
				j = w.job(2)
				j.Warn = func(format string, args ...any) { warned = append(warned, fmt.Sprintf(format, args...)) }
				if err := run(t.Context(), path, j); err != nil {
					t.Fatal(err)
				}
				checkFile(t, path, data)
				want := "belongs to another document"
				if same {
					want = "the document has changed"
				}
				if len(warned) != 1 || !strings.Contains(warned[0], "starting over") || !strings.Contains(warned[0], want) {
					t.Errorf("%q", warned)
				}
			})
		}
	}
}

// A file whose footer is damaged, or not where it belongs, starts over.
func TestDamagedRecord(t *testing.T) {
	data := content(300_007, 12)
	replace := func(old, now string) func([]byte) []byte {
		return func(file []byte) []byte { return bytes.Replace(file, []byte(old), []byte(now), 1) }
	}
	seal := func(old, now string) func([]byte) []byte { // with the right checksum
		return func(file []byte) []byte {
			text := bytes.Replace(file[len(data):len(file)-trailerLen], []byte(old), []byte(now), 1)
			return fmt.Appendf(append(file[:len(data)], text...), trailer, len(text), crc32.ChecksumIEEE(text))
		}
	}
	for what, damage := range map[string]func(file []byte) []byte{
		"a range that ends before it": seal("[[100000,300007]]", "[[300007,100000]]"),
		"a range that is empty":       seal("[[100000,300007]]", "[[300007,300007]]"),
		"a range before another one":  seal("[[100000,300007]]", "[[200000,300007],[100000,200000]]"),
		"a range beyond the document": seal("[[100000,300007]]", "[[100000,400007]]"),
		"another digit":               replace("[100000,", "[200000,"),
		"a size beyond the beginning": func(file []byte) []byte { return fmt.Appendf(file[:len(file)-trailerLen], trailer, 1<<32-1, 0) },
		"a size of zero":              func(file []byte) []byte { return fmt.Appendf(file[:len(file)-trailerLen], trailer, 0, 0) },
		"a byte before it":            replace(`{"Source"`, `x{"Source"`),
		"a byte behind it":            func(file []byte) []byte { return append(file, 'x') },
		"without its end":             func(file []byte) []byte { return file[:len(file)-1] },
		"only its end":                func(file []byte) []byte { return file[len(file)-trailerLen:] },
	} {
		for name, w := range worlds(t, data) {
			path := partPath(t)
			begin(t, w, path, data[:100_000])
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(file), 0o600); err != nil {
				t.Fatal(err)
			}
			missing := int64(0)
			j := w.job(2)
			j.Missing = func(n int64) { missing = n }
			if err := run(t.Context(), path, j); err != nil || missing != int64(len(data)) {
				t.Errorf("%s, %s: %v; %d bytes were missing, want all", name, what, err, missing)
			}
			checkFile(t, path, data)
		}
	}
}

// Bytes that could not be written are missing, although they were received.
func TestUnwritten(t *testing.T) {
	data := content(300_007, 13)
	for name, w := range worlds(t, data) {
		for _, wrapped := range []bool{false, true} {
			for _, begun := range []int{0, 100_000} {
				path := partPath(t)
				begin(t, w, path, data[:begun])
				p, err := open(path)
				if err != nil {
					t.Fatal(err)
				}
				p.reopen = func() (disk.File, error) { return os.Open(path) } // not for writing
				j := w.job(2)
				if wrapped {
					j.Incoming = func(body io.Reader) io.Reader { return struct{ io.Reader }{body} }
				}
				if p.Fill(t.Context(), j, nil) == nil {
					t.Errorf("%s, wrapped %v: no error", name, wrapped)
				}
				p.Close()
				if p, err = open(path); err != nil {
					t.Fatal(err)
				}
				if n := p.Missing(); n != int64(len(data)-begun) {
					t.Errorf("%s, wrapped %v: %d bytes are missing, want %d", name, wrapped, n, len(data)-begun)
				}
				p.Close()
			}
		}
	}
}

// What is not complete, or cannot be cut to the document, does not end as if it were.
func TestFinishFails(t *testing.T) {
	data := content(300_007, 17)
	w := worlds(t, data)["http"]
	path := partPath(t)
	begin(t, w, path, data[:100_000])
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Finish(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	p.Close()
	checkFile(t, path, before)
	failing := simdisk.New(simdisk.Options{}).Process(func(c *simdisk.Call) error {
		if c.Op == "truncate" {
			return syscall.EIO
		}
		return nil
	})
	p, err = openOn(failing, "/part")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.footer.Edition = resume.Edition{Size: 1, ModTime: then}
	if err := p.Finish(); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
}

// If the bytes cannot be brought to the disk while they arrive, nothing says later that they are
// there.
func TestSaveFails(t *testing.T) {
	data := content(300_007, 18)
	for name, w := range worlds(t, data) {
		failed := make(chan struct{})
		var once sync.Once
		p := simdisk.New(simdisk.Options{}).Process(func(c *simdisk.Call) (err error) {
			if c.Op == "sync" {
				once.Do(func() { err = syscall.EIO; close(failed) })
			}
			return err
		})
		j := w.job(2)
		j.SaveEvery = time.Millisecond
		j.Incoming = func(body io.Reader) io.Reader { return &waiting{body, failed} }
		if err := runOn(t.Context(), p, "/part", j); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// After a crash of the system, what the footer of a run that was stopped does not call missing is
// there.
func TestCrash(t *testing.T) {
	data := content(300_007, 19)
	w := worlds(t, data)["http"]
	for seed := range uint64(40) {
		d := simdisk.New(simdisk.Options{})
		d.Put("/part", nil, then)
		ctx, stop := context.WithCancel(t.Context())
		var left atomic.Int64
		left.Store(100_000)
		j := w.job(3)
		j.Incoming = func(body io.Reader) io.Reader { return stopping{body, &left, stop} }
		if runOn(ctx, d.Process(nil), "/part", j) == nil {
			t.Fatal("not stopped")
		}
		d.Crash(rand.New(rand.NewPCG(seed, 1738)))
		p, err := openOn(d.Process(nil), "/part")
		if err != nil {
			t.Fatal(err)
		}
		file, _ := d.Get("/part")
		at := int64(0)
		for _, m := range append(p.footer.Missing, [2]int64{p.footer.Edition.Size}) {
			if !bytes.Equal(file[at:m[0]], data[at:m[0]]) {
				t.Fatalf("seed %d: bytes %d to %d are not those of the document", seed, at, m[0])
			}
			at = m[1]
		}
		p.Close()
	}
}

// Two processes do not write to one file, and a complete one is not begun again before it is
// renamed.
func TestOneAtATime(t *testing.T) {
	data := content(300_007, 10)
	for name, w := range worlds(t, data) {
		path := partPath(t)
		first, err := open(path)
		if err != nil {
			t.Fatal(err)
		}
		j := w.job(2)
		res, err := j.Fetcher.Fetch(t.Context(), j.Request)
		if err != nil {
			t.Fatal(err)
		}
		for i, step := range []func() error{
			func() error { return first.Ready(&j, res) },
			func() error { return first.Fill(t.Context(), j, res) },
			first.Finish,
			first.Settle,
			func() error { return os.Rename(path, path+".done") },
		} {
			if _, err := open(path); !errors.Is(err, disk.ErrBusy) {
				t.Errorf("%s: before step %d: %v", name, i, err)
			}
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
		checkFile(t, path+".done", data)
		if err := first.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A file that was removed while it was being filled is not complete: the one that has its name by
// then is another one.
func TestRemovedMeanwhile(t *testing.T) {
	data := content(300_007, 11)
	for name, w := range worlds(t, data) {
		path := partPath(t)
		j := w.job(2)
		j.Incoming = func(body io.Reader) io.Reader {
			_ = os.Remove(path)
			if err := os.WriteFile(path, []byte("another"), 0o600); err != nil {
				t.Error(err)
			}
			return body
		}
		if err := run(t.Context(), path, j); err == nil {
			t.Errorf("%s: no error", name)
		}
		checkFile(t, path, []byte("another"))
	}
}
