package deploy_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/deploy"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// A summer is a server that lists the times of its zone.
type summer struct {
	*ftptest.Server
	offset atomic.Int64 // from UTC
}

// newSummer starts an IIS, seven hours behind UTC.
func newSummer(t *testing.T, configure func(*ftptest.Server)) *summer {
	t.Helper()
	s := new(summer)
	s.set(-7 * time.Hour)
	s.Server = ftptest.New(t, ftptest.IIS, func(srv *ftptest.Server) {
		srv.Content, srv.ListOffset = fstest.MapFS{}, func() time.Duration { return time.Duration(s.offset.Load()) }
	}, configure)
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

// An upload compares no contents at a change of daylight saving time, if the server states when the
// files were written, and otherwise the contents once.
func TestUploadDaylight(t *testing.T) {
	for name, tc := range map[string]struct {
		to        time.Duration // from UTC; before, it is an hour more
		configure func(*ftptest.Server)
		asks      string // for each file
	}{
		"MDTM":       {-8 * time.Hour, nil, "MDTM"},
		"MDTM, east": {5*time.Hour + 30*time.Minute, nil, "MDTM"},
		"local MDTM": {0, nil, "RETR"}, // perhaps
		"no MDTM":    {-8 * time.Hour, func(s *ftptest.Server) { s.Hide = append(s.Hide, "MDTM") }, "RETR"},
		"one MDTM":   {-8 * time.Hour, func(s *ftptest.Server) { s.Replies["MDTM"] = "213 20250102030405" }, "RETR"},
		"times set":  {-8 * time.Hour, func(s *ftptest.Server) { s.Hide = []string{"MLSD"}; delete(s.Replies, "FEAT 211") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			srv := newSummer(t, tc.configure)
			m := upload(t, srv.URL, map[string]string{"a": "a", "b": "b", "dir/c": "c"})
			srv.set(tc.to + time.Hour)
			ran(t, m, deploy.Summary{New: 3})
			srv.set(tc.to)
			srv.ResetTranscript()
			ran(t, m, deploy.Summary{Unchanged: 3})
			sent := commands(srv.Server, "MDTM", "RETR", "STOR")
			n := 0
			for _, line := range sent {
				if tc.asks != "" && strings.HasPrefix(line, tc.asks) {
					n++
				} else if tc.asks != "RETR" {
					t.Error(line)
				}
			}
			if tc.asks != "" && n != 3 {
				t.Errorf("%q", sent)
			}
			ran(t, m, deploy.Summary{Unchanged: 3})
			if sent := commands(srv.Server, "MDTM", "RETR", "STOR"); sent != nil {
				t.Errorf("the next run: %q", sent)
			}

			srv.set(tc.to + time.Hour)
			if err := os.Remove(filepath.Join(m.Dir, "b")); err != nil {
				t.Fatal(err)
			}
			if tc.asks == "RETR" { // it may be another file by now
				return
			}
			ran(t, m, deploy.Summary{Unchanged: 2, Gone: 1}) // the next run still knows it
			m.Delete = true
			ran(t, m, deploy.Summary{Unchanged: 2, Gone: 1})
			hasFiles(t, srv, ".", map[string]string{"a": "a", "dir/c": "c"})
		})
	}
}

// A file that another client has replaced an hour after the upload is sent again, and never deleted.
func TestUploadWithoutDaylight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newSummer(t, func(s *ftptest.Server) { s.InMemory = true })
		m := upload(t, srv.URL, map[string]string{"a": "a", "b": "b"})
		r := &fetch1738.Resolver{Env: fetch.Env{Dial: srv.Dial}}
		defer r.Close()
		m.Fetcher = r
		ran(t, m, deploy.Summary{New: 2})
		time.Sleep(time.Hour)
		srv.put(t, "a", "A", time.Now())
		srv.put(t, "b", "B", time.Now())
		if err := os.Remove(filepath.Join(m.Dir, "b")); err != nil {
			t.Fatal(err)
		}
		m.Delete, m.MaxDelete = true, -1
		ran(t, m, deploy.Summary{Changed: 1, Gone: 1})
		hasFiles(t, srv, ".", map[string]string{"a": "a", "b": "B"})
	})
}
