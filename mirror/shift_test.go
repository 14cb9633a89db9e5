package mirror_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// A summer is a server that lists the times of its zone.
type summer struct {
	*ftptest.Server
	offset atomic.Int64 // from UTC
}

// newSummer starts an IIS, seven hours behind UTC, with files of some ages.
func newSummer(t *testing.T, files map[string]time.Time, configure ...func(*ftptest.Server)) *summer {
	t.Helper()
	s := new(summer)
	s.set(-7 * time.Hour)
	content := make(fstest.MapFS)
	for name, when := range files {
		content[name] = &fstest.MapFile{Data: []byte(name), ModTime: when}
	}
	s.Server = ftptest.New(t, append([]func(*ftptest.Server){ftptest.IIS, func(srv *ftptest.Server) {
		srv.Content, srv.ListOffset = content, func() time.Duration { return time.Duration(s.offset.Load()) }
	}}, configure...)...)
	return s
}

func (s *summer) set(offset time.Duration) { s.offset.Store(int64(offset)) }

// put replaces a file.
func (s *summer) put(t *testing.T, name, text string, when time.Time) {
	t.Helper()
	if err := s.PutModified(name, []byte(text), when); err != nil {
		t.Fatal(err)
	}
}

// fetched returns the files that were fetched since the last call.
func (s *summer) fetched() (names []string) {
	names = asked(&s.Server.Server, "RETR")
	s.ResetTranscript()
	return names
}

// old are files of different days.
func old() map[string]time.Time {
	files := make(map[string]time.Time)
	for i, name := range []string{"a", "b", "dir/c", "dir/d", "dir/sub/e"} {
		files[name] = modified.AddDate(0, 0, i).Add(time.Duration(i) * time.Minute)
	}
	return files
}

// At a change of daylight saving time nothing is fetched again, and the next run is quiet.
func TestDaylight(t *testing.T) {
	for _, shifts := range [][]time.Duration{{-time.Hour, 0, 0}, {time.Hour, 0, time.Hour}, {30 * time.Minute, 0}, {-30 * time.Minute, -30 * time.Minute}} {
		for _, connections := range []int{1, 4} {
			t.Run(fmt.Sprint(shifts, connections), func(t *testing.T) {
				srv := newSummer(t, old())
				m := start(t, srv.URL)
				m.Connections = connections
				ran(t, m, mirror.Summary{New: 5})
				before := read(t, m.Dir)
				for _, shift := range shifts {
					srv.set(-7*time.Hour + shift)
					srv.fetched()
					m.DryRun = true
					ran(t, m, mirror.Summary{Unchanged: 5})
					m.DryRun = false
					ran(t, m, mirror.Summary{Unchanged: 5})
					if got := srv.fetched(); got != nil {
						t.Errorf("fetched again: %q", got)
					}
					info, err := os.Stat(filepath.Join(m.Dir, "a"))
					if want := modified.Truncate(time.Minute).Add(-7*time.Hour + shift); err != nil || !info.ModTime().Equal(want) {
						t.Errorf("the copy has the time %v, want %v; %v", info.ModTime(), want, err)
					}
				}
				sameFiles(t, m.Dir, before)
			})
		}
	}
}

// What was changed at the same time is fetched, and only that.
func TestDaylightAndChanges(t *testing.T) {
	srv := newSummer(t, old())
	m := start(t, srv.URL)
	ran(t, m, mirror.Summary{New: 5})
	srv.set(-8 * time.Hour)
	srv.put(t, "a", "A", time.Now())                      // of the same size
	srv.put(t, "b", "longer", modified.Add(25*time.Hour)) // the day after
	srv.put(t, "new", "new", modified)
	write(t, m.Dir, map[string]string{"dir/d": "mine"})
	srv.fetched()
	ran(t, m, mirror.Summary{New: 1, Changed: 3, Unchanged: 2})
	if diff := cmp.Diff([]string{"RETR a", "RETR b", "RETR d", "RETR new"}, srv.fetched()); diff != "" {
		t.Error(diff)
	}
	sameFiles(t, m.Dir, map[string]string{"a": "A", "b": "longer", "dir/c": "dir/c", "dir/d": "dir/d", "dir/sub/e": "dir/sub/e", "new": "new"})
	ran(t, m, mirror.Summary{Unchanged: 6})
	if got := srv.fetched(); got != nil {
		t.Errorf("fetched again: %q", got)
	}
}

