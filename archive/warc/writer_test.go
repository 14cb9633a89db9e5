package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/testserver/simdisk"
)

// document returns a resource record of a text.
func document(url, text string) Draft {
	block := NewBlock()
	io.WriteString(block, text)
	return Draft{Block: block, Header: Header{
		{FieldType, string(Resource)}, {FieldTargetURI, url}, {FieldContentType, "text/plain"},
	}}
}

// urls returns the Target-URIs of the records of a file that Verify must find right.
func urls(t *testing.T, file []byte) (all []string) {
	t.Helper()
	if _, defects := verified(t, file); len(defects) > 0 {
		t.Errorf("defects: %q", defects)
	}
	r := NewReader(bytes.NewReader(file))
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if rec.Type() != Info {
			all = append(all, rec.TargetURI())
		}
	}
}

// TestRoundTrip writes records of all types, with small and large blocks, and reads them.
func TestRoundTrip(t *testing.T) {
	for _, name := range []string{"a.warc.gz", "a.warc"} {
		for _, version := range []string{"1.1", "1.0"} {
			roundTrip(t, filepath.Join(t.TempDir(), name), version)
		}
	}
}

func roundTrip(t *testing.T, name, version string) {
	w, err := CreateFile(name, Options{Version: version, Software: "test/1.0", Fields: Header{{"operator", "Me"}}})
	if err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("0123456789abcdef", inMemory/10)
	first := document("ftp://h/a", large)
	first.Header.Set(FieldDate, "2026-11-24T12:00:00Z")
	first.Header.Set(FieldRecordID, NewID())
	defer first.Block.Close()
	http := document("http://h/", "HTTP/1.0 200 OK\r\n\r\n")
	http.Header.Set(FieldType, string(Response))
	http.Header.Set(FieldContentType, "application/http; msgtype=response")
	http.Block.StartPayload()
	io.WriteString(http.Block, "hello\n")
	request := document("http://h/", "GET / HTTP/1.0\r\n\r\n")
	request.Header.Set(FieldType, string(Request))
	request.Header.Set(FieldContentType, "application/http; msgtype=request")
	talk := document("metadata:ftp://h/a", "> RETR a\r\n")
	talk.Header.Set(FieldType, string(Metadata))
	talk.Header = append(talk.Header, Field{FieldConcurrentTo, first.Header.Get(FieldRecordID)}, Field{FieldProtocol, "ftp"}, Field{FieldProtocol, "tls/1.3"})
	again := Draft{Header: Header{
		{FieldType, string(Revisit)}, {FieldTargetURI, "ftp://h/a"}, {FieldProfile, IdenticalPayload},
		{FieldPayloadDigest, first.Block.Digest()}, {FieldRefersTo, first.Header.Get(FieldRecordID)},
	}}
	if err := errors.Join(w.Write(first, talk), w.Write(http, request), w.Write(again), w.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if n, defects := verified(t, file); n != 6 || len(defects) > 0 {
		t.Errorf("%d records, %q", n, defects)
	}
	r := NewReader(bytes.NewReader(file))
	for i, want := range []string{"software: test/1.0\r\n", large, "> RETR a\r\n", "hello\n", "", ""} {
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		p, err := rec.Payload()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(p)
		if err != nil || !strings.HasPrefix(string(got), want) || i > 0 && len(got) != len(want) || rec.Version != version {
			t.Errorf("record %d of %s: %d bytes, %v", i, rec.Version, len(got), err)
		}
		if (p.Head != nil) != (i == 3 || i == 4) {
			t.Errorf("record %d: head %q", i, p.Head)
		}
		at, err := ReadAt(bytes.NewReader(file), rec.Offset)
		if err != nil || at.ID() != rec.ID() || at.Offset != rec.Offset {
			t.Errorf("ReadAt %d: %v, %v", rec.Offset, at, err)
		}
		if i == 0 && (!strings.Contains(string(got), "operator: Me\r\n") || rec.Header.Get(FieldFilename) != filepath.Base(name)) {
			t.Errorf("%q %v", got, rec.Header)
		}
		if i == 1 && rec.Date() != time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) {
			t.Errorf("date %v", rec.Date())
		}
		if i == 5 && !strings.Contains(rec.Header.Get(FieldProfile), "/warc/"+version+"/") {
			t.Errorf("profile %v", rec.Header)
		}
	}
	if _, err := ReadAt(bytes.NewReader(file), int64(len(file))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("behind the end: %v", err)
	}
}

