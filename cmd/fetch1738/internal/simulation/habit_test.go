package simulation

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// A habit is what a server always does, and what has broken another program: public bug reports
// describe it. A server with habits is not wrong, so each operation succeeds.
type habit struct {
	name  string
	topic string                      // a server has one habit of a topic
	fits  func(p *Plan, s *Site) bool // reports whether the plan can have it; nil means that all can
	// rename returns the name that a file has in such a plan. It may be nil.
	rename func(name string) string
	blind  bool // the server does not say by what a version is known
	spouts bool // it sends more than the part that was requested

	hide  []string
	says  map[string]string // replies, by the keys of the server's Replies
	set   func(srv server)  // other settings, before the server starts
	idle  time.Duration     // after which the server closes a connection
	rules []rule
}

// A rule is armed for each occurrence of a stage.
type rule struct {
	stage  string
	faults []testserver.Fault
}

// each returns rules that arm the same faults at some stages.
func each(stages string, faults ...testserver.Fault) (rules []rule) {
	for stage := range strings.SplitSeq(stages, "|") {
		rules = append(rules, rule{stage, faults})
	}
	return rules
}

// of returns a function for the settings of one kind of server.
func of[S any](set func(srv S)) func(server) {
	return func(srv server) { set(srv.(S)) }
}

// drawHabits gives a site up to two habits.
func drawHabits(r *rand.Rand, p *Plan, s *Site) {
	for range []int{0, 0, 1, 1, 2}[r.IntN(5)] {
		all := habits[s.Scheme]
		if len(all) == 0 {
			return
		}
		h := all[r.IntN(len(all))]
		taken := h.topic != "" && slices.ContainsFunc(s.habits(), func(other habit) bool { return other.topic == h.topic })
		if !taken && (h.fits == nil || h.fits(p, s)) {
			s.adopt(h)
		}
	}
}

// adopt gives a site a habit, if it has not got it yet.
func (s *Site) adopt(h habit) {
	if slices.Contains(s.Habits, h.name) {
		return
	}
	s.Habits = append(s.Habits, h.name)
	for i, f := range s.Files {
		if h.rename != nil {
			s.Files[i].Name = h.rename(f.Name)
		}
	}
}

// habits returns the habits of a site in the order of the table, in which a later one may have
// settings of an earlier one.
func (s *Site) habits() []habit {
	return slices.DeleteFunc(slices.Clone(habits[s.Scheme]), func(h habit) bool { return !slices.Contains(s.Habits, h.name) })
}

// isBlind reports whether a server does not say by what a version is known.
func (s *Site) isBlind() bool {
	return s.Way == "old" || slices.ContainsFunc(s.habits(), func(h habit) bool { return h.blind })
}

// configure gives a server the settings of the habits of a site.
func (s *Site) configure(srv server, common *testserver.Server) {
	for _, h := range s.habits() {
		switch srv := srv.(type) {
		case *ftptest.Server:
			srv.Hide, srv.Replies = slices.Concat(srv.Hide, h.hide), with(srv.Replies, h.says)
		case *nntptest.Server:
			srv.Hide, srv.Replies = slices.Concat(srv.Hide, h.hide), with(srv.Replies, h.says)
		}
		if h.idle > 0 {
			common.IdleTimeout = h.idle
		}
		if h.set != nil {
			h.set(srv)
		}
	}
}

// with returns the texts of two maps.
func with[M ~map[string]string](usual M, more map[string]string) M {
	all := M{}
	maps.Copy(all, usual)
	maps.Copy(all, more)
	return all
}

// behave arms the faults that are habits.
func (s *site) behave(srv server) error {
	for _, h := range s.habits() {
		for _, r := range h.rules {
			if err := srv.Arm(r.stage, 0, r.faults...); err != nil {
				return fmt.Errorf("%s: %w", h.name, err)
			}
		}
	}
	return nil
}

