package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/simdisk"
)

// oddArticles returns n articles with lines that begin with "From ", octets of 8 bits, and NUL.
func oddArticles(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	lines := []string{
		"From me to you", ">From me", ">>>From ", "from here", "", "", "a\rb", "\xfcber \xff", "\x00nul\x00", "> From", ">", ".", "..dots", strings.Repeat("long ", 1000),
		"Content-Length: 7", "\tFrom tab", "From: x@y",
	}
	articles := make([]string, n)
	for i := range articles {
		var b strings.Builder
		fmt.Fprintf(&b, "From: Name %d <n%d@b.example>\r\nNewsgroups: g.test\r\nSubject: s%d\r\nDate: Wed, 04 Mar 2020 05:06:07 +0000\r\nMessage-ID: <%d@x.example>\r\n\r\n", i, i, i, i)
		for range r.IntN(12) {
			b.WriteString(lines[r.IntN(len(lines))] + "\r\n")
		}
		articles[i] = b.String()
	}
	return articles
}

var (
	separators = regexp.MustCompile(`(?m)^From \S+@b\.example Wed Mar  4 05:06:07 2020\n`)
	quotes     = regexp.MustCompile(`(?m)^>(>*From )`)
)

// inMailbox returns the articles of a mailbox with CR LF, sorted.
func inMailbox(t *testing.T, d *simdisk.Disk) (articles []string) {
	t.Helper()
	add := func(text []byte) { articles = append(articles, strings.ReplaceAll(string(text), "\n", "\r\n")) }
	for name, text := range d.Files() {
		switch {
		case strings.HasPrefix(name, "/copy/g.test/new/"), strings.HasPrefix(name, "/copy/g.test/cur/"):
			add(text)
		case strings.HasPrefix(name, "/copy/.fetch1738/manifest"), strings.HasPrefix(name, "/copy/g.test/tmp/"):
		case name != "/copy/g.test.mbox":
			t.Errorf("there is %s", name)
		default:
			all := separators.Split(string(text), -1)
			if all[0] != "" {
				t.Fatalf("the mbox begins with %q", all[0])
			}
			for _, article := range all[1:] {
				add(quotes.ReplaceAll([]byte(strings.TrimSuffix(article, "\n")), []byte("$1")))
			}
		}
	}
	slices.Sort(articles)
	return articles
}

// newsInMemory returns a mirror of a group whose server has no socket.
func newsInMemory(t *testing.T, box mirror.Mailbox, articles []string) (*mirror.Mirror, *nntptest.Server) {
	srv := nntptest.New(t, func(s *nntptest.Server) {
		s.InMemory, s.Groups = true, map[string][]string{"g.test": articles}
	})
	m := start(t, srv.URL+"/g.test")
	r := &fetch1738.Resolver{Env: fetch.Env{Dial: srv.Dial}}
	t.Cleanup(func() { r.Close() })
	m.Fetcher, m.Mailbox, m.Dir = r, box, "/copy"
	return m, srv
}

// runOn runs m on a disk.
func runOn(t *testing.T, d *simdisk.Disk, m *mirror.Mirror, want mirror.Summary) {
	t.Helper()
	got, err := m.Run(disk.With(t.Context(), d.Process(nil)))
	if err != nil || counts(got) != want {
		t.Fatalf("%+v, %v; want %+v", got, err, want)
	}
}

var mailboxes = []mirror.Mailbox{mirror.MBox, mirror.Maildir}

