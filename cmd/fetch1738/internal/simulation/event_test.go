package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fetch1738/fetch1738/internal/simdisk"
)

// A kind is a kind of event.
type kind struct {
	name string
	disk bool // only for operations that write files
	// onNet means that it takes time, so that it happens at a step of the network.
	onNet bool
	// draw completes an event. It reports false if the event is not possible in this plan. It may
	// be nil. N has been drawn already.
	draw func(r *rand.Rand, p *Plan, e *Event) bool
	// happen is called at the step of the event, which p performs.
	happen func(w *world, p *process, e Event)
}

// kinds are all kinds of events. To add one, see docs/simulation.md.
var kinds = []kind{
	// The faults of the servers, which are many: these rows are equal. They are armed before.
	{name: "server", draw: drawFault, happen: never},
	{name: "server", draw: drawFault, happen: never},
	{name: "server", draw: drawFault, happen: never},
	{name: "server", draw: drawFault, happen: never},
	{name: "server", draw: drawFault, happen: never},
	{name: "server", draw: drawFault, happen: never},

	// The documents change. Their names stay the same.
	{name: "change", draw: changes, happen: changing(func(d *document, e Event) version {
		return version{data: d.make(len(d.versions), d.otherSize(e.N%9000)), mod: time.Now()}
	})},
	{name: "grow", draw: changes, happen: changing(func(d *document, e Event) version {
		v := d.last()
		if v.gone {
			return v
		}
		return version{data: append(slices.Clip(v.data), d.make(len(d.versions), len(v.data)+1+e.N%5000)[len(v.data):]...), mod: time.Now()}
	})},
	{name: "vanish", draw: changes, happen: changing(func(*document, Event) version { return version{gone: true} })},
	{name: "return", draw: changes, happen: changing(func(d *document, e Event) version {
		return d.versions[0]
	})},

	// The servers and the network.
	{name: "restart", onNet: true, happen: func(w *world, _ *process, e Event) { w.acts(e); w.sites[e.Site].restart() }},
	{name: "jump", onNet: true, happen: func(w *world, _ *process, e Event) {
		w.acts(e)
		time.Sleep(time.Duration(e.N%100) * time.Minute)
	}},
	{name: "refuse", happen: later},
	{name: "cut", happen: later},
	{name: "half", happen: later},
	{name: "lost", happen: later},
	{name: "stall", happen: later},

	// The disk.
	{name: "error", disk: true, draw: drawError, happen: later},
	{name: "short", disk: true, happen: later},
	{name: "link", disk: true, happen: later},
	{name: "other", disk: true, happen: later},
	{name: "gone", disk: true, happen: later},

	// The processes.
	{name: "kill", disk: true, happen: func(w *world, p *process, e Event) { w.acts(e); p.kill() }},
	{name: "kill", disk: true, happen: func(w *world, p *process, e Event) { w.acts(e); p.kill() }},
	{name: "crash", disk: true, happen: func(w *world, _ *process, e Event) { w.acts(e); w.crash() }},
	{name: "interrupt", disk: true, happen: func(w *world, p *process, e Event) { w.acts(e); p.cancel() }},
}

func kindOf(name string) kind {
	return kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })]
}

func never(*world, *process, Event) {}

func later(w *world, _ *process, e Event) { w.wait(e) }

// changes draws the document. Those of the other servers stay the same: the names of WAIS and news
// depend on the content.
func changes(r *rand.Rand, p *Plan, e *Event) bool {
	scheme := p.Sites[e.Site].Scheme
	e.Name = p.Sites[e.Site].Files[r.IntN(len(p.Sites[e.Site].Files))].Name
	return scheme == "ftp" || scheme == "http" || scheme == "gopher"
}

// changing returns the function of an event that changes a document.
func changing(next func(d *document, e Event) version) func(w *world, p *process, e Event) {
	return func(w *world, _ *process, e Event) {
		w.acts(e)
		w.sites[e.Site].change(e.Name, func(d *document) version { return next(d, e) })
	}
}

// otherSize returns n, or a number near it, that is the size of no other version.
func (d *document) otherSize(n int) int {
	for slices.ContainsFunc(d.versions, func(v version) bool { return !v.gone && len(v.data) == n }) {
		n++
	}
	return n
}

// errnos are what disks answer.
var errnos = map[string]syscall.Errno{
	"EIO": syscall.EIO, "ENOSPC": syscall.ENOSPC, "EACCES": syscall.EACCES, "EROFS": syscall.EROFS, "EMFILE": syscall.EMFILE,
}

// drawError draws the call and the error.
func drawError(r *rand.Rand, _ *Plan, e *Event) bool {
	calls := []string{
		"open", "read", "write", "sync", "rename", "link", "remove", "mkdir", "stat", "lstat",
		"chtimes", "chmod", "truncate", "list", "flush", "close", "", // any
	}
	e.Name, e.Fault = calls[r.IntN(len(calls))], []string{"EIO", "ENOSPC", "EACCES", "EROFS", "EMFILE"}[r.IntN(5)]
	return true
}

