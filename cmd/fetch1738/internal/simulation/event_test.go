package simulation

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/fetch1738/fetch1738/testserver/simdisk"
)

// A kind is a kind of event.
type kind struct {
	name  string
	often int  // how many rows this one stands for; 0 means one
	disk  bool // only for operations that write files
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
	{name: "server", often: 8, draw: drawFault, happen: arm}, // its faults are many

	// The documents change. Their names stay the same.
	{name: "change", draw: changes, happen: changing(func(d *document, e Event) version {
		return version{data: d.make(len(d.all()), d.otherSize(e.N%9000)), mod: time.Now()}
	})},
	{name: "grow", draw: changes, happen: changing(func(d *document, e Event) version {
		v := d.last()
		return version{data: append(slices.Clip(v.data), d.make(len(d.all()), len(v.data)+1+e.N%5000)[len(v.data):]...), mod: time.Now()}
	})},
	{name: "patch", draw: identified, happen: changing(func(d *document, e Event) version {
		v := d.last()
		return d.patched(len(v.data), d.otherTime(v.mod))
	})},
	{name: "extend", draw: identified, happen: changing(func(d *document, e Event) version {
		v := d.last()
		return d.patched(d.otherSize(len(v.data)+1+e.N%5000), v.mod)
	})},
	{name: "vanish", draw: changes, happen: changing(func(*document, Event) version { return version{gone: true} })},
	{name: "exodus", draw: ofTree, happen: exodus},
	{name: "return", draw: changes, happen: func(w *world, _ *process, e Event) {
		w.acts(e)
		w.sites[e.Site].change(e.Name, func(d *document) version { return d.all()[0] })
	}},

	// The servers and the network.
	{name: "restart", onNet: true, happen: func(w *world, _ *process, e Event) { w.acts(e); w.sites[e.Site].restart() }},
	{name: "jump", onNet: true, happen: func(w *world, _ *process, e Event) {
		w.acts(e)
		w.jumps.Add(1)
		defer w.jumps.Add(-1)
		time.Sleep(time.Duration(e.N%100) * time.Minute)
	}},
	{name: "refuse", happen: later},
	{name: "cut", happen: later},
	{name: "half", happen: later},
	{name: "lost", happen: later},
	{name: "stall", happen: later},
	{name: "early end", draw: ofFetcher, happen: later},

	// The disk.
	{name: "error", disk: true, draw: drawError, happen: later},
	{name: "short", disk: true, happen: later},
	{name: "link", disk: true, happen: later},
	{name: "other", disk: true, happen: later},
	{name: "gone", disk: true, happen: later},
	{name: "damage", disk: true, happen: later},
	{name: "edit", often: 2, draw: ofTree, happen: edit},

	// The processes.
	{name: "kill", often: 2, disk: true, happen: func(w *world, p *process, e Event) { w.acts(e); p.kill() }},
	{name: "crash", disk: true, happen: func(w *world, _ *process, e Event) { w.acts(e); w.crash() }},
	{name: "crash after", disk: true, draw: drawCall, happen: later},
	{name: "interrupt", happen: func(w *world, p *process, e Event) { w.acts(e); p.cancel() }},
}

func kindOf(name string) kind {
	return kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })]
}

func arm(w *world, _ *process, e Event) { w.arm(e) }

func later(w *world, _ *process, e Event) { w.wait(e) }

// changes draws the document. Those of the other servers stay the same: the names of WAIS and news
// depend on the content.
func changes(r *rand.Rand, p *Plan, e *Event) bool {
	scheme := p.Sites[e.Site].Scheme
	e.Name = p.Sites[e.Site].Files[r.IntN(len(p.Sites[e.Site].Files))].Name
	return scheme == "ftp" || scheme == "http" || scheme == "gopher"
}

// identified is changes for versions that only the server's word tells from the last one: the size,
// the time, or the validator. A client that continues with the file of an earlier process does not
// know the word that was given then.
func identified(r *rand.Rand, p *Plan, e *Event) bool {
	return changes(r, p, e) && p.Sites[e.Site].Scheme != "gopher" && !p.Sites[e.Site].isBlind() && !strings.HasPrefix(p.Operation, "-C")
}

// hides reports whether nobody could see the event e because of the event o: the server does not
// give its word about the version, or gives it for another moment. A mirror does not see a document
// that is back with size and time when it looks at the list again; nor does a download by FTP that
// is continued.
func (p *Plan) hides(o, e Event) bool {
	if e.Kind == "early end" && o.Kind == "return" && p.Sites[e.Site].Scheme == "ftp" {
		return true // SIZE may not have found a document that RETR finds
	}
	if e.Kind != "patch" && e.Kind != "extend" {
		return false
	}
	fault, _, _ := strings.Cut(o.Fault, ":")
	return slices.Contains([]string{"Header", "Reply", "ExtraReply", "Octets", "Status"}, fault) || o.Also != "" || o.Kind == "return" && (p.tree || p.Sites[e.Site].Scheme == "ftp")
}