// A file that has changed is fetched, although its size is equal and its time is later by an hour.
func TestNoDaylight(t *testing.T) {
	day := old()
	hourly := map[string]time.Time{"a": time.Now().Add(-2 * time.Hour), "b": time.Now().Add(-time.Hour)}
	for name, tc := range map[string]struct {
		files     map[string]time.Time
		change    func(t *testing.T, srv *summer)
		configure func(*ftptest.Server)
		want      []string
	}{
		"one of many": {day, func(t *testing.T, srv *summer) { t.Helper(); srv.put(t, "a", "A", day["a"].Add(time.Hour)) }, nil, []string{"RETR a"}},
		"all but one": {day, func(t *testing.T, srv *summer) {
			t.Helper()
			for name, when := range day {
				if name != "dir/c" {
					srv.put(t, name, strings.ToUpper(name), when.Add(time.Hour))
				}
			}
		}, nil, []string{"RETR a", "RETR b", "RETR d", "RETR e"}},
		"written every hour": {hourly, func(t *testing.T, srv *summer) {
			t.Helper()
			for name, when := range hourly {
				srv.put(t, name, strings.ToUpper(name), when.Add(time.Hour))
			}
		}, nil, []string{"RETR a", "RETR b"}},
		"another zone": {day, func(_ *testing.T, srv *summer) { srv.set(2 * time.Hour) }, nil, []string{"RETR a", "RETR b", "RETR c", "RETR d", "RETR e"}},
		"MLSD": {map[string]time.Time{"a": modified}, func(t *testing.T, srv *summer) { t.Helper(); srv.put(t, "a", "A", modified.Add(time.Hour)) },
			func(s *ftptest.Server) { s.Hide = nil; delete(s.Replies, "FEAT 211") }, []string{"RETR a"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := newSummer(t, tc.files, tc.configure)
			m := start(t, srv.URL)
			ran(t, m, mirror.Summary{New: len(tc.files)})
			tc.change(t, srv)
			srv.fetched()
			if _, err := m.Run(t.Context()); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(tc.want, srv.fetched()); diff != "" {
				t.Error(diff)
			}
			sameFiles(t, m.Dir, stored(t, srv, "."))
			ran(t, m, mirror.Summary{Unchanged: len(tc.files)})
			if got := srv.fetched(); got != nil {
				t.Errorf("fetched again: %q", got)
			}
		})
	}
}

// The exact time of a large file (MDTM) decides whether it has changed, if the server states it in
// UTC.
func TestDaylightOfLargeFiles(t *testing.T) {
	one, other := strings.Repeat("1", 100<<10), strings.Repeat("2", 100<<10)
	const sameMDTM = "213 20250102030405"
	for name, tc := range map[string]struct {
		alone   bool          // there is no small file
		mine    bool          // the copy of "large" is changed
		shift   time.Duration // of the listing
		changed time.Duration // by how much "large" is modified later
		mdtm    string        // the reply, or that the server has no such command
		want    []string
	}{
		"daylight":               {shift: time.Hour},
		"another zone":           {shift: 9 * time.Hour, want: []string{"RETR a"}},
		"another zone, one time": {shift: 9 * time.Hour, mdtm: sameMDTM, want: []string{"RETR a", "RETR large"}},
		"changed, too":           {shift: time.Hour, changed: time.Hour, want: []string{"RETR large"}},
		"changed":                {changed: time.Hour, want: []string{"RETR large"}},
		"changed alone":          {alone: true, changed: time.Hour, want: []string{"RETR large"}},
		"changed, one time":      {changed: time.Hour, mdtm: sameMDTM, want: []string{"RETR large"}},
		"changed here":           {shift: time.Hour, mine: true, want: []string{"RETR large"}},
		"no MDTM":                {shift: time.Hour, mdtm: "502 No."},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]time.Time{"a": modified}
			if tc.alone {
				files = nil
			}
			srv := newSummer(t, files, func(s *ftptest.Server) {
				if tc.mdtm != "" {
					s.Replies["MDTM"] = tc.mdtm
				}
			})
			srv.put(t, "large", one, modified.AddDate(0, 1, 0))
			m := start(t, srv.URL)
			ran(t, m, mirror.Summary{New: len(files) + 1})
			srv.set(-7*time.Hour + tc.shift)
			if tc.changed != 0 {
				srv.put(t, "large", other, modified.AddDate(0, 1, 0).Add(tc.changed))
			}
			if tc.mine {
				write(t, m.Dir, map[string]string{"large": other})
			}
			srv.fetched()
			if got, err := m.Run(t.Context()); err != nil || got.Unchanged+got.Changed != len(files)+1 {
				t.Errorf("%+v, %v", got, err)
			}
			if diff := cmp.Diff(tc.want, srv.fetched()); diff != "" {
				t.Error(diff)
			}
			if copied := read(t, m.Dir)["large"]; (copied == one) != (tc.changed == 0) || copied != one && copied != other {
				t.Errorf("the copy begins with %q", copied[:1])
			}
			if parts, err := filepath.Glob(filepath.Join(m.Dir, mirror.Folder, "*.part")); parts != nil || err != nil {
				t.Errorf("left: %q, %v", parts, err)
			}
			ran(t, m, mirror.Summary{Unchanged: len(files) + 1})
			if got := asked(&srv.Server.Server, "MDTM"); got != nil {
				t.Errorf("the next run asks: %q", got)
			}
		})
	}
}