// A mailbox has all articles octet for octet. The next run adds the new ones, and those that have
// expired stay.
func TestMailbox(t *testing.T) {
	const n = 500 // TestPythonMailbox has 10,000
	want := oddArticles(n)
	for _, box := range mailboxes {
		d := simdisk.New(simdisk.Options{})
		m, srv := newsInMemory(t, box, want[:n-3])
		runOn(t, d, m, mirror.Summary{New: n - 3})
		if box == mirror.Maildir { // a mail reader marks an article as read
			for name := range d.Files() {
				if base, ok := strings.CutPrefix(name, "/copy/g.test/new/7."); ok {
					if err := d.Process(nil).Rename(name, "/copy/g.test/cur/7."+base+":2,S"); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		for i, text := range want[n-3:] {
			if err := srv.Put(fmt.Sprintf("g.test/%d", n-2+i), []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := srv.Remove("g.test/1"); err != nil {
			t.Fatal(err)
		}
		srv.ResetTranscript()
		runOn(t, d, m, mirror.Summary{New: 3, Unchanged: n - 4, Gone: 1})
		if got := asked(&srv.Server, "ARTICLE"); len(got) != 3 {
			t.Errorf("%s: %q", box, got)
		}
		runOn(t, d, m, mirror.Summary{Unchanged: n - 1})
		sorted := slices.Sorted(slices.Values(want))
		if got := inMailbox(t, d); !slices.Equal(got, sorted) {
			t.Errorf("%s: %d articles, which differ from the %d of the server", box, len(got), n)
		}
	}
}

// A process that ends at any moment leaves no half of an article for the next run, and no second one.
// After a loss of power no article is missing.
func TestInterruptedMailbox(t *testing.T) {
	articles := oddArticles(4)
	want := slices.Sorted(slices.Values(articles))
	for _, box := range mailboxes {
		m, _ := newsInMemory(t, box, articles)
		for i := range 1000 {
			calls, crash := i/2, i%2 > 0
			d := simdisk.New(simdisk.Options{})
			var p *simdisk.Process
			var n atomic.Int64
			dead := false
			p = d.Process(func(c *simdisk.Call) error {
				if n.Add(1) != int64(calls) {
					return nil
				}
				dead = true
				p.Kill()
				if c.Op == "write" {
					return simdisk.Short(c.N/2, simdisk.ErrDead)
				}
				return simdisk.ErrDead
			})
			if _, err := m.Run(disk.With(t.Context(), p)); !dead && calls > 0 {
				if err != nil || calls < 50 {
					t.Fatalf("%d calls, %v", n.Load(), err)
				}
				break
			}
			if crash {
				d.Crash(rand.New(rand.NewPCG(uint64(i), 1)))
			}
			if _, err := m.Run(disk.With(t.Context(), d.Process(nil))); err != nil {
				t.Fatal(err)
			}
			got := inMailbox(t, d)
			missing := slices.ContainsFunc(want, func(text string) bool { return !slices.Contains(got, text) })
			if missing || !crash && len(got) != len(want) {
				t.Errorf("%s, after call %d, crash: %v: %d articles, missing: %v", box, calls, crash, len(got), missing)
			}
		}
	}
}

// What another program has written in an mbox stays.
func TestForeignMailbox(t *testing.T) {
	articles := oddArticles(2)
	d := simdisk.New(simdisk.Options{})
	m, srv := newsInMemory(t, mirror.MBox, articles[:1])
	runOn(t, d, m, mirror.Summary{New: 1})
	box, _ := d.Get("/copy/g.test.mbox")
	const own = "From mail@b.example Wed Mar  4 05:06:07 2020\nits own\n\n"
	d.Replace("/copy/g.test.mbox", append(slices.Clone(box), own...))
	manifest, _ := d.Get("/copy/" + mirror.ManifestFile)
	url := srv.URL + "/g.test/2"
	d.Replace("/copy/"+mirror.ManifestFile, fmt.Appendf(slices.Clone(manifest), "{\"url\":%q,\"file\":\"g.test.mbox\",\"size\":%d,\"mbox\":%d,\"time\":\"2020-01-01T00:00:00Z\"}\n", url, len(articles[1]), len(box)))
	d.Replace("/copy/.fetch1738/"+mirror.PartName(url), []byte(articles[1]))
	if err := srv.Put("g.test/2", []byte(articles[1])); err != nil {
		t.Fatal(err)
	}
	runOn(t, d, m, mirror.Summary{New: 1, Unchanged: 1})
	if got := inMailbox(t, d); len(got) != 3 || !slices.Contains(got, "its own\r\n") {
		t.Errorf("%q", got)
	}
	d.Delete("/copy/g.test.mbox") // all articles are fetched again
	runOn(t, d, m, mirror.Summary{New: 2})
}

// What cannot be kept in a mailbox is refused, and so is a second form in the same directory.
func TestRefusedMailbox(t *testing.T) {
	m, _ := newsInMemory(t, mirror.MBox, oddArticles(1))
	m.Dir = t.TempDir()
	ran(t, m, mirror.Summary{New: 1})
	for _, box := range []mirror.Mailbox{"", mirror.Maildir} {
		m.Mailbox = box
		if _, err := m.Run(t.Context()); !errors.Is(err, os.ErrExist) {
			t.Errorf("%q: %v", box, err)
		}
	}
	m.Mailbox, m.Delete = mirror.MBox, true
	if _, err := m.Run(t.Context()); fetch.KindOf(err) != fetch.ErrUnsupported {
		t.Error(err)
	}
	files := start(t, "file:///tmp/")
	files.Mailbox = mirror.MBox
	if _, err := files.Run(context.Background()); fetch.KindOf(err) != fetch.ErrUnsupported {
		t.Error(err)
	}
}