// replaces reports whether a server sends another reply than the right one.
func (e Event) replaces() bool {
	return strings.HasPrefix(e.Fault, "Reply:") || strings.HasPrefix(e.Fault, "Octets:")
}

// ofTree is for copies of trees.
func ofTree(r *rand.Rand, p *Plan, e *Event) bool {
	return changes(r, p, e) && (strings.EqualFold(p.Operation, "mirror") || p.uploads())
}

// exodus takes away all documents, or all but every fifth; or only their lines in the listings: the
// next change brings them back.
func exodus(w *world, _ *process, e Event) {
	w.acts(e)
	s := w.sites[e.Site]
	var left []*document
	for i, d := range s.documents {
		switch {
		case e.N%5 > 0 && i%5 == e.N%5:
			left = append(left, d)
		case !hushes(e) || w.plan.uploads():
			s.change(d.name, func(*document) version { return version{gone: true} })
		}
	}
	if hushes(e) && !w.plan.uploads() {
		s.files.show(s.documents, left)
	}
}

// hushes reports whether a server no longer lists what it has.
func hushes(e Event) bool { return e.Kind == "exodus" && e.N/5%2 == 0 }

// edit changes every other file of the copy, as its user would.
func edit(w *world, _ *process, e Event) {
	if w.plan.uploads() {
		meddle(w, e)
		return
	}
	for i, d := range w.sites[0].documents {
		name := copyOf(w.sites[0], d)
		if _, exists := w.disk.Get(name); exists && i%2 == e.N%2 && name != w.foreign() {
			w.acts(e)
			w.disk.Put(name, edited, time.Now())
		}
	}
}

// isOfOthers reports whether an event is something that others do to the files that are not
// complete.
func isOfOthers(e Event) bool { return e.Kind == "link" || e.Kind == "other" || e.Kind == "gone" }

// ofFetcher is for operations that use any Fetcher, of documents whose size is known.
func ofFetcher(_ *rand.Rand, p *Plan, e *Event) bool {
	scheme := p.Sites[e.Site].Scheme
	return slices.Contains([]string{"Download", "Segments"}, p.Operation) && (scheme == "ftp" || scheme == "http") && !p.Sites[e.Site].isBlind()
}

// changing returns the function of an event that changes a document.
func changing(next func(d *document, e Event) version) func(w *world, p *process, e Event) {
	return func(w *world, _ *process, e Event) {
		w.acts(e)
		w.sites[e.Site].change(e.Name, func(d *document) version {
			if d.last().gone && e.Kind != "change" {
				return d.last()
			}
			return next(d, e)
		})
	}
}

// otherSize returns n, or a number near it, that is the size of no other version.
func (d *document) otherSize(n int) int {
	for slices.ContainsFunc(d.all(), func(v version) bool { return !v.gone && len(v.data) == n }) {
		n++
	}
	return n
}

// otherTime returns a time two days after mod, or some days later, that is the time of no other
// version: two with the same size and time would have the same validator.
func (d *document) otherTime(mod time.Time) time.Time {
	mod = mod.AddDate(0, 0, 2)
	for slices.ContainsFunc(d.all(), func(v version) bool { return v.mod.Equal(mod) }) {
		mod = mod.AddDate(0, 0, 2)
	}
	return mod
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

// drawCall draws one of the calls after which it matters whether the power fails.
func drawCall(r *rand.Rand, _ *Plan, e *Event) bool {
	e.Name = []string{"write", "sync", "rename", "link", "truncate", "remove", "open"}[r.IntN(7)]
	return true
}

// before is called before each call of the disk.
func (p *process) before(c *simdisk.Call) error {
	p.w.step(p, c.Op, c.Name, "", false)
	w := p.w
	if _, ok := w.take(func(e Event) bool { return e.Kind == "crash after" && e.Name == p.called(c.Op) }); ok {
		w.crash()
	}
	if c.Op == "open" && isWork(c.Name) {
		w.damage(c.Name)
	}
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
		if e, ok := w.take(isOfOthers); ok {
			switch w.disk.Delete(c.Name); e.Kind {
			case "link":
				w.disk.Symlink([]string{treasure, nothing}[e.N%2], c.Name)
				w.mu.Lock()
				w.links = append(w.links, c.Name)
				w.mu.Unlock()
			case "other":
				w.disk.Put(c.Name, []byte("of another user"), time.Now())
			}
		}
	}
	return nil
}

