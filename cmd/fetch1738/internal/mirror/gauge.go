package mirror

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// A gauge shows how far a run is: the files under way, and a line for all. Events arrive one at a time.
type gauge struct {
	meter  func(name string, number int, total int64, moved func() int64) *progress.Meter
	moved  func() int64 // bytes of all bodies
	upload bool

	active map[string]*underWay // by their local files
	number int                  // of the last file under way

	mu       sync.Mutex
	folders  int // listed
	found    int // files in these
	compared int
	planned  bool
	files    int // to fetch, or to send
	octets   int64
	done     int   // of the files
	past     int64 // bytes of these
	failed   int
	lost     int64 // bytes of files that have failed
	rate     progress.Rate
	names    []*underWay // active files that bytes have been reported of
}

// A file under way.
type underWay struct {
	file  string
	size  int64 // -1 if unknown
	got   atomic.Int64
	meter *progress.Meter
	moves bool // bytes have been reported
}

// count counts an event.
func (g *gauge) count(e event) {
	switch e.action {
	case started:
		g.end(e.file, false)
		g.start(e)
	case moved:
		g.move(e)
	case added, replaced, unchanged, failed, checked:
		g.end(e.file, e.action == failed)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch e.action {
	case listed:
		g.folders++
		g.found += e.files
	case checked:
		g.compared++
	case planned:
		g.planned, g.files, g.octets, g.done, g.past = true, e.files, e.octets, 0, 0
		g.rate = progress.RateFrom(time.Now(), g.moved())
	case failed:
		g.failed++
	case added, replaced, unchanged:
		g.finish(e)
	}
}

// finish counts a file that is done.
func (g *gauge) finish(e event) {
	if g.planned && g.done < g.files {
		g.done++
		g.past += max(0, e.size)
	}
}

// start begins a file. One that is sent is shown only when it moves: small ones wait for others after
// they have been sent, and get their names together.
func (g *gauge) start(e event) {
	f := &underWay{file: e.file, size: e.size}
	if g.active == nil {
		g.active = make(map[string]*underWay)
	}
	g.active[e.file] = f
	g.number++
	if !g.upload {
		f.meter = g.meter(short(e.file), g.number, max(0, e.size), f.got.Load)
	}
}

// move notes how much of a file has arrived.
func (g *gauge) move(e event) {
	f := g.active[e.file]
	if f == nil {
		return
	}
	f.got.Store(e.octets)
	complete := g.upload && e.size >= 0 && e.octets >= e.size
	switch {
	case complete:
		f.meter.Stop()
		f.meter = nil
	case !f.moves:
		if f.meter == nil {
			f.meter = g.meter(short(e.file), g.number, max(0, e.size), f.got.Load)
		}
		f.meter.Resume()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !f.moves {
		f.moves = true
		g.names = append(g.names, f)
	}
}

// end ends a file that may be under way.
func (g *gauge) end(file string, failed bool) {
	f := g.active[file]
	if f == nil {
		return
	}
	f.meter.Stop()
	delete(g.active, file)
	g.mu.Lock()
	defer g.mu.Unlock()
	if failed {
		g.lost += max(0, f.size)
	}
	g.names = slices.DeleteFunc(g.names, func(other *underWay) bool { return f == other })
}

// short returns the name of a file in a line: its path, or the last part of a long one.
func short(file string) string {
	if len(file) > 20 {
		return path.Base(file)
	}
	return file
}

// line returns the line for all files.
func (g *gauge) line() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.planned {
		text := fmt.Sprintf("%d folders listed, %d files", g.folders, g.found)
		if g.compared > 0 {
			text += fmt.Sprintf(", %d compared", g.compared)
		}
		return text + g.faults()
	}
	g.rate.Sample(time.Now(), g.moved())
	text := fmt.Sprintf("%s, %s/s", g.soFar(), progress.Amount(g.rate.PerSecond()))
	if got := g.got(); g.octets > 0 && got <= g.octets {
		text += ", " + g.rate.Remaining(g.octets-got-g.lost) + " left"
	}
	return text + g.faults()
}

// reached says how far the run is at its end. It is "" if nothing was to be fetched.
func (g *gauge) reached() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.planned {
		return ""
	}
	return g.soFar()
}

// soFar returns the numbers of files and bytes.
func (g *gauge) soFar() string {
	got := g.got()
	if g.octets > 0 && got <= g.octets {
		return fmt.Sprintf("%d of %d files, %s of %s", g.done, g.files, progress.Amount(got), progress.Amount(g.octets))
	}
	return fmt.Sprintf("%d of %d files, %s", g.done, g.files, progress.Amount(g.moved()))
}

// got returns how many bytes of the files have arrived.
func (g *gauge) got() int64 {
	n := g.past
	for _, f := range g.names {
		n += f.got.Load()
	}
	return n
}

func (g *gauge) faults() string {
	if g.failed == 0 {
		return ""
	}
	return fmt.Sprintf(", %d failed", g.failed)
}

// log returns the line for all files and the files under way, for where there is no terminal.
func (g *gauge) log() string {
	text := g.line()
	g.mu.Lock()
	defer g.mu.Unlock()
	var names []string
	for _, f := range g.names {
		name := f.file
		if got := f.got.Load(); f.size > 0 && got < f.size {
			name += fmt.Sprintf(" (%d%%)", 100*got/f.size)
		}
		names = append(names, name)
	}
	if len(names) > 0 {
		text += ": " + strings.Join(names[:min(len(names), fewNames)], ", ")
	}
	return stdio.Line(text)
}
