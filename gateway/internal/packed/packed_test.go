package packed

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A testMember is a member of an archive of a test.
type testMember struct {
	name string
	data string
	flag byte // of tar
	to   string
}

// zipOf makes a zip archive. Change may change its headers.
func zipOf(t *testing.T, change func(*zip.FileHeader), members ...testMember) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		if change != nil {
			change(h)
		}
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = io.WriteString(f, m.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tarOf makes a tar archive.
func tarOf(t *testing.T, members ...testMember) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		if m.flag == 0 {
			m.flag = tar.TypeReg
		}
		if err := w.WriteHeader(&tar.Header{Name: m.name, Typeflag: m.flag, Linkname: m.to, Size: int64(len(m.data)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, m.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// gzipped compresses data.
func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// listed is a folder of an archive in a line, or its error.
func listed(a Archive, err error, folder string) string {
	if err != nil {
		return err.Error()
	}
	var names []string
	for m, err := range In(a, folder) {
		if err != nil {
			names = append(names, "("+err.Error()+")")
			break
		}
		name := m.Path
		if m.Kind != File {
			name += []string{"", "/", "@", "!", "*"}[m.Kind]
		}
		if m.Target != "" {
			name += ">" + m.Target
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// read is a file of an archive, or its error.
func read(a Archive, err error, path string) string {
	if err != nil {
		return err.Error()
	}
	_, r, err := a.Open(path)
	if err != nil {
		return err.Error()
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return fmt.Sprintf("%d bytes, %v", len(data), err)
	}
	return string(data)
}

// both calls a function with the same members as a zip archive and as a tar archive of each kind.
func both(t *testing.T, members []testMember, limits Limits, check func(t *testing.T, format string, open func() (Archive, error))) {
	t.Helper()
	packed, plain := zipOf(t, nil, members...), tarOf(t, members...)
	for format, open := range map[string]func() (Archive, error){
		"zip":    func() (Archive, error) { return OpenZip(bytes.NewReader(packed), int64(len(packed)), limits) },
		"tar":    func() (Archive, error) { return OpenTar(bytes.NewReader(plain), Tar, limits), nil },
		"tar.gz": func() (Archive, error) { return OpenTar(bytes.NewReader(gzipped(plain)), TarGzip, limits), nil },
	} {
		check(t, format, open)
	}
}

// TestNames tests which folders and files the names of an archive make, whatever they are.
func TestNames(t *testing.T) {
	members := []testMember{
		{name: "a/b/c.txt", data: "c"}, {name: "a/d", data: "d"}, {name: "../../etc/passwd", data: "up"}, {name: "/absolute", data: "top"},
		{name: "a//./e", data: "e"}, {name: "twice", data: "first"}, {name: "twice", data: "second"}, {name: "twice/inner", data: "folder"},
		{name: strings.Repeat("n", 200), data: "long"}, {name: strings.Repeat("x/", 10) + "deep", data: "deep"}, {name: ".", flag: tar.TypeDir},
		{name: "ctl\x1b[2J\n", data: "control"}, {name: "empty/", flag: tar.TypeDir},
	}
	limits := Usual()
	limits.Name, limits.Depth = 100, 8
	both(t, members, limits, func(t *testing.T, format string, open func() (Archive, error)) {
		for folder, want := range map[string]string{
			"": "a/ _../ absolute twice twice/ ctl\x1b[2J\n empty/", "a": "a/b/ a/d a/e", "a/b": "a/b/c.txt", "_../_..": "_../_../etc/", "twice": "twice/inner",
			"empty": "", "none": "(the archive has no such member)", "..": "(the archive has no such member)", "a/": "(the archive has no such member)",
		} {
			a, err := open()
			if got := listed(a, err, folder); got != want {
				t.Errorf("%s: %q contains %q, want %q", format, folder, got, want)
			}
			if a.LeftOut() != 2 {
				t.Errorf("%s: %d members left out", format, a.LeftOut())
			}
		}
		for path, want := range map[string]string{
			"a/b/c.txt": "c", "_../_../etc/passwd": "up", "absolute": "top", "twice": "first", "twice/inner": "folder", "a/e": "e",
			"../../etc/passwd": "the archive has no such member", "/absolute": "the archive has no such member", "a": "the archive has no such member", "empty": "the archive has no such member",
		} {
			a, err := open()
			if got := read(a, err, path); got != want {
				t.Errorf("%s: %s is %q, want %q", format, path, got, want)
			}
		}
	})
}

// TestZipNames tests names of zip archives alone: in the character set of DOS, and with backslashes.
func TestZipNames(t *testing.T) {
	data := zipOf(t, func(h *zip.FileHeader) { h.NonUTF8 = true }, testMember{name: "caf\x82/na\x8bve.txt", data: "1"}, testMember{name: `dir\file`, data: "2"}, testMember{name: "grün", data: "3"})
	a, err := OpenZip(bytes.NewReader(data), int64(len(data)), Usual())
	if got, want := listed(a, err, ""), "café/ dir/ grün"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := listed(a, err, "café"), "café/naïve.txt"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := read(a, err, "dir/file"); got != "2" {
		t.Errorf("%q", got)
	}
}

// TestKinds tests that links and special files are shown, and not opened.
func TestKinds(t *testing.T) {
	data := tarOf(t, testMember{name: "l", flag: tar.TypeSymlink, to: "/etc/passwd"}, testMember{name: "h", flag: tar.TypeLink, to: "../x"}, testMember{name: "dev", flag: tar.TypeBlock}, testMember{name: "fifo", flag: tar.TypeFifo})
	open := func() (Archive, error) { return OpenTar(bytes.NewReader(data), Tar, Usual()), nil }
	a, err := open()
	if got, want := listed(a, err, ""), "l@>/etc/passwd h@>../x dev! fifo!"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, path := range []string{"l", "h", "dev"} {
		a, err := open()
		if got := read(a, err, path); got != ErrNotFile.Error() {
			t.Errorf("%s: %q", path, got)
		}
	}
	packed := zipOf(t, func(h *zip.FileHeader) { h.SetMode(0o777 | 1<<27) }, testMember{name: "l", data: "/etc/passwd"}) // fs.ModeSymlink
	a, err = OpenZip(bytes.NewReader(packed), int64(len(packed)), Usual())
	if got := listed(a, err, "") + " " + read(a, err, "l"); got != "l@ "+ErrNotFile.Error() {
		t.Errorf("%q", got)
	}
}

// TestEncrypted tests that an encrypted file is shown as one, and not opened; and a method of
// compression that is not known.
func TestEncrypted(t *testing.T) {
	data := zipOf(t, nil, testMember{name: "secret", data: "x"})
	central := bytes.LastIndex(data, []byte("PK\x01\x02"))
	locked := bytes.Clone(data)
	locked[central+8] |= 1
	a, err := OpenZip(bytes.NewReader(locked), int64(len(locked)), Usual())
	if got := listed(a, err, "") + " " + read(a, err, "secret"); got != "secret* "+ErrEncrypted.Error() {
		t.Errorf("%q", got)
	}
	odd := bytes.Clone(data)
	odd[central+10] = 99
	a, err = OpenZip(bytes.NewReader(odd), int64(len(odd)), Usual())
	if got := read(a, err, "secret"); got != ErrMethod.Error() {
		t.Errorf("%q", got)
	}
}

// TestLimits tests each limit with an archive that exceeds it.
func TestLimits(t *testing.T) {
	zeros := strings.Repeat("\x00", 4<<20)
	many := make([]testMember, 20)
	for i := range many {
		many[i].name = fmt.Sprint("m", i)
	}
	for name, tc := range map[string]struct {
		set     func(*Limits)
		members []testMember
		zip     string // the error for a zip archive
		tar     string // and for a tar archive that is compressed
	}{
		"members":  {func(l *Limits) { l.Members = 10 }, many, "it has more than 10 members", "it has more than 10 members"},
		"ratio":    {func(l *Limits) {}, []testMember{{name: "m0", data: zeros}}, "it is more than 200 times as large as its packed form", "it is more than 200 times as large as its packed form"},
		"unpacked": {func(l *Limits) { l.Unpacked, l.Ratio = 2<<20, 1e6 }, []testMember{{name: "m0", data: zeros}}, "it is larger than 2 MiB", "it is larger than 2 MiB"},
		"packed":   {func(l *Limits) { l.Packed, l.Ratio = 1<<10, 1e6 }, []testMember{{name: "z", data: zeros}, {name: "m0"}}, "", "more than 0 MiB of it would have to be received"},
		"directory": {func(l *Limits) { l.Directory = 1 << 10 }, []testMember{{name: strings.Repeat("n", 900)}, {name: strings.Repeat("m", 900)}, {name: "m0"}},
			"its directory is larger than 0 MiB", ""},
	} {
		limits := Usual()
		tc.set(&limits)
		packed, plain := zipOf(t, nil, tc.members...), gzipped(tarOf(t, tc.members...))
		a, err := OpenZip(bytes.NewReader(packed), int64(len(packed)), limits)
		if got := read(a, err, "m0"); !strings.HasSuffix(got, tc.zip) {
			t.Errorf("%s: zip: %.200q, want %q", name, got, tc.zip)
		}
		got := listed(OpenTar(bytes.NewReader(plain), TarGzip, limits), nil, "")
		if want := "(" + tc.tar + ")"; tc.tar != "" && !strings.HasSuffix(got, want) {
			t.Errorf("%s: tar: %.200q, want %q", name, got, want)
		}
	}
	long := make([]testMember, namesHeld/1000+10)
	for i := range long {
		long[i].name = fmt.Sprintf("%01000d", i)
	}
	if got := listed(OpenTar(bytes.NewReader(tarOf(t, long...)), Tar, Usual()), nil, ""); !strings.HasSuffix(got, "(the names in it are longer than 8 MiB together)") {
		t.Errorf("%q", got[len(got)-100:])
	}
}

// TestBomb tests a zip archive whose directory says that a file is small, which it is not.
func TestBomb(t *testing.T) {
	data := zipOf(t, nil, testMember{name: "bomb", data: strings.Repeat("\x00", 64<<20)})
	central := bytes.LastIndex(data, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(data[central+24:], 1000)
	a, err := OpenZip(bytes.NewReader(data), int64(len(data)), Usual())
	if got := read(a, err, "bomb"); !strings.Contains(got, "the archive is damaged") || strings.HasPrefix(got, "67") {
		t.Errorf("%.200q", got)
	}
}

// TestDamaged tests that what is wrong with an archive is told from an error of the access.
func TestDamaged(t *testing.T) {
	packed := zipOf(t, nil, testMember{name: "f", data: strings.Repeat("random text ", 1000)})
	plain := tarOf(t, testMember{name: "f", data: strings.Repeat("x", 5000)})
	broken := errors.New("the connection broke")
	for name, tc := range map[string]struct {
		got     string
		damaged bool
	}{
		"no zip":        {func() string { _, err := OpenZip(strings.NewReader("GIF89a"), 6, Usual()); return err.Error() }(), true},
		"no tar":        {listed(OpenTar(strings.NewReader(strings.Repeat("GIF89a", 1000)), Tar, Usual()), nil, ""), true},
		"no gzip":       {listed(OpenTar(bytes.NewReader(plain), TarGzip, Usual()), nil, ""), true},
		"no bzip2":      {listed(OpenTar(bytes.NewReader(plain), TarBzip2, Usual()), nil, ""), true},
		"short tar":     {read(OpenTar(bytes.NewReader(plain[:2000]), Tar, Usual()), nil, "f"), true},
		"short tar.gz":  {listed(OpenTar(bytes.NewReader(gzipped(plain)[:30]), TarGzip, Usual()), nil, ""), true},
		"broken tar":    {read(OpenTar(io.MultiReader(bytes.NewReader(plain[:2000]), iotest.ErrReader(broken)), Tar, Usual()), nil, "f"), false},
		"broken tar.gz": {listed(OpenTar(io.MultiReader(bytes.NewReader(gzipped(plain)[:20]), iotest.ErrReader(broken)), TarGzip, Usual()), nil, ""), false},
		"broken zip":    {func() string { _, err := OpenZip(brokenAt{broken}, 1<<20, Usual()); return err.Error() }(), false},
		"wrong bytes": {func() string {
			wrong := bytes.Clone(packed)
			wrong[40] ^= 0xff
			a, err := OpenZip(bytes.NewReader(wrong), int64(len(wrong)), Usual())
			return read(a, err, "f")
		}(), true},
	} {
		if got := strings.Contains(tc.got, "the archive is damaged"); got != tc.damaged || !got && !strings.Contains(tc.got, broken.Error()) {
			t.Errorf("%s: %q", name, tc.got)
		}
	}
}

// brokenAt is a document that cannot be read.
type brokenAt struct{ err error }

func (b brokenAt) ReadAt([]byte, int64) (int, error) { return 0, b.err }

// TestTimes tests that a member without a time has not one of 1970 or 1979.
func TestTimes(t *testing.T) {
	both(t, []testMember{{name: "f", data: "x"}}, Usual(), func(t *testing.T, format string, open func() (Archive, error)) {
		a, err := open()
		if err != nil {
			t.Fatal(err)
		}
		for m := range a.Members() {
			if !m.ModTime.IsZero() {
				t.Errorf("%s: %v", format, m.ModTime)
			}
		}
	})
}

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]Format{
		"a.zip": Zip, "A.ZIP": Zip, "a.epub": Zip, "a.tar": Tar, "a.tar.gz": TarGzip, "a.tgz": TarGzip, "a.tar.bz2": TarBzip2, "a.gz": None, "zip": None, "a.tar.xz": None, "": None,
	} {
		if got := FormatOf(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}

// FuzzZip tests that no bytes make a zip archive end in anything but a listing or an error.
func FuzzZip(f *testing.F) {
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := OpenZip(bytes.NewReader(data), int64(len(data)), Usual())
		if err != nil {
			return
		}
		for m := range a.Members() {
			for part := range strings.SplitSeq(m.Path, "/") {
				if part == "" || part == "." || part == ".." {
					t.Errorf("%q", m.Path)
				}
			}
			_ = read(a, nil, m.Path)
		}
	})
}