// lists returns the settings of an FTP server of which a command lists directories in another way.
// The function gets the path of the directory, with a slash at its end, and returns the listing or
// an error. Without both, the listing is the usual one.
func lists(command string, listing func(dir string, entries []fs.FileInfo) (octets string, err error)) func(server) {
	return of(func(f *ftptest.Server) {
		f.ListingOctets = func(asked, dir string) (io.ReadCloser, error) {
			if asked != command {
				return nil, nil
			}
			files, where := f.Files(), "/"+dir+"/"
			if dir == "" {
				dir, where = ".", "/"
			}
			found, err := fs.ReadDir(files, dir)
			if err != nil {
				return nil, err
			}
			var entries []fs.FileInfo
			for _, e := range found {
				if info, err := e.Info(); err == nil {
					entries = append(entries, info)
				}
			}
			octets, err := listing(where, entries)
			if err != nil || octets == "" && len(entries) > 0 {
				return nil, err
			}
			return io.NopCloser(strings.NewReader(octets)), nil
		}
	})
}

// lines returns the settings of an FTP server whose LIST has other lines.
func lines(format func(dir string, e fs.FileInfo) string) func(server) {
	return lists("LIST", func(dir string, entries []fs.FileInfo) (string, error) {
		var b strings.Builder
		for _, e := range entries {
			b.WriteString(format(dir, e) + "\r\n")
		}
		return b.String(), nil
	})
}

// ls returns a line of ls -l. A day in December is " 1 Dec" if it is to come first, which a format
// of "day month" says, or "Dec  1".
func ls(e fs.FileInfo, format string, months []string, name string) string {
	clock := e.ModTime().UTC().Format("2006")
	if age := time.Since(e.ModTime()); age >= 0 && age < 180*24*time.Hour {
		clock = e.ModTime().UTC().Format("15:04")
	}
	mode := "-rw-r--r--"
	if e.IsDir() {
		mode = "drwxr-xr-x"
	}
	return strings.NewReplacer(
		"mode", mode, "size", fmt.Sprintf("%8d", e.Size()), "day", fmt.Sprintf("%2d", e.ModTime().UTC().Day()),
		"month", months[e.ModTime().UTC().Month()-1], "clock", fmt.Sprintf("%5s", clock), "name", name,
	).Replace(format)
}

// TestHabits runs some operations with each habit that they can have, without events: they succeed
// at once. Each habit changes something in one of these worlds.
func TestHabits(t *testing.T) {
	alone(t)
	page, err := os.ReadFile(module + "docs/simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(page)), " ")
	for scheme, rows := range habits {
		for _, h := range rows {
			if !strings.Contains(text, h.name) {
				t.Errorf("docs/simulation.md has no %q", h.name)
			}
			t.Run(scheme+" "+h.name, func(t *testing.T) {
				if seen := h.shows(t, scheme); !seen && h.idle == 0 { // nobody waits that long
					t.Error("nothing is different")
				}
			})
		}
	}
}

// shows runs worlds with a habit, and reports whether it changes something.
func (h habit) shows(t *testing.T, scheme string) (seen bool) {
	for _, p := range []*Plan{
		{Operation: "Download", Variant: 256}, {Operation: "ReaderAt", Variant: 256}, {Operation: "Mirror", Variant: 256},
		{Operation: "Upload", Variant: 320}, {Operation: "Upload", Variant: 256}, // on an empty server
	} {
		op := operationOf(p.Operation)
		p.tree, p.Sites = op.tree, []Site{{Scheme: scheme}}
		if !slices.ContainsFunc(operations, func(o operation) bool { return o.name == op.name && slices.Contains(o.schemes, scheme) }) || h.fits != nil && !h.fits(p, &p.Sites[0]) {
			continue
		}
		for i := range 3 {
			p.Sites[0].Files = append(p.Sites[0].Files, File{Name: fileName(scheme, i), Size: 3000 + 100*i})
		}
		if !op.tree { // it does not fit into buffers
			p.Sites[0].Files[0].Size = 200_000
		}
		without := Run(t, p, true)
		p.Sites[0].adopt(h)
		with := Run(t, p, true)
		if len(with.Broken) > 0 {
			t.Fatalf("%s\n%s\n%s", strings.Join(with.Broken, "\n"), p, strings.Join(with.Log, "\n"))
		}
		seen = seen || !slices.Equal(with.Log, without.Log)
	}
	return seen
}