// TestWriteRefuses checks that what Verify would find is not written, and that the file stays whole.
func TestWriteRefuses(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.warc.gz")
	w, err := CreateFile(name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Draft){
		"WARC-Type is missing":                                func(d *Draft) { d.Header.Set(FieldType, "") },
		"WARC-Target-URI is missing":                          func(d *Draft) { d.Header.Set(FieldTargetURI, "") },
		"a URI with its characters encoded: ftp://h/%20":      func(d *Draft) { d.Header.Set(FieldTargetURI, "ftp://h/ ") },
		`X: "a\r\nContent-Length: 0" has a line end`:          func(d *Draft) { d.Header.Set("X", "a\r\nContent-Length: 0") },
		`"X: Y" is not a name of a field`:                     func(d *Draft) { d.Header.Set("X: Y", "a") },
		"WARC-Profile is missing; a revisit record must have": func(d *Draft) { d.Header.Set(FieldType, string(Revisit)) },
		"Content-Type is missing":                             func(d *Draft) { d.Header.Set(FieldContentType, "") },
	} {
		d := document("ftp://h/a", "text")
		change(&d)
		if err := w.Write(document("ftp://h/good", "text"), d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := errors.Join(w.Write(document("ftp://h/b", "text")), w.Close()); err != nil {
		t.Fatal(err)
	}
	file, _ := os.ReadFile(name)
	if got := urls(t, file); !slices.Equal(got, []string{"ftp://h/b"}) {
		t.Errorf("%q", got)
	}
	if err := w.Write(document("ftp://h/b", "text")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := Create(t.TempDir(), Options{Version: "1.2"}); err == nil {
		t.Error("a version that is not known")
	}
}

// TestRotation checks the files of a folder: their names, that each is verified alone, and that
// records of one Write stay together.
func TestRotation(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	now := func() time.Time { return time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) }
	w, err := Create(dir, Options{MaxSize: 900, Prefix: "test", Now: now})
	if err != nil {
		t.Fatal(err)
	}
	if names, _ := os.ReadDir(dir); len(names) > 0 {
		t.Errorf("before the first record: %v", names)
	}
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			url := fmt.Sprintf("ftp://h/%02d", i)
			if err := w.Write(document(url, "a"), document(url, "b")); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	open, _ := filepath.Glob(filepath.Join(dir, "*"+OpenSuffix))
	if err := w.Close(); err != nil || len(open) != 1 {
		t.Fatal(err, open)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	var all []string
	for i, name := range names {
		if want := fmt.Sprintf("test-20261124120000-%05d-%d.warc.gz", i+1, os.Getpid()); filepath.Base(name) != want {
			t.Errorf("%s, want %s", name, want)
		}
		file, _ := os.ReadFile(name)
		got := urls(t, file)
		for i := 0; i < len(got); i += 2 {
			if got[i] != got[i+1] {
				t.Errorf("%s: %q", name, got)
			}
		}
		all = append(all, got...)
	}
	slices.Sort(all)
	if len(names) < 4 || len(all) != 40 || len(slices.Compact(all)) != 20 {
		t.Errorf("%d files, %q", len(names), all)
	}
}

// TestAppend checks that records are added to a closed file, and to one that a killed process has
// left, and that no other file is changed.
func TestAppend(t *testing.T) {
	for _, suffix := range []string{".warc.gz", ".warc"} {
		name := filepath.Join(t.TempDir(), "a"+suffix)
		for _, url := range []string{"ftp://h/1", "ftp://h/2", "ftp://h/3"} {
			w, err := CreateFile(name, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(name); err == nil {
				t.Error("the file has its name while it is open")
			}
			if _, err := CreateFile(name, Options{}); !errors.Is(err, disk.ErrBusy) {
				t.Errorf("a second Writer: %v", err)
			}
			if err := errors.Join(w.Write(document(url, "text")), w.Close()); err != nil {
				t.Fatal(err)
			}
			if url == "ftp://h/2" { // as if the process had been killed while it wrote half a record
				half := []byte("WARC/1.1\r\nWARC-Ty")
				if suffix == ".warc.gz" {
					half = members(resource)[:40]
				}
				if err := errors.Join(appendTo(name, half), os.Rename(name, name+OpenSuffix)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := urls(t, mustRead(t, name)); !slices.Equal(got, []string{"ftp://h/1", "ftp://h/2", "ftp://h/3"}) {
			t.Errorf("%q", got)
		}
	}
}

func mustRead(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func appendTo(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// TestNotOurs checks that a file that is not a WARC file, or is damaged before its end, keeps its
// content and its name.
func TestNotOurs(t *testing.T) {
	good := members(info, resource, response)
	bad := bytes.Clone(good)
	bad[len(members(info))+20] ^= 0xff
	for name, content := range map[string][]byte{
		"text.warc": []byte("abc"), "text2.warc": []byte("a text\nof two lines\n"), "zip.warc.gz": members("a text"),
		"damaged.warc.gz": bad, "plain.warc.gz": []byte("abc"), "damaged.warc": []byte(info + "xx\n" + resource),
	} {
		dir := t.TempDir()
		name := filepath.Join(dir, name)
		if err := os.WriteFile(name, content, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := CreateFile(name, Options{}); err == nil || !strings.Contains(err.Error(), "was not changed") {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Equal(mustRead(t, name), content) {
			t.Errorf("%s was changed", name)
		}
		if err := os.Rename(name, name+OpenSuffix); err != nil {
			t.Fatal(err)
		}
		if _, err := Create(dir, Options{}); err == nil || !strings.Contains(err.Error(), "was not changed") {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Equal(mustRead(t, name+OpenSuffix), content) {
			t.Errorf("%s was changed", name)
		}
	}
	name := filepath.Join(t.TempDir(), "both.warc.gz")
	for _, n := range []string{name, name + OpenSuffix} {
		if err := os.WriteFile(n, good, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := CreateFile(name, Options{}); err == nil || !strings.Contains(err.Error(), "both ") {
		t.Errorf("both files: %v", err)
	}
}

// TestMixedGzip checks that a plain file does not get members, nor the other way round.
func TestMixedGzip(t *testing.T) {
	for name, content := range map[string][]byte{"a.warc": members(info), "a.warc.gz": []byte(info)} {
		name := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(name, content, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := CreateFile(name, Options{}); err == nil || !bytes.Equal(mustRead(t, name), content) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestKilledAtEachCall kills a process at each call of the file system. The next one finds all that
// was written before, and goes on.
func TestKilledAtEachCall(t *testing.T) {
	for _, o := range []simdisk.Options{{}, {Windows: true}} {
		for _, short := range []int{-1, 0, 100} {
			for n, done := 0, false; !done; n++ {
				done = killedAt(t, simdisk.New(o), n, short)
			}
		}
	}
}

// killedAt kills a Writer of a folder at call n, after short octets if that is a write, and verifies
// what the next one makes of it. It reports whether the first Writer was not killed.
func killedAt(t *testing.T, d *simdisk.Disk, n, short int) (done bool) {
	calls := 0
	var p *simdisk.Process
	p = d.Process(func(c *simdisk.Call) error {
		switch calls++; {
		case calls-1 < n:
			return nil
		case calls-1 == n && c.Op == "write" && short >= 0:
			return simdisk.Short(min(short, c.N), simdisk.ErrDead)
		}
		p.Kill()
		return simdisk.ErrDead
	})
	var written []string
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	record := func(p *simdisk.Process, from, to int) error {
		now = now.Add(time.Second)
		w, err := Create("/dir", Options{MaxSize: 1000, Now: func() time.Time { return now }, disk: p})
		if err != nil {
			return err
		}
		for i := from; i < to; i++ {
			url := fmt.Sprintf("ftp://h/%d", i)
			if err := w.Write(document(url, "text")); err != nil {
				return errors.Join(err, w.Close())
			}
			written = append(written, url)
		}
		return w.Close()
	}
	err := record(p, 0, 6)
	p.Kill()
	before := slices.Clone(written)
	if err := record(d.Process(nil), 10, 13); err != nil {
		t.Fatalf("killed at call %d: %v", n, err)
	}
	var found []string
	for name, data := range d.Files() {
		if !strings.HasSuffix(name, ".warc.gz") {
			t.Errorf("killed at call %d: %s is left", n, name)
		}
		found = append(found, urls(t, data)...)
	}
	if last := fmt.Sprintf("ftp://h/%d", len(before)); slices.Contains(found, last) {
		written = append(written, last) // it was written, but the Writer could not say so
	}
	slices.Sort(found)
	slices.Sort(written)
	if !slices.Equal(found, written) {
		t.Errorf("killed at call %d: %q, want %q", n, found, written)
	}
	return err == nil
}

// TestDiskFull fills the disk: records that do not fit are errors, all others stay, and when there is
// space again, more can be written.
func TestDiskFull(t *testing.T) {
	for capacity := int64(0); capacity < 3000; capacity += 50 {
		d := simdisk.New(simdisk.Options{Capacity: 50_000 + capacity})
		d.Put("/other", make([]byte, 50_000), time.Time{})
		w, err := Create("/", Options{disk: d.Process(nil)})
		if err != nil {
			t.Fatal(err)
		}
		var written []string
		for i := range 10 {
			url := fmt.Sprintf("ftp://h/%d", i)
			switch err := w.Write(document(url, "text")); {
			case err == nil:
				written = append(written, url)
			case !errors.Is(err, syscall.ENOSPC):
				t.Fatal(err)
			}
		}
		d.Delete("/other")
		if err := errors.Join(w.Write(document("ftp://h/last", "text")), w.Close()); err != nil {
			t.Fatal(err)
		}
		var found []string
		for name, data := range d.Files() {
			if strings.HasSuffix(name, OpenSuffix) {
				t.Errorf("%s is left", name)
			}
			found = append(found, urls(t, data)...)
		}
		if !slices.Equal(found, append(written, "ftp://h/last")) {
			t.Errorf("%d bytes: %q, want %q", capacity, found, written)
		}
	}
}

// TestCutFails has files that cannot be cut: that is an error, and no half record gets into a file
// that has its name, or before another record.
func TestCutFails(t *testing.T) {
	whole := members(info, resource)
	half := slices.Concat(whole, members(resource)[:40])
	empty := slices.Concat(whole, members(""))
	folder := func(d disk.Disk) error {
		_, err := Create("/dir", Options{disk: d})
		return err
	}
	for name, test := range map[string]struct {
		file, left string // the name before and after it
		content    []byte
		do         func(d disk.Disk) error
	}{
		"a folder":        {"/dir/a.warc.gz.open", "/dir/a.warc.gz.open", half, folder},
		"a plain file":    {"/dir/a.warc.open", "/dir/a.warc.open", []byte(info + resource[:100]), folder},
		"an empty member": {"/dir/a.warc.gz.open", "/dir/a.warc.gz.open", empty, folder},
		"a file with a name": {"/dir/a.warc.gz", "/dir/a.warc.gz", half, func(d disk.Disk) error {
			_, err := CreateFile("/dir/a.warc.gz", Options{disk: d})
			return err
		}},
		"records after a mark": {"/dir/a.warc.gz", "/dir/a.warc.gz.open", whole, func(d disk.Disk) error {
			w, err := Create("/dir", Options{disk: d})
			if err != nil {
				t.Fatal(err)
			}
			return w.Rewind(Mark{File: "a.warc.gz", Size: int64(len(members(info)))})
		}},
	} {
		d := simdisk.New(simdisk.Options{})
		d.Put(test.file, test.content, time.Time{})
		failing := d.Process(func(c *simdisk.Call) error {
			if c.Op == "truncate" {
				return syscall.EIO
			}
			return nil
		})
		if err := test.do(failing); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := d.Get(test.left); !bytes.Equal(got, test.content) {
			t.Errorf("%s: %s has %d bytes, want %d", name, test.left, len(got), len(test.content))
		}
		failing.Kill()
		if err := test.do(d.Process(nil)); err != nil {
			t.Errorf("%s, the next time: %v", name, err)
		}
	}
}

// TestCloseFails has files that cannot be closed as they should: that is an error, no file gets the
// name, and what another program has there stays.
func TestCloseFails(t *testing.T) {
	for name, test := range map[string]struct {
		fails string // a call of the disk
		meet  func(d *simdisk.Disk, name string)
	}{
		"not synced":   {fails: "sync"},
		"not flushed":  {fails: "flush"},
		"not renamed":  {fails: "rename"},
		"removed":      {meet: func(d *simdisk.Disk, name string) { d.Delete(name + OpenSuffix) }},
		"replaced":     {meet: func(d *simdisk.Disk, name string) { d.Replace(name+OpenSuffix, []byte("other")) }},
		"a taken name": {meet: func(d *simdisk.Disk, name string) { d.Replace(name, []byte("other")) }},
	} {
		d := simdisk.New(simdisk.Options{})
		var fails string
		w, err := Create("/dir", Options{disk: d.Process(func(c *simdisk.Call) error {
			if c.Op == fails {
				return syscall.EIO
			}
			return nil
		})})
		if err == nil {
			err = w.Write(document("ftp://h/1", "text"))
		}
		if err != nil {
			t.Fatal(err)
		}
		if fails = test.fails; test.meet != nil {
			test.meet(d, w.name)
		}
		before := maps.Collect(d.Files())
		if err := w.Close(); err == nil || fails != "" && !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", name, err)
		}
		if after := maps.Collect(d.Files()); !maps.EqualFunc(before, after, bytes.Equal) {
			t.Errorf("%s: %q, before: %q", name, slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
		}
	}
}

// TestHalfRecordStays has a disk that takes half a record and then cannot cut it: nothing is written
// behind it, and the file does not get its name before it is cut.
func TestHalfRecordStays(t *testing.T) {
	for name, healed := range map[string]bool{"for good": false, "until the end": true} {
		d := simdisk.New(simdisk.Options{})
		broken := false
		p := d.Process(func(c *simdisk.Call) error {
			switch {
			case broken && c.Op == "write":
				return simdisk.Short(50, syscall.ENOSPC)
			case broken && c.Op == "truncate":
				return syscall.EIO
			}
			return nil
		})
		w, err := Create("/dir", Options{disk: p})
		if err == nil {
			err = w.Write(document("ftp://h/1", "text"))
		}
		if err != nil {
			t.Fatal(err)
		}
		broken = true
		if err := w.Write(document("ftp://h/2", "text")); !errors.Is(err, syscall.EIO) || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", name, err)
		}
		broken = false
		if err := w.Write(document("ftp://h/3", "text")); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s, the next record: %v", name, err)
		}
		broken = !healed
		if err := w.Close(); (err == nil) != healed {
			t.Errorf("%s, at the end: %v", name, err)
		}
		p.Kill()
		for file, data := range d.Files() {
			if strings.HasSuffix(file, OpenSuffix) == healed {
				t.Errorf("%s: %s has %d bytes", name, file, len(data))
			}
		}
		if next, err := Create("/dir", Options{disk: d.Process(nil)}); err != nil || next.Close() != nil {
			t.Fatal(err)
		}
		for _, data := range d.Files() {
			if got := urls(t, data); !slices.Equal(got, []string{"ftp://h/1"}) {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
}

// TestKilled kills a process that writes, with the signal that no process can handle: the next Writer
// finds all records but the last one.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("WARC_TEST_DIR"); dir != "" {
		writeUntilKilled(dir)
	}
	if testing.Short() {
		t.Skip("-short")
	}
	dir := t.TempDir()
	for range 3 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$", "-test.count=1")
		cmd.Env = append(os.Environ(), "WARC_TEST_DIR="+dir)
		said, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 400)
		_, err = io.ReadFull(said, head)
		if err := errors.Join(err, cmd.Process.Kill()); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(said)
		_ = cmd.Wait()
		lines := strings.Split(string(head)+string(rest), "\n")
		w, err := Create(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		var found []string
		names, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, name := range names {
			if !strings.HasSuffix(name, ".warc.gz") {
				t.Errorf("%s is left", name)
			}
			found = append(found, urls(t, mustRead(t, name))...)
			os.Remove(name)
		}
		said0 := lines[:len(lines)-1] // the last one may be cut
		if len(found) < len(said0) || len(found) > len(said0)+2 || !slices.Equal(found[:len(said0)], said0) {
			t.Errorf("%d records, %d were said", len(found), len(said0))
		}
	}
}

// writeUntilKilled writes records, and says which it has written.
func writeUntilKilled(dir string) {
	w, err := Create(dir, Options{})
	for i := 0; err == nil; i++ {
		url := fmt.Sprintf("ftp://h/%d", i)
		if err = w.Write(document(url, strings.Repeat("text ", i%1000))); err == nil {
			_, err = fmt.Println(url)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestTwoProcesses checks that a Writer of a folder leaves alone what another one is writing.
func TestTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	one, err := Create(dir, Options{Prefix: "one"})
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Write(document("ftp://h/1", "text")); err != nil {
		t.Fatal(err)
	}
	two, err := Create(dir, Options{Prefix: "two"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(two.Write(document("ftp://h/2", "text")), one.Write(document("ftp://h/3", "text")), one.Close(), two.Close()); err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	var found []string
	for _, name := range names {
		found = append(found, urls(t, mustRead(t, name))...)
	}
	if !slices.Equal(found, []string{"ftp://h/1", "ftp://h/3", "ftp://h/2"}) {
		t.Errorf("%q", found)
	}
}
