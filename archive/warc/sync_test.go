package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/testserver/simdisk"
)

// uris returns the URIs of the records in a folder, in the order of the names of its files.
func uris(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		file, err := os.Open(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		records := make(map[string]bool)
		if _, err := Verify(file, func(f *Defect) { t.Errorf("%s: %+v", entry.Name(), f) }); err != nil {
			t.Fatal(err)
		}
		_, _ = file.Seek(0, 0)
		for r := NewReader(file); ; {
			rec, err := r.Next()
			if err != nil {
				break
			}
			if rec.Type() != Info {
				records[rec.Header.Get(FieldTargetURI)] = true
			}
		}
		list = append(list, slices.Sorted(maps.Keys(records))...)
	}
	return list
}

// put writes a record for each URI.
func put(t *testing.T, w *Writer, uris ...string) {
	t.Helper()
	for _, uri := range uris {
		block := NewBlock()
		defer block.Close()
		_, err := block.Write([]byte("text"))
		if err == nil {
			err = w.Write(Draft{Block: block, Header: Header{
				{FieldType, string(Resource)}, {FieldRecordID, NewID()}, {FieldTargetURI, uri}, {FieldContentType, "text/plain"},
			}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// What follows a mark is removed, also from a file that was full and from those after it; what
// another Writer has written stays.
func TestRewind(t *testing.T) {
	hours := 0
	begin := func(t *testing.T, dir string, size int64) *Writer {
		t.Helper()
		hours++ // each has a time of its own
		w, err := Create(dir, Options{MaxSize: size, Now: func() time.Time { return time.Date(2026, 1, 1, hours, 0, 0, 0, time.UTC) }})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	for _, c := range []struct {
		name         string
		size         int64
		before, then []string // a Sync is between them
		other        bool     // another Writer adds "u:other" to the file of before
		want         string
	}{
		{name: "nothing", want: "[]"},
		{name: "before the first record", then: []string{"u:1", "u:2"}, want: "[]"},
		{name: "before the first record, several files", size: 1, then: []string{"u:1", "u:2"}, want: "[]"},
		{name: "one file", before: []string{"u:1", "u:2"}, then: []string{"u:3"}, want: "[u:1 u:2]"},
		{name: "nothing followed", before: []string{"u:1", "u:2"}, want: "[u:1 u:2]"},
		{name: "in a full file and others", size: 1200, before: []string{"u:1"}, then: []string{"u:2", "u:3", "u:4", "u:5", "u:6", "u:7", "u:8"}, want: "[u:1]"},
		{name: "a file for each", size: 1, before: []string{"u:1", "u:2"}, then: []string{"u:3", "u:4"}, want: "[u:1 u:2]"},
		{name: "another writer", before: []string{"u:1"}, then: []string{"u:2"}, other: true, want: "[u:1 u:2 u:other]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			w := begin(t, dir, c.size)
			put(t, w, c.before...)
			mark, err := w.Sync()
			if err != nil {
				t.Fatal(err)
			}
			put(t, w, c.then...)
			next := begin(t, dir, 0)
			if err := next.Rewind(Mark{File: filepath.Base(w.name)}); !errors.Is(err, disk.ErrBusy) {
				t.Error("a file that is being written:", err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if c.other {
				o, err := CreateFile(filepath.Join(dir, mark.File), Options{})
				if err != nil {
					t.Fatal(err)
				}
				put(t, o, "u:other")
				if err := o.Close(); err != nil {
					t.Fatal(err)
				}
			}
			apart := begin(t, dir, 0) // a later one of the same process
			put(t, apart, "u:apart")
			if err := apart.Close(); err != nil {
				t.Fatal(err)
			}
			for range 2 { // also if it is interrupted and repeated
				if err := next.Rewind(mark); err != nil {
					t.Fatal(err)
				}
			}
			if err := next.Close(); err != nil {
				t.Fatal(err)
			}
			got := uris(t, dir)
			want := append(strings.Fields(strings.Trim(c.want, "[]")), "u:apart")
			if !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// A process that begins in the same second as the one before it, and with its number as in a
// container, takes none of its files; and a clock that is set back hides none that follow a mark.
func TestRewindSameProcess(t *testing.T) {
	for _, c := range []struct {
		name string
		step time.Duration // of the clock between files
	}{{"the same second", 0}, {"a clock that is set back", -time.Hour}} {
		t.Run(c.name, func(t *testing.T) {
			dir, now := t.TempDir(), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
			begin := func() *Writer {
				w, err := Create(dir, Options{MaxSize: 1, Now: func() time.Time { now = now.Add(c.step); return now }})
				if err != nil {
					t.Fatal(err)
				}
				return w
			}
			var marks []Mark
			for i := range 2 {
				w := begin()
				if i > 0 {
					if err := w.Rewind(marks[i-1]); err != nil {
						t.Fatal(err)
					}
				}
				put(t, w, fmt.Sprintf("u:%d1", i))
				if i == 0 { // more files than the second one writes before its mark
					put(t, w, "u:02")
				}
				m, err := w.Sync()
				if err != nil {
					t.Fatal(err)
				}
				marks = append(marks, m)
				put(t, w, fmt.Sprintf("u:%d3", i), fmt.Sprintf("u:%d4", i))
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
			}
			w := begin()
			if err := errors.Join(w.Rewind(marks[1]), w.Close()); err != nil {
				t.Fatal(err)
			}
			got := uris(t, dir)
			slices.Sort(got)
			if want := []string{"u:01", "u:02", "u:11"}; !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// After a crash of the system at any call, the records before the last Sync are there, and a file
// that has its name is whole.
func TestCrash(t *testing.T) {
	for n, done := 0, false; !done; n++ {
		for seed := range uint64(8) {
			d := simdisk.New(simdisk.Options{})
			d.Put("/dir/other", nil, time.Time{}) // the folder is there
			var synced []string
			synced, done = syncedUntilKilled(t, d, n)
			d.Crash(rand.New(rand.NewPCG(seed, uint64(n))))
			var found []string
			for name, data := range d.Files() {
				if strings.HasSuffix(name, ".warc.gz") {
					found = append(found, urls(t, data)...)
				} else if strings.HasSuffix(name, OpenSuffix) {
					found = append(found, readable(data)...)
				}
			}
			for _, uri := range synced {
				if !slices.Contains(found, uri) {
					t.Fatalf("killed at call %d, seed %d: %s is lost: %q", n, seed, uri, found)
				}
			}
		}
	}
}

// syncedUntilKilled writes records to files of a folder until call n of the disk. It returns those
// that were written before the last Sync, and whether call n was not reached.
func syncedUntilKilled(t *testing.T, d *simdisk.Disk, n int) (synced []string, done bool) {
	t.Helper()
	calls := 0
	var p *simdisk.Process
	p = d.Process(func(*simdisk.Call) error {
		if calls++; calls <= n {
			return nil
		}
		p.Kill()
		return simdisk.ErrDead
	})
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w, err := Create("/dir", Options{MaxSize: 1500, disk: p, Now: func() time.Time { return now }})
	var written []string
	for i := 0; i < 12 && err == nil; i++ {
		uri := fmt.Sprintf("u:%d", i)
		if err = w.Write(document(uri, strings.Repeat(uri, 300))); err != nil {
			break
		}
		if written = append(written, uri); i%3 == 1 {
			if _, err = w.Sync(); err == nil && calls <= n {
				synced = slices.Clone(written)
			}
		}
	}
	if err == nil {
		err = w.Close()
	}
	if done = calls <= n; done && err != nil {
		t.Fatal(err)
	}
	return synced, done
}

// readable returns the URIs of the records of a file up to the first defect.
func readable(file []byte) (all []string) {
	for r := NewReader(bytes.NewReader(file)); ; {
		rec, err := r.Next()
		if err == nil {
			_, err = io.Copy(io.Discard, rec.Block)
		}
		if err != nil {
			return all
		}
		all = append(all, rec.TargetURI())
	}
}
