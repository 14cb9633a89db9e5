package mirror

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/report"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
)

// A mirrorReport prints the events of a mirror run. Files that no longer exist on the server go to
// standard output; with -v or --dry-run all changed files do, and with -vv the unchanged ones too.
// Failures go to standard error. Events arrive one at a time.
type mirrorReport struct {
	t        *transfer.Result // represents the whole run
	reporter *report.Reporter
	dry      bool
	json     bool // events are lines of JSON
	upload   bool
	out      *stdio.Checked // standard output
	gauge    gauge
	failures failures
	missing  []string       // files that are not on the server, or old there
	menus    int            // without an end mark
	cut      int            // directories whose listing ends without a line end
	outside  int            // items on the gopher server that are not below the URL
	acted    bool           // something else than a failure was reported
	others   map[string]int // number of items on other gopher servers, by HOST:PORT
}

// event prints one event.
func (r *mirrorReport) event(e event) {
	r.count(e)
	r.gauge.count(e)
	if r.json && e.action != moved && (e.action != checked || r.dry) {
		r.sayJSON(e)
	}
	switch e.action {
	case listed, planned, started, moved:
		return
	case unchanged:
		if r.t.Op.Trace.Form != plan.TraceLines || !r.t.Op.Verbose {
			return
		}
	case failed:
		r.fail(e)
		return
	case noted:
		r.t.Warn("%s: %s", e.url, stdio.InOptions(e.err.Error()))
		return
	case missing:
		if r.missing = append(r.missing, e.file); !r.t.Op.Verbose || r.failures.named[e.file] {
			return
		}
	case checked:
		if !r.dry {
			return
		}
	case added, replaced, kept:
		if !r.t.Op.Verbose && !r.dry {
			return
		}
	case renamed:
		if r.upload && !r.t.Op.Verbose {
			return // the copy has said it
		}
	case skipped, unsure:
		if !r.t.Op.Verbose {
			return
		}
	}
	if r.t.Op.Silent || r.json {
		return
	}
	text := fmt.Sprintf("%-8s %s", e.action, e.file)
	if r.dry && e.size >= 0 {
		text += fmt.Sprintf(", %d bytes", e.size)
	}
	if e.action == renamed {
		text += fmt.Sprintf(": %q on the server", e.name)
	}
	if e.err != nil {
		text += ": " + stdio.InOptions(e.err.Error())
	}
	r.say(stdio.Line(text))
}

// sayJSON prints an event as a line of JSON.
func (r *mirrorReport) sayJSON(e event) {
	line := struct {
		Event string `json:"event"`
		File  string `json:"file,omitempty"`
		URL   string `json:"url,omitempty"`
		Size  *int64 `json:"size,omitempty"`
		Files int    `json:"files,omitempty"`
		Bytes int64  `json:"bytes,omitempty"`
		Name  string `json:"name,omitempty"`
		Error string `json:"error,omitempty"`
		Ends  bool   `json:"ends,omitempty"`
	}{Event: string(e.action), File: e.file, URL: e.url, Files: e.files, Bytes: e.octets, Name: e.name, Ends: e.ends}
	if e.size >= 0 {
		line.Size = &e.size
	}
	if e.err != nil {
		line.Error = stdio.InOptions(e.err.Error())
	}
	r.encode(line)
}

func (r *mirrorReport) encode(line any) {
	e := json.NewEncoder(r.out)
	e.SetEscapeHTML(false)
	_ = e.Encode(line) // r.out keeps the error
}