// damage changes a file that is not complete, if an event wants that: a digit of what is missing in
// the record at its end, the end of the record, or a byte behind the last range that is missing.
func (w *world) damage(name string) {
	data, _ := w.disk.Get(name)
	at := bytes.LastIndex(data, []byte(`{"Source"`))
	missing := bytes.LastIndex(data, []byte(`"Missing":[`))
	end := bytes.LastIndexByte(data, '}') // before the record, if another process has cut that
	if at <= 0 || missing < at || end < missing {
		return
	}
	e, ok := w.take(func(e Event) bool { return e.Kind == "damage" })
	if !ok {
		return
	}
	data = bytes.Clone(data)
	numbers := regexp.MustCompile("[0-9]+").FindAllIndex(data[missing:end], -1)
	switch {
	case len(numbers) < 2 || e.N%3 == 1:
		data = data[:len(data)-1-e.N%40]
	case e.N%3 == 0:
		number := numbers[e.N/3%len(numbers)]
		data[missing+number[0]+e.N/30%(number[1]-number[0])] ^= 1
	default:
		last := numbers[len(numbers)-1]
		end, _ := strconv.Atoi(string(data[missing+last[0] : missing+last[1]]))
		end = min(end, at-1)
		data = slices.Delete(data, end, end+1)
	}
	w.disk.Put(name, data, time.Now())
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
	"400 closing", "423 no such number", "430 no such article", "480 login", "530 Sorry, the maximum number of clients (2) is connected.",
	"HTTP/1.1 503 Busy\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 429 Slowly\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
	"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 206 Partial\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 416 No\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "3'it is gone'\terror\terror.host\t1",
}

// drawFault draws a fault of a server, and where it acts. It returns false if the fault makes the
// server state that it has entered a directory, although it has not.
func drawFault(r *rand.Rand, p *Plan, e *Event) bool {
	scheme := p.Sites[e.Site].Scheme
	var c choice
	for faults := tables()[scheme]; c.stage == "" || !p.reaches(p.Sites[e.Site], c.stage); {
		choices := faults[r.IntN(len(faults))]
		c = choices[r.IntN(len(choices))]
	}
	e.N, e.Name, e.Fault = []int{1, 1, 1, 2, 3, 5, 0}[r.IntN(7)], c.stage, c.fault
	if r.IntN(3) > 0 {
		e.At = 0
	}
	for i, param := range strings.Fields(c.params) {
		sep := ","
		if i == 0 {
			sep = ":"
		}
		e.Fault += sep + drawArgument(r, scheme, c.fault, param)
	}
	if c.fault == "Truncate" && slices.Contains([]string{"RETR", "LIST", "MLSD"}, c.stage) && r.IntN(2) == 0 {
		e.Also = []string{"Reply:226 complete", "Reply:226 Transfer done (but failed to open directory)."}[r.IntN(2)] // the server lies
	}
	return e.Name != "CWD" || !strings.HasPrefix(e.Fault, "Reply:2") && !strings.HasPrefix(e.Fault, "Octets") // which no client sees without PWD
}

// numbers are the arguments of faults whose numbers are no lengths.
var numbers = map[string][]int{
	"Gather": {1, 2, 3}, "Drip": {1, 100, 1000, 5000}, "Loss": {5, 20, 50}, "Status": {404, 403, 416, 500, 503, 429, 206}, "Diagnostic": {1, 2, 13}, "Refuse": {1, 2, 3},
}

func drawArgument(r *rand.Rand, scheme, fault, param string) string {
	switch param {
	case "n":
		if all := numbers[fault]; all != nil {
			return fmt.Sprint(all[r.IntN(len(all))])
		}
		return fmt.Sprint([]int{1, 1 + r.IntN(10), 1 + r.IntN(100), 1 + r.IntN(9000), 50_000 + r.IntN(100_000)}[r.IntN(5)])
	case "d":
		if fault == "Drip" { // many of them
			return (time.Duration(1+r.IntN(5_000)) * time.Millisecond).String()
		}
		return (time.Duration(1+r.IntN(200_000)) * time.Millisecond).String()
	case "field":
		return []string{"ETag", "Last-Modified", "Content-Range", "Accept-Ranges", "Content-Type"}[r.IntN(5)]
	case "seed":
		return fmt.Sprint(r.IntN(1000))
	}
	for {
		word := words[r.IntN(len(words))]
		switch {
		case strings.HasPrefix(word, "HTTP") != (scheme == "http"):
		case fault == "Octets" && scheme != "http" && r.IntN(4) > 0: // a line that ends
			return strings.ReplaceAll(word, "\n", "\r\n") + "\r\n"
		default:
			return word
		}
	}
}
