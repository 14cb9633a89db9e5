package simdisk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/internal/file/disk"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// check fails the test if one of the errors is not nil.
func check(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, p *Process, name string, flag int) disk.File {
	t.Helper()
	f, err := p.OpenFile(name, flag, 0o666)
	check(t, err)
	return f
}

// save creates a file, and perhaps syncs it.
func save(t *testing.T, p *Process, name string, data []byte, sync bool) {
	t.Helper()
	f := open(t, p, name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	_, err := f.Write(data)
	check(t, err)
	if sync {
		check(t, f.Sync())
	}
	check(t, f.Close())
}

func syncDir(t *testing.T, p *Process, name string) {
	t.Helper()
	f := open(t, p, name, os.O_RDONLY)
	check(t, f.Sync(), f.Close())
}

// contents describes all files of a disk.
func contents(d *Disk) string {
	var b strings.Builder
	for name, data := range d.Files() {
		fmt.Fprintf(&b, "%s %q\n", name, data)
	}
	return b.String()
}

// after counts how each of many crashes leaves what prepare does.
func after(t *testing.T, prepare func(d *Disk, p *Process), kind func(d *Disk) string) map[string]int {
	t.Helper()
	kinds := make(map[string]int)
	for seed := range uint64(500) {
		crash := func() *Disk {
			d := New(Options{})
			prepare(d, d.Process(nil))
			d.Crash(seeded(seed))
			return d
		}
		d := crash()
		state := contents(d)
		if again := contents(crash()); again != state {
			t.Fatalf("a seed leaves\n%s\nand\n%s", state, again)
		}
		if d.Crash(seeded(seed + 1)); contents(d) != state {
			t.Fatalf("the second crash changes\n%s\nto\n%s", state, contents(d))
		}
		kinds[kind(d)]++
	}
	return kinds
}

// want checks that the kinds are these, and no others.
func want(t *testing.T, kinds map[string]int, names ...string) {
	t.Helper()
	for _, name := range names {
		if kinds[name] == 0 {
			t.Errorf("no crash leaves %q: %v", name, kinds)
		}
		delete(kinds, name)
	}
	if len(kinds) > 0 {
		t.Errorf("crashes leave %v", kinds)
	}
}

// describe returns each byte of data and how often it is repeated.
func describe(data []byte) (s string) {
	for len(data) > 0 {
		n := len(data) - len(bytes.TrimLeft(data, string(data[:1])))
		s += fmt.Sprintf("%c%d", max(data[0], '0'), n)
		data = data[n:]
	}
	return s
}

func TestCrashKeepsSynced(t *testing.T) {
	kinds := after(t, func(d *Disk, p *Process) {
		check(t, p.Mkdir("/dir", 0o777))
		save(t, p, "/dir/part", []byte("content"), true)
		check(t, p.Chtimes("/dir/part", time.Time{}, time.Unix(1000, 0)), p.Rename("/dir/part", "/dir/file"), p.Mkdir("/other", 0o777))
		check(t, p.Rename("/dir/file", "/other/file"))
		for _, dir := range []string{"/other", "/dir", "/"} {
			syncDir(t, p, dir)
		}
		f := open(t, p, "/other/file", os.O_RDWR)
		check(t, f.Sync())
	}, contents)
	want(t, kinds, "/other/file \"content\"\n")
}

func TestCrashOfData(t *testing.T) {
	kinds := after(t, func(d *Disk, p *Process) {
		d.Put("/file", bytes.Repeat([]byte("a"), 1024), time.Unix(1, 0))
		f := open(t, p, "/file", os.O_RDWR)
		_, err := f.WriteAt(bytes.Repeat([]byte("b"), 1024), 512)
		check(t, err)
	}, func(d *Disk) string {
		data, _ := d.Get("/file")
		return describe(data)
	})
	want(t, kinds, "a1024", "a1024b512", "a512b1024", "a512b512", "a1024"+"0512", "a512b512"+"0512")
}

func TestCrashOfTruncate(t *testing.T) {
	kinds := after(t, func(d *Disk, p *Process) {
		d.Put("/file", bytes.Repeat([]byte("a"), 1000), time.Unix(1, 0))
		f := open(t, p, "/file", os.O_RDWR|os.O_TRUNC)
		_, err := f.Write([]byte("bb"))
		check(t, err)
	}, func(d *Disk) string {
		data, _ := d.Get("/file")
		return describe(data)
	})
	want(t, kinds, "a1000", "b2", "", "02", "b2a998")
}

func TestCrashOfTimes(t *testing.T) {
	kinds := after(t, func(d *Disk, p *Process) {
		d.Put("/file", []byte("old"), time.Unix(1, 0))
		f := open(t, p, "/file", os.O_RDWR)
		_, err := f.Write([]byte("new"))
		check(t, err, f.Chmod(0o600), p.Chtimes("/file", time.Time{}, time.Unix(2, 0)))
	}, func(d *Disk) string {
		info, err := d.Process(nil).Stat("/file")
		check(t, err)
		data, _ := d.Get("/file")
		return fmt.Sprintf("%s%d%v", data, info.ModTime().Unix(), info.Mode())
	})
	for _, data := range []string{"old", "new"} {
		for _, modified := range []string{"1", "2"} {
			for _, mode := range []string{"-rw-r--r--", "-rw-------"} {
				if s := data + modified + mode; kinds[s] == 0 {
					t.Errorf("no crash leaves %s: %v", s, kinds)
				}
			}
		}
	}
}

func TestCrashOfNames(t *testing.T) {
	names := func(d *Disk) (s string) {
		for name, n := range d.root.tree("") {
			s += name + string(n.data) + " "
		}
		return s
	}
	kinds := after(t, func(d *Disk, p *Process) {
		d.Put("/a", []byte("1"), time.Unix(1, 0))
		d.Put("/b", []byte("2"), time.Unix(1, 0))
		check(t, p.Rename("/a", "/c"), p.Rename("/b", "/d"))
	}, names)
	want(t, kinds, "/a1 /b2 ", "/b2 /c1 ", "/c1 /d2 ", "/a1 /d2 ") // the last one without a journal

	kinds = after(t, func(d *Disk, p *Process) {
		d.Put("/file", []byte("old"), time.Unix(1, 0))
		save(t, p, "/part", []byte("new"), false)
		check(t, p.Rename("/part", "/file"))
	}, names)
	for _, s := range []string{"/fileold ", "/filenew ", "/file ", "/file\x00\x00\x00 ", "/fileold /partnew ", "/fileold /part "} {
		if kinds[s] == 0 {
			t.Errorf("no crash leaves %q: %v", s, kinds)
		}
	}

	kinds = after(t, func(d *Disk, p *Process) {
		check(t, p.Mkdir("/dir", 0o777), p.Mkdir("/dir/sub", 0o777), p.Remove("/dir/sub"), p.Remove("/dir"))
		d.Put("/file", nil, time.Unix(1, 0))
		check(t, p.Link("/file", "/link"), p.Remove("/file"))
	}, names)
	for _, s := range []string{"", "/dir ", "/dir /dir/sub ", "/file ", "/file /link ", "/link ", "/dir /link "} {
		if kinds[s] == 0 {
			t.Errorf("no crash leaves %q: %v", s, kinds)
		}
	}

	kinds = after(t, func(d *Disk, p *Process) {
		save(t, p, "/file", []byte("content"), true)
	}, names)
	want(t, kinds, "", "/filecontent ")

	kinds = after(t, func(d *Disk, p *Process) {
		save(t, p, "/file", []byte("content"), false)
		d.Settle()
	}, names)
	want(t, kinds, "/filecontent ")
}

// What a test puts on the disk stays there, whatever happens to the names around it.
func TestCrashKeepsDirect(t *testing.T) {
	kinds := after(t, func(d *Disk, p *Process) {
		check(t, p.Mkdir("/dir", 0o777))
		save(t, p, "/dir/a", []byte("a"), false)
		check(t, p.Rename("/dir/a", "/dir/b"))
		d.Put("/dir/b", []byte("direct"), time.Unix(1, 0))
		d.Symlink("b", "/dir/link")
		d.Put("/gone", nil, time.Unix(1, 0))
		d.Delete("/gone")
		check(t, p.Remove("/dir/link"))
		d.Symlink("b", "/dir/link")
	}, func(d *Disk) string {
		p := d.Process(nil)
		target, err := p.EvalSymlinks("/dir/link")
		check(t, err)
		data, _ := d.Get(target)
		_, gone := d.Get("/gone")
		return fmt.Sprint(string(data), gone)
	})
	want(t, kinds, "directfalse")
}

// Many random operations leave a consistent tree after a crash.
func TestCrashOfAnything(t *testing.T) {
	run := func(seed uint64) string {
		r := seeded(seed)
		d := New(Options{Capacity: 5000})
		var log strings.Builder
		for range 3 {
			p := d.Process(nil)
			name := func() string {
				s := ""
				for range r.IntN(3) + 1 {
					s += "/" + string(rune('a'+r.IntN(3)))
				}
				return s
			}
			for range 60 {
				switch r.IntN(8) {
				case 0:
					_ = p.MkdirAll(name(), 0o777)
				case 1, 2:
					_ = p.Rename(name(), name())
				case 3:
					_ = p.Remove(name())
				case 4:
					_ = p.Link(name(), name())
				case 5, 6:
					if f, err := p.OpenFile(name(), os.O_RDWR|os.O_CREATE, 0o666); err == nil {
						_, _ = f.WriteAt(bytes.Repeat([]byte{byte(r.IntN(256))}, r.IntN(1500)), int64(r.IntN(600)))
						if coin(r) {
							_ = f.Sync()
						}
						if coin(r) {
							_ = f.Close()
						}
					}
				default:
					if f, err := p.OpenFile(name(), os.O_RDONLY, 0); err == nil {
						_ = f.Sync()
					}
				}
			}
			d.Crash(r)
			used, links := int64(0), map[*inode]int{}
			for name, n := range d.root.tree("") {
				if links[n]++; links[n] == 1 {
					used += int64(len(n.data))
				}
				if n.mode.IsDir() && n.path() != name || n.opened > 0 || n.lock != nil || n.saved != nil {
					t.Fatalf("seed %d: %s is %+v", seed, name, n)
				}
				fmt.Fprintln(&log, name, len(n.data))
			}
			for n, count := range links {
				if n.links != count {
					t.Fatalf("seed %d: %d links, counted %d", seed, count, n.links)
				}
			}
			if used != d.used {
				t.Fatalf("seed %d: %d bytes are used, counted %d", seed, used, d.used)
			}
		}
		return log.String()
	}
	for seed := range uint64(300) {
		if first, second := run(seed), run(seed); first != second {
			t.Errorf("seed %d: different results", seed)
		}
	}
}

func TestKill(t *testing.T) {
	d := New(Options{})
	d.Put("/file", []byte("content"), time.Now())
	other := d.Process(nil)
	var p *Process
	kill := ""
	p = d.Process(func(c *Call) error {
		if c.Op == kill {
			p.Kill()
		}
		return nil
	})
	f := open(t, p, "/file", os.O_RDWR)
	locked, err := disk.Lock(func() (disk.File, error) { return f, nil }, func() (fs.FileInfo, error) { return p.Stat("/file") })
	check(t, err)
	root, err := p.OpenRoot("/")
	check(t, err)
	lock := func() error {
		file := open(t, other, "/file", os.O_RDWR)
		l, err := disk.Lock(func() (disk.File, error) { return file, nil }, func() (fs.FileInfo, error) { return other.Stat("/file") })
		if err == nil {
			check(t, l.Close())
		}
		return err
	}
	if err := lock(); !errors.Is(err, disk.ErrBusy) {
		t.Error(err)
	}
	if names := d.Locks(); !slices.Equal(names, []string{"/file"}) {
		t.Errorf("locked: %q", names)
	}
	if names := p.Open(); !slices.Equal(names, []string{"/", "/file"}) {
		t.Errorf("open: %q", names)
	}
	kill = "write"
	_, err = f.Write([]byte("new"))
	for _, err := range []error{err, p.Remove("/file"), root.Rename("file", "new"), locked.Flush(), f.Truncate(0), p.MkdirAll("/d/e", 0o777), f.Close()} {
		if !errors.Is(err, ErrDead) {
			t.Errorf("the error is %v", err)
		}
	}
	if s := contents(d); s != "/file \"content\"\n" || len(d.Locks()) > 0 || len(p.Open()) > 0 {
		t.Error(s, d.Locks(), p.Open())
	}
	check(t, lock())
}

func TestHook(t *testing.T) {
	d := New(Options{})
	failed := errors.New("input/output error")
	var calls []string
	p := d.Process(func(c *Call) error {
		calls = append(calls, strings.TrimSpace(fmt.Sprintf("%s %s %s %d", c.Op, c.Name, c.To, c.N)))
		switch {
		case c.Op == "write" && c.N == 5:
			return Short(2, syscall.EIO)
		case c.Op == "rename" || c.Op == "mkdir" && c.Name == "/no":
			return failed
		case c.Op == "remove": // another process is faster
			d.Delete(c.Name)
		}
		return nil
	})
	check(t, p.MkdirAll("/d/e", 0o777))
	r, err := p.OpenRoot("/d")
	check(t, err)
	f, err := r.OpenFile("e/f", os.O_RDWR|os.O_CREATE, 0o666)
	check(t, err)
	if n, err := f.Write([]byte("12345")); n != 2 || !errors.Is(err, syscall.EIO) {
		t.Error(n, err)
	}
	_, err = f.WriteAt([]byte("abc"), 4)
	check(t, err, f.Sync(), f.Close(), r.Close())
	if b, _ := d.Get("/d/e/f"); string(b) != "12\x00\x00abc" {
		t.Errorf("%q", b)
	}
	rename, _ := errors.AsType[*os.LinkError](p.Rename("/d/e/f", "/f"))
	if rename == nil || rename.Op != "rename" || rename.New != "/f" || !errors.Is(rename, failed) {
		t.Error(rename)
	}
	mkdir, _ := errors.AsType[*fs.PathError](p.Mkdir("/no", 0o777))
	if mkdir == nil || mkdir.Op != "mkdir" || mkdir.Path != "/no" || !errors.Is(mkdir, failed) {
		t.Error(mkdir)
	}
	if err := p.Remove("/d/e/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	expected := []string{"mkdir /d  0", "mkdir /d/e  0", "open /d  0", "open /d/e/f  0", "write /d/e/f  5", "write /d/e/f  3", "sync /d/e/f  0", "close /d/e/f  0", "rename /d/e/f /f 0", "mkdir /no  0", "remove /d/e/f  0"}
	if !slices.Equal(calls, expected) {
		t.Errorf("%q", calls)
	}
}

// A file that is replaced while it is open keeps its content, and its name leads to another file.
func TestReplace(t *testing.T) {
	d := New(Options{})
	d.Put("/file", []byte("old"), time.Now())
	p := d.Process(nil)
	f := open(t, p, "/file", os.O_RDWR)
	d.Replace("/file", []byte("new"))
	before, err := f.Stat()
	check(t, err)
	now, err := p.Stat("/file")
	check(t, err)
	_, err = f.Write([]byte("OLD"))
	check(t, err)
	if data, _ := d.Get("/file"); disk.SameFile(before, now) || string(data) != "new" {
		t.Errorf("%q", data)
	}
}

func TestWindows(t *testing.T) {
	d := New(Options{Windows: true})
	p := d.Process(nil)
	d.Put("/dir/file", nil, time.Now())
	d.Put("/other", nil, time.Now())
	file, err := disk.Lock(func() (disk.File, error) { return p.OpenFile("/dir/file", os.O_RDWR, 0) }, func() (fs.FileInfo, error) { return p.Lstat("/dir/file") })
	check(t, err)
	for i, err := range []error{p.Remove("/dir/file"), p.Rename("/dir/file", "/new"), p.Rename("/other", "/dir/file"), p.Rename("/dir", "/new")} {
		if !errors.Is(err, ErrSharing) {
			t.Errorf("%d: %v", i, err)
		}
	}
	check(t, file.Flush(), p.Rename("/dir/file", "/new"), file.Close(), p.Rename("/dir", "/there"), p.Remove("/new"))
}

func TestFullDisk(t *testing.T) {
	d := New(Options{Capacity: 1000})
	p := d.Process(nil)
	d.Put("/file", make([]byte, 600), time.Now())
	f := open(t, p, "/new", os.O_RDWR|os.O_CREATE)
	for _, fits := range []int{400, 0} {
		if n, err := f.Write(make([]byte, 500)); n != fits || !errors.Is(err, syscall.ENOSPC) {
			t.Error(n, err)
		}
	}
	_, err := f.WriteAt([]byte("fits"), 0)
	old := open(t, p, "/file", os.O_RDONLY)
	check(t, err, p.Remove("/file"))
	if _, err := f.WriteAt([]byte("x"), 400); !errors.Is(err, syscall.ENOSPC) {
		t.Error("open file:", err)
	}
	check(t, old.Close())
	_, err = f.WriteAt([]byte("x"), 400)
	check(t, err, f.Truncate(1000))
	if err := f.Truncate(1001); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
}

func TestFoldCase(t *testing.T) {
	d := New(Options{FoldCase: true, NoLinks: true})
	p := d.Process(nil)
	d.Put("/Dir/File", []byte("content"), time.Now())
	if _, err := p.OpenFile("/dIR/fILE", os.O_CREATE|os.O_EXCL, 0o666); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if err := p.Link("/Dir/File", "/new"); !errors.Is(err, syscall.EPERM) {
		t.Error(err)
	}
	check(t, p.Rename("/dir/file", "/dir/FILE"), p.Rename("/dir", "/DIR"))
	if s := contents(d); s != "/DIR/FILE \"content\"\n" {
		t.Error(s)
	}
	d.Crash(seeded(3))
	if data, _ := d.Get("/dir/file"); string(data) != "content" {
		t.Error(contents(d))
	}
}

// Contents that a test was given do not change.
func TestSnapshots(t *testing.T) {
	for seed := range uint64(10) {
		d := New(Options{})
		data := []byte("content")
		d.Put("/file", data, time.Now())
		for i := range 5 {
			f := open(t, d.Process(nil), "/file", os.O_RDWR)
			before, _ := d.Get("/file")
			copied := bytes.Clone(before)
			_, err := f.WriteAt([]byte{byte(i)}, 1)
			check(t, err, f.Truncate(3), f.Truncate(int64(5+i)))
			if !bytes.Equal(before, copied) || string(data) != "content" {
				t.Fatalf("%q became %q", copied, before)
			}
			d.Crash(seeded(seed + uint64(i)))
		}
	}
}