// summary prints the line of totals, and the warnings about the server. A run that was refused has no
// totals.
func (r *mirrorReport) summary(s summary, stopped bool) {
	r.rest()
	if r.t.Op.Silent && !r.json || !r.acted && !r.json {
		return
	}
	if r.menus > 0 {
		r.t.Warn("%s: %d menus have no end mark, so deleted files cannot be detected", r.t.Locator.Redacted(), r.menus)
	}
	if r.cut > 0 {
		r.t.Warn("%s: the listings of %d directories end without a line end, so deleted files cannot be detected there; -v names them", r.t.Locator.Redacted(), r.cut)
	}
	if _, isGopher := r.t.Locator.(*locator.Gopher); isGopher && r.outside > r.gauge.found {
		r.t.Warn("%s: skipped %d items that are not below this menu; use --parent to copy them, too", r.t.Locator.Redacted(), r.outside)
	}
	if at, n := r.otherName(); n > r.gauge.found {
		r.t.Warn("%s: skipped %d items on %s; if that is another name for this server, use --alias %s", r.t.Locator.Redacted(), n, at, at)
	}
	more := ""
	if s.Unsure > 0 {
		more = fmt.Sprintf(", %d unsure", s.Unsure)
	}
	if s.Kept > 0 {
		more += fmt.Sprintf(", %d kept", s.Kept)
	}
	if s.Renamed > 0 {
		more += fmt.Sprintf(", %d renamed", s.Renamed)
	}
	took := time.Since(r.t.Account.Facts().Start).Seconds()
	if r.json {
		r.encode(struct {
			Event     string  `json:"event"`
			New       int     `json:"new"`
			Changed   int     `json:"changed"`
			Unchanged int     `json:"unchanged"`
			Gone      int     `json:"gone"`
			Kept      int     `json:"kept"`
			Skipped   int     `json:"skipped"`
			Unsure    int     `json:"unsure"`
			Failed    int     `json:"failed"`
			Missing   int     `json:"missing"`
			Renamed   int     `json:"renamed"`
			Bytes     int64   `json:"bytes"`
			Seconds   float64 `json:"seconds"`
		}{"summary", s.New, s.Changed, s.Unchanged, s.Gone, s.Kept, s.Skipped, s.Unsure, s.Failed, s.missing, s.Renamed, s.Octets, math.Round(took*1000) / 1000})
		return
	}
	r.say(fmt.Sprintf("%d new, %d changed, %d unchanged, %d gone, %d skipped, %d failed%s; %s in %.1f s",
		s.New, s.Changed, s.Unchanged, s.Gone, s.Skipped, s.Failed, more, amount(s.Octets), took))
	if len(r.missing) > 0 && !stopped {
		r.sayMissing()
	}
}

// amount returns a number of bytes, so that the usual line of totals fits in 80 columns.
func amount(n int64) string {
	if n < 100_000 {
		return fmt.Sprintf("%d bytes", n)
	}
	return progress.Amount(n)
}

// sayMissing names files that the server does not have.
func (r *mirrorReport) sayMissing() {
	n := len(r.missing)
	names := strings.Join(r.missing[:min(n, fewNames)], ", ")
	if n > fewNames {
		names += ", …"
	}
	if r.failures.again {
		names += "; run the same command again"
	}
	r.say(stdio.Line(fmt.Sprintf("%d missing on the server, or old there: %s", n, names)))
}

// fewNames is how many of the files that are missing the last line names.
const fewNames = 5

// complain prints the error of the run, unless an event already reported it.
func (r *mirrorReport) complain() {
	if r.failures.first != r.t.Err {
		r.reporter.Failed(r.t)
	}
}

// say prints a line to standard output.
func (r *mirrorReport) say(text string) {
	fmt.Fprintln(r.out, text) // the run continues: its product is the copy
}

// count updates the counters for an event.
func (r *mirrorReport) count(e event) {
	r.acted = r.acted || e.action != failed
	switch e.action {
	case skipped:
		r.countOther(e)
	case unsure:
		if !r.gauge.planned {
			r.menus++ // documents are fetched after Planned
		}
	}
}

// maxOthers is the maximum number of other servers that are counted.
const maxOthers = 1000

// countOther counts a listing that is cut, or an item that is not below the URL or on another server.
func (r *mirrorReport) countOther(e event) {
	switch {
	case errors.Is(e.err, mirror.ErrCut):
		r.cut++
	case errors.Is(e.err, mirror.ErrOutside):
		r.outside++
	}
	if !errors.Is(e.err, mirror.ErrServer) {
		return
	}
	ref, err := locator.Parser{}.Parse(e.url)
	at, isGopher := ref.Locator.(*locator.Gopher)
	if err != nil || !isGopher {
		return
	}
	server, _ := locator.ServerOf(at)
	name := net.JoinHostPort(server.Host, strconv.Itoa(int(server.Port)))
	if _, known := r.others[name]; !known && len(r.others) == maxOthers {
		return
	}
	if r.others == nil {
		r.others = make(map[string]int)
	}
	r.others[name]++
}

// otherName returns the other server with the most items, and their number. It may be another name
// for the mirrored server.
func (r *mirrorReport) otherName() (name string, n int) {
	for at, count := range r.others {
		if count > n || count == n && at < name {
			name, n = at, count
		}
	}
	return name, n
}