// before is called before each call of the disk.
func (p *process) before(c *simdisk.Call) error {
	p.w.step(p, c.Op, c.Name, "", false)
	w := p.w
	if e, ok := w.take(func(e Event) bool { return e.Kind == "error" && (e.Name == c.Op || e.Name == "" && c.Op != "lock") }); ok {
		return errnos[e.Fault]
	}
	if c.Op == "write" {
		if e, ok := w.take(func(e Event) bool { return e.Kind == "short" }); ok && c.N > 0 {
			return simdisk.Short(e.N%c.N, syscall.ENOSPC)
		}
	}
	// What others do to the files that are not complete.
	if (c.Op == "open" || c.Op == "write") && isWork(c.Name) {
		if e, ok := w.take(func(e Event) bool { return e.Kind == "link" || e.Kind == "other" || e.Kind == "gone" }); ok {
			switch w.disk.Delete(c.Name); e.Kind {
			case "link":
				w.disk.Symlink(treasure, c.Name)
				w.links = append(w.links, c.Name)
			case "other":
				w.disk.Put(c.Name, []byte("of another user"), time.Now())
			}
		}
	}
	return nil
}

// isWork reports whether a file is one of those that downloads are in until they are complete.
func isWork(name string) bool {
	return strings.HasSuffix(name, ".part") || strings.HasSuffix(name, ".segments")
}

// crash takes the power away.
func (w *world) crash() {
	w.mu.Lock()
	processes := slices.Clone(w.processes)
	r := rand.New(rand.NewPCG(w.dice.Uint64(), 3))
	w.crashed = true
	w.mu.Unlock()
	for _, p := range processes {
		p.kill()
	}
	w.disk.Crash(r)
}

// words are replies and parts of replies that servers send in place of the right ones.
var words = []string{
	"421 bye", "450 busy", "425 no connection", "426 broken", "451 local error", "500 what", "502 no", "503 order", "530 not logged in", "550 no such file",
	"552 full", "220 hello", "226 ok", "150 here it comes", "213 0", "213 17", "213 4294967296", "213 19941201100000", "350 send RETR", "250 ok", "230 in", "331 password",
	"227 Entering Passive Mode (127,0,0,1,8,200)", "229 Entering Extended Passive Mode (|||2248|)", "211 end", "200 ok", "", "x", "226-more\n226 end",
	"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 206 Partial\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 416 No\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "3'it is gone'\terror\terror.host\t1",
}

// drawFault draws a fault of a server, and where it acts.
func drawFault(r *rand.Rand, p *Plan, e *Event) bool {
	scheme := p.Sites[e.Site].Scheme
	faults := tables()[scheme]
	stages := faults[r.IntN(len(faults))]
	c := stages[r.IntN(len(stages))]
	e.At, e.N, e.Name, e.Fault = 0, []int{1, 1, 1, 2, 3, 5, 0}[r.IntN(7)], c.stage, c.fault
	for i, param := range strings.Fields(c.params) {
		sep := ","
		if i == 0 {
			sep = ":"
		}
		e.Fault += sep + drawArgument(r, scheme, c.fault, param)
	}
	if c.fault == "Truncate" && slices.Contains([]string{"RETR", "LIST", "MLSD"}, c.stage) && r.IntN(2) == 0 {
		e.Also = "Reply:226 complete" // the server lies
	}
	return true
}

// numbers are the arguments of faults whose numbers are no lengths.
var numbers = map[string][]int{
	"Loss": {5, 20, 50}, "Status": {404, 403, 416, 500, 503, 429, 206}, "Diagnostic": {1, 2, 13}, "Refuse": {1, 2, 3},
}

func drawArgument(r *rand.Rand, scheme, fault, param string) string {
	switch param {
	case "n":
		if all := numbers[fault]; all != nil {
			return fmt.Sprint(all[r.IntN(len(all))])
		}
		return fmt.Sprint([]int{1, 1 + r.IntN(10), 1 + r.IntN(100), 1 + r.IntN(9000), 50_000 + r.IntN(100_000)}[r.IntN(5)])
	case "d":
		return (time.Duration(1+r.IntN(200_000)) * time.Millisecond).String()
	case "field":
		return []string{"ETag", "Last-Modified", "Content-Range", "Accept-Ranges", "Content-Type"}[r.IntN(5)]
	case "seed":
		return fmt.Sprint(r.IntN(1000))
	}
	for {
		if word := words[r.IntN(len(words))]; strings.HasPrefix(word, "HTTP") == (scheme == "http") {
			return word
		}
	}
}
