package state

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/testserver/simdisk"
)

const url = "ftp://h/site/"

var then = time.Date(2026, 11, 26, 1, 2, 3, 4, time.UTC)

func open(t *testing.T, dir string, readOnly bool) (*State, error) {
	t.Helper()
	root, err := disk.System().OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	return Open(disk.System(), root, Place{}, url, readOnly)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What was added is there in the next run, also if the program was killed.
func TestState(t *testing.T) {
	dir := t.TempDir()
	s, err := open(t, dir, false)
	must(t, err)
	if _, err := open(t, dir, false); err != errLocked && runtime.GOOS != "windows" {
		t.Errorf("a second run: %v", err)
	}
	part := PartName("00", "x")
	records := []Line{
		{URL: url + "a", File: "a", Size: 1, Modified: then, Stored: then.Truncate(time.Second), SHA256: "00"},
		{URL: url + "d/", File: "d", Size: -1, Dir: true},
		{URL: url + "d/x", File: "d/x", Size: 2, Part: part},
		{URL: url + "%F6", File: "\xf6", Size: 3, SHA256: "01"},
		{URL: url + "old", File: "old", SHA256: "02"},
		{URL: url + "old", File: "old", Gone: true},
	}
	for _, rec := range records {
		must(t, s.Add(rec))
	}
	check := func(s *State) {
		t.Helper()
		var names []string
		for _, rec := range s.All() {
			names = append(names, rec.File)
		}
		if want := []string{"a", "d", "\xf6"}; !slices.Equal(names, want) {
			t.Errorf("%q, want %q", names, want)
		}
		if rec, ok := s.Known("a"); !ok || !rec.Modified.Equal(then) || rec.Size != 1 || rec.SHA256 != "00" {
			t.Errorf("%+v, %v", rec, ok)
		}
		if parts := s.Parts(); len(parts) != 1 || parts[0].Part != part || !s.Begun("d/x", part) || s.Begun("d/x", "other") {
			t.Errorf("%+v", parts)
		}
	}
	check(s)
	must(t, s.Close(false)) // as a kill leaves it
	name := filepath.Join(dir, Folder, nameFor(url))
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(`{"url":"ftp://h/site/b","fi`)
	must(t, errors.Join(err, f.Close()))
	dry, err := open(t, dir, true)
	must(t, err)
	check(dry)
	must(t, dry.Close(false))
	s, err = open(t, dir, false)
	must(t, err)
	check(s)
	must(t, s.Add(Line{URL: url + "c", File: "c", SHA256: "03"}))
	must(t, s.Add(Line{URL: url + "c", File: "c", Gone: true}))
	must(t, s.Close(true))
	text, err := os.ReadFile(name)
	must(t, err)
	if lines := strings.Count(string(text), "\n"); lines != 5 {
		t.Errorf("%d lines after a complete run:\n%s", lines, text)
	}
	s, err = open(t, dir, false)
	must(t, err)
	check(s)
	must(t, s.Close(true))
}

// known opens the state in /dir of a simulated disk, and returns the files that it knows.
func known(t *testing.T, p disk.Disk) (s *State, files []string) {
	t.Helper()
	root, err := p.OpenRoot("/dir")
	must(t, err)
	s, err = Open(p, root, Place{}, url, false)
	must(t, err)
	for _, rec := range s.All() {
		files = append(files, rec.File)
	}
	return s, files
}

// What was known before a run is known after a crash of the system at its end.
func TestStateCrash(t *testing.T) {
	for seed := range uint64(200) {
		d := simdisk.New(simdisk.Options{})
		d.Put("/dir/x", nil, then)
		s, _ := known(t, d.Process(nil))
		must(t, errors.Join(s.Add(Line{URL: url + "a", File: "a", SHA256: "00"}), s.Close(true)))
		d.Settle()
		s, _ = known(t, d.Process(nil))
		must(t, errors.Join(s.Add(Line{URL: url + "b", File: "b", SHA256: "00"}), s.Close(true)))
		d.Crash(rand.New(rand.NewPCG(seed, 1)))
		if _, files := known(t, d.Process(nil)); !slices.Contains(files, "a") {
			t.Fatalf("seed %d: %q", seed, files)
		}
	}
}

// A line follows one that could not be written whole.
func TestShortLine(t *testing.T) {
	d := simdisk.New(simdisk.Options{})
	d.Put("/dir/x", nil, then)
	full := false
	p := d.Process(func(c *simdisk.Call) error {
		if full && c.Op == "write" {
			return simdisk.Short(10, syscall.ENOSPC)
		}
		return nil
	})
	s, _ := known(t, p)
	full = true
	if err := s.Add(Line{URL: url + "a", File: "a", SHA256: "00"}); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	full = false
	must(t, errors.Join(s.Add(Line{URL: url + "b", File: "b", SHA256: "00"}), s.Close(false)))
	if _, files := known(t, d.Process(nil)); !slices.Equal(files, []string{"b"}) {
		t.Errorf("%q", files)
	}
}

// A state is that of one URL.
func TestStateOfAnother(t *testing.T) {
	if err := New("x", url).Read(strings.NewReader(`{"url":"ftp://other/","start":true}`)); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if err := New("x", "").Read(strings.NewReader(`{"url":"ftp://other/","start":true}`)); err != nil {
		t.Error(err)
	}
}

// A line that is too long is skipped, and those around it are read.
func TestLongLine(t *testing.T) {
	long := `{"file":"long` + strings.Repeat("g", maxLine) + `"}`
	for _, tc := range []struct {
		text string
		torn bool
	}{
		{`{"start":true}` + "\n" + `{"file":"a"}` + "\n" + long + "\n" + `{"file":"b"}` + "\n", false},
		{`{"start":true}` + "\n" + `{"file":"a"}` + "\n" + `{"file":"b"}`, true},
		{`{"file":"a"}` + "\n" + `{"file":"b"}` + "\n" + long + long, true},
	} {
		s := New("", "")
		must(t, s.Read(strings.NewReader(tc.text)))
		if all := s.All(); len(all) != 2 || all[0].File != "a" || all[1].File != "b" || s.torn != tc.torn {
			t.Errorf("%.30q: %v, %v", tc.text, all, s.torn)
		}
		if started := strings.Contains(tc.text, "start"); s.Started() != started {
			t.Errorf("%.30q: started %v", tc.text, s.Started())
		}
	}
}

// Of two states the later line about a file is valid.
func TestMerge(t *testing.T) {
	ours, theirs := New("", url), New("", "")
	for _, rec := range []Line{{File: "a", SHA256: "old", Time: then}, {File: "b", SHA256: "ours", Time: then.Add(time.Hour)}} {
		must(t, ours.Add(rec))
	}
	for _, rec := range []Line{{File: "a", SHA256: "new", Time: then.Add(time.Hour)}, {File: "b", SHA256: "theirs", Time: then}, {File: "c", SHA256: "c", Time: then}} {
		must(t, theirs.Add(rec))
	}
	must(t, ours.Merge(theirs))
	var got []string
	for _, rec := range ours.All() {
		got = append(got, rec.SHA256)
	}
	if diff := cmp.Diff([]string{"new", "ours", "c"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPartNames(t *testing.T) {
	name := PartName(strings.Repeat("0", 64), "x")
	if !IsPart(name) || name == PartName(strings.Repeat("1", 64), "x") || name == PartName(strings.Repeat("0", 64), "y") {
		t.Error(name)
	}
	for _, other := range []string{"", "fetch1738-.part", "fetch1738-" + strings.Repeat("g", 24) + ".part", "x" + name, name + "x", strings.ToUpper(name)} {
		if IsPart(other) {
			t.Errorf("%q is taken for a temporary name", other)
		}
	}
}

// No state, which may come from a server, leads out of the tree, and what is read can be written
// and read again.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		`{"url":"u","file":"a","size":1,"sha256":"00"}`, `{"url":"u","file":"../a","size":1}`, `{"url":"u","file":"/a"}`, `{"url":"u","octets":"9g=="}`,
		`{"url":"u","file":"a","part":"../x"}`, `{"url":"u","file":"a/b","part":"fetch1738-000000000000000000000000.part"}`, `{"start":true}`, "{\n}", "\x00",
		`{"url":"u","file":"a","gone":true}`, `{"url":"u","octets":"Li4v"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := New("x", "")
		if s.Read(bytes.NewReader(text)) != nil {
			return
		}
		for _, rec := range slices.Concat(s.All(), s.Parts()) {
			if !isLocal(rec.File) || strings.Contains("/"+rec.File+"/", "/../") || rec.Part != "" && !IsPart(rec.Part) {
				t.Fatalf("%+v", rec)
			}
		}
		lines, err := s.Text(true)
		if err != nil {
			t.Fatal(err)
		}
		again := New("x", "")
		if err := again.Read(bytes.NewReader(lines)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s.All(), again.All()); diff != "" {
			t.Error(diff)
		}
	})
}
