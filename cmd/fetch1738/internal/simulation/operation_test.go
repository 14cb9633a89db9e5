package simulation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/download"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/remotefs"
	"github.com/fetch1738/fetch1738/transport"
)

// An operation is something that a user does.
type operation struct {
	name    string
	often   int // how many rows this one stands for; 0 means one
	schemes []string
	disk    bool // it writes files
	tree    bool // of several documents, not one
	divided bool // most documents have more than two of leastSegment
	large   bool // some documents have more than two megabytes
	blocks  bool // many documents have several blocks of a ReaderAt
	twice   bool // two at once are an ordinary thing
	sites   int  // the most; 0 means one
	durable bool // what has its final name survives a loss of power
	limit   int  // of connections to a server; 0 means none. For a tree, see Plan.connections
	// perform does it once. It returns nil only if all that was wanted has been done. Wrong bytes
	// are reported by world.breaks, if they are not in files.
	perform func(o *once) error
	// keeps says what is true of the files after each time. It may be nil.
	keeps func(o *once, err error)
	// wants says what the files are when nothing has gone wrong. It may be nil.
	wants func(w *world)
}

// once is an operation that is performed once.
type once struct {
	*process
	op      *operation
	began   time.Time
	had     map[string]string // the files before
	crashed bool              // the power has failed
}

// all are the schemes that have documents.
var all = []string{"ftp", "ftp", "http", "gopher", "gopher", "nntp", "nntp", "wais", "prospero"}

// operations are all operations. To add one, see docs/simulation.md.
var operations = []operation{
	{name: "Get", schemes: all, perform: getOnce},
	{name: "Download", schemes: all, disk: true, durable: true, twice: true, limit: 2, perform: toFile, keeps: final, wants: wantsFile},
	{name: "Download", often: 2, schemes: []string{"ftp", "http"}, disk: true, durable: true, twice: true, limit: 2, perform: toFile, keeps: final, wants: wantsFile},
	{name: "Segments", schemes: []string{"ftp", "http"}, disk: true, divided: true, twice: true, limit: 4, perform: smallSegments, keeps: segmented, wants: wantsFile},
	{name: "Segments", schemes: []string{"ftp", "http"}, disk: true, divided: true, limit: 4, perform: smallSegments, keeps: segmented, wants: wantsFile},
	{name: "Put", schemes: []string{"ftp"}, disk: true, durable: true, twice: true, perform: put, keeps: stored},
	{name: "ReaderAt", schemes: []string{"ftp", "ftp", "http", "wais"}, blocks: true, perform: readAt},
	{name: "Attributes", often: 2, schemes: []string{"gopher"}, perform: attributes},
	{name: "Gets", schemes: all, sites: 2, perform: getSeveral},
	{name: "FS", schemes: []string{"ftp"}, tree: true, perform: walk},
	{name: "Transport", schemes: []string{"ftp", "ftp", "nntp", "wais"}, perform: roundTrip},
	{name: "Mirror", schemes: []string{"ftp", "ftp", "ftp", "gopher", "nntp"}, disk: true, durable: true, tree: true, twice: true, perform: copyTree, keeps: copied, wants: wantsTree},
	{name: "Mirror", schemes: []string{"ftp"}, disk: true, durable: true, tree: true, twice: true, perform: copyTree, keeps: copied, wants: wantsTree},
	{name: "-o", schemes: files, disk: true, twice: true, perform: command("-o", out), keeps: working, wants: wantsFile},
	{name: "--retry", schemes: files, disk: true, perform: command("--retry", "3", "-o", out), keeps: working, wants: wantsFile},
	{name: "-C -", schemes: files, disk: true, twice: true, perform: command("-C", "-", "-o", out), keeps: working},
	{name: "-C - --retry", schemes: []string{"ftp", "http"}, disk: true, perform: command("-C", "-", "--retry", "4", "-o", out), keeps: working},
	{name: "-O --no-clobber", schemes: []string{"ftp", "http"}, disk: true, twice: true, perform: command("-O", "--no-clobber", "--output-dir", home), keeps: unclobbered},
	{name: "-O", schemes: []string{"ftp", "http"}, disk: true, twice: true, perform: command("-O", "-R", "--output-dir", home), keeps: working, wants: wantsFile},
	{name: "--segments", schemes: []string{"ftp", "http"}, disk: true, large: true, twice: true, limit: 4, perform: inSegments, keeps: segmented, wants: wantsFile},
	{name: "mirror", schemes: []string{"ftp", "ftp", "nntp"}, disk: true, durable: true, tree: true, twice: true, perform: mirrorCommand, keeps: copied, wants: wantsTree},
	{name: "-Z", schemes: files, disk: true, sites: 4, limit: 4, perform: severalAtOnce, keeps: several},
	{name: "Upload", often: 2, schemes: []string{"ftp", "ftp", "ftp", "http"}, disk: true, durable: true, tree: true, twice: true, perform: bring, keeps: brought, wants: wantsBrought},
	{name: "mirror to", schemes: []string{"ftp", "ftp", "ftp", "http"}, disk: true, durable: true, tree: true, twice: true, perform: bringCommand, keeps: brought, wants: wantsBrought},
}

// files are the schemes whose documents are stored as they are.
var files = []string{"ftp", "ftp", "http", "gopher", "gopher", "wais", "prospero"}

func operationOf(name string) *operation {
	for i := range operations {
		if operations[i].name == name {
			return &operations[i]
		}
	}
	return nil
}

// The files.
const (
	home     = "/home/lab"
	out      = home + "/a.bin" // also the name of the document
	copyDir  = home + "/copy"
	own      = copyDir + "/own.txt" // the user's, in the copy
	treasure = home + "/treasure"   // links of others lead here
	nothing  = home + "/nothing"    // or here
)

var ownText = []byte("written by the user")

// context returns the context of all that the process does.
func (p *process) context() context.Context {
	return fetch.WithAllow(disk.With(p.ctx, p.disk), p.allow)
}

func (p *process) resolver() *fetch1738.Resolver {
	return &fetch1738.Resolver{Env: fetch.Env{Dial: p.dial, Allow: p.allow, Limits: fetch.Limits{Body: 3 << 20}}}
}

// main is the site and the document that the operations for one are about.
func (w *world) main() (*site, *document) { return w.sites[0], w.sites[0].documents[0] }

func (w *world) url() string {
	s, d := w.main()
	return s.url + s.path(d.name)
}

// says records what a process tells its user.
func (p *process) says(err error) {
	if err != nil {
		fmt.Fprintln(&p.text, err)
	}
}

// exact checks data that a process was given with success.
func (o *once) exact(d *document, data []byte, how string) {
	s, _ := o.w.main()
	if !d.has(data, o.began, time.Now()) && !s.floods(o.w.plan.Events) && !o.unseen(s, d) {
		o.w.breaks("%s: success, but %d bytes that no version of %s has: %s", how, len(data), d.name, d.differs(data))
	}
}

// unseen reports whether a document may have become another one and nothing shows it.
func (o *once) unseen(s *site, d *document) bool {
	has := func(fits func(e Event) bool) bool { return slices.ContainsFunc(o.w.plan.Events, fits) }
	// Another header or reply can hide the size, by which a Fetcher that ends early is seen.
	if has(func(e Event) bool { return e.Kind == "early end" }) && has(func(e Event) bool {
		return strings.HasPrefix(e.Fault, "Header") || e.Kind == "server" && (e.Name == "SIZE" || e.Name == "RETR")
	}) {
		return true
	}
	if s.Scheme != "ftp" {
		return false
	}
	// A server that sends a part and says 226 is seen by the size only.
	if has(func(e Event) bool {
		return (e.Name == "DATA" || e.Name == "RETR") && (strings.HasPrefix(e.Fault, "Truncate") || e.Fault == "Close")
	}) && (s.isBlind() || has(func(e Event) bool { return e.Name == "SIZE" && e.replaces() })) {
		return true
	}
	since := o.began
	if o.op.disk { // an earlier run has left the beginning
		since = time.Time{}
	}
	return d.cameBack(since)
}

func getOnce(o *once) error {
	r := o.resolver()
	defer r.Close()
	return getFrom(o.context(), r, o)
}

func getFrom(ctx context.Context, r *fetch1738.Resolver, o *once) error {
	res, err := r.Get(ctx, o.w.url())
	if err != nil {
		return err
	}
	defer res.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	_, d := o.w.main()
	o.exact(d, data, "Get")
	return nil
}

// attributes asks for the attributes of the document, in which a gopher server says what it sends.
func attributes(o *once) error {
	r := o.resolver()
	defer r.Close()
	req, err := r.Request(o.context(), o.w.url())
	if err != nil {
		return err
	}
	found, err := r.FindAttributes(o.context(), req)
	if s, d := o.w.main(); err == nil && found.Size >= 0 && !s.forges(o.w.plan.Events) &&
		!slices.ContainsFunc(d.all(), func(v version) bool { return int64(len(v.data)) == found.Size }) {
		o.w.breaks("FindAttributes: %d bytes, which no version has", found.Size)
	}
	return err
}

// getSeveral gets the document for several users at once, of which some do not wait for the others.
// They leave the next one the place that they have or wait for.
func getSeveral(o *once) error {
	r := o.resolver()
	defer r.Close()
	r.MaxTransfers, r.MaxTransfersPerHost = 1+o.w.plan.Variant%2, o.w.plan.Variant/2%3
	get := func(wait time.Duration) error {
		ctx, cancel := context.WithTimeout(o.context(), wait)
		defer cancel()
		return getFrom(ctx, r, o)
	}
	var users sync.WaitGroup
	for range 3 {
		var other io.Closer = io.NopCloser(nil)
		if len(o.w.sites) > 1 { // it has a place, but none of the first host
			s := o.w.sites[1]
			res, err := r.Get(o.context(), s.url+s.path(s.documents[0].name))
			if err != nil {
				return err
			}
			other = res
		}
		for i := range 2 + o.w.plan.Variant/8%4 {
			users.Go(func() {
				time.Sleep(time.Duration(i) * 777 * time.Microsecond) // in the same order each time
				o.says(get(time.Duration(1+o.w.plan.Variant*(i*i+3)%60) * time.Millisecond))
			})
		}
		users.Wait()
		_ = other.Close()
	}
	return get(patience)
}

func toFile(o *once) error {
	r := o.resolver()
	defer r.Close()
	req, err := r.Request(o.context(), o.w.url())
	if err != nil {
		return err
	}
	return download.Request(o.context(), careless{r, o.w}, req, out)
}

// A careless Fetcher returns documents that may end early without an error.
type careless struct {
	*fetch1738.Resolver
	w *world
}

func (c careless) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	res, err := c.Resolver.Fetch(ctx, req)
	if err == nil {
		res.Body = carelessBody{res.Body, c.w}
	}
	return res, err
}

type carelessBody struct {
	io.ReadCloser
	w *world
}

func (b carelessBody) Read(p []byte) (int, error) {
	if _, ok := b.w.take(func(e Event) bool { return e.Kind == "early end" }); ok {
		return 0, io.EOF
	}
	return b.ReadCloser.Read(p)
}

// final checks a file that appears when it is complete.
func final(o *once, err error) {
	s, d := o.w.main()
	data, exists := o.w.disk.Get(out)
	had, existed := o.had[out]
	switch {
	case err == nil && exists:
		o.exact(d, data, "the file")
	case err == nil:
		o.w.breaks("success without a file")
	case o.keepsUnknown(s, err):
		o.w.breaks("a part is left that nothing identifies: %v", err)
	case existed && exists && string(data) == had, !existed && !exists:
	case exists && d.has(data, time.Time{}, time.Now()), exists && s.floods(o.w.plan.Events):
	case exists && o.w.plan.Twice && o.unseen(s, d): // the other process has succeeded
	case o.crashed && slices.Contains(o.w.was, string(data)): // without the last rename
	case existed && !exists:
		o.w.breaks("the file of before is gone: %v", err)
	default:
		o.w.breaks("%d wrong bytes under the final name: %v", len(data), err)
	}
}

// keepsUnknown reports whether a failed Download has left a part of a document for which there is
// no sign by which the next one could know it again.
func (o *once) keepsUnknown(s *site, err error) bool {
	part, _ := o.w.disk.Get(out + download.PartSuffix)
	unknown := (s.Scheme == "gopher" || s.Scheme == "nntp") && o.had[out+download.PartSuffix] == "" && string(part) != "of another user"
	return unknown && len(part) > 0 && !o.killed() && !o.crashed && !o.w.plan.Twice && !o.w.failsDisk()
}

func wantsFile(w *world) {
	_, d := w.main()
	if v := d.last(); !v.gone {
		if data, _ := w.disk.Get(out); !bytes.Equal(data, v.data) {
			w.breaks("in the end the file has %d bytes, and not those of the document", len(data))
		}
	}
}

// upload is what Put stores.
func upload(w *world) []byte {
	_, d := w.main()
	return d.all()[0].data
}

func put(o *once) error {
	r := o.resolver()
	defer r.Close()
	_, err := r.Put(o.context(), "file://"+out, bytes.NewReader(upload(o.w)))
	return err
}

// stored checks a file that was uploaded to a file URL.
func stored(o *once, err error) {
	data, exists := o.w.disk.Get(out)
	had, existed := o.had[out]
	switch {
	case bytes.Equal(data, upload(o.w)) && exists:
	case err == nil:
		o.w.breaks("success, but the file has %d bytes of %d", len(data), len(upload(o.w)))
	case o.crashed && slices.Contains(o.w.was, string(data)):
	case o.leftover() != "":
		o.w.breaks("an upload that failed has left %s: %v", o.leftover(), err)
	case exists != existed || string(data) != had:
		o.w.breaks("an upload that failed has left %d bytes in the place of %d: %v", len(data), len(had), err)
	}
}

// failsDisk reports whether calls of the disk fail that a program needs to clear up.
func (w *world) failsDisk() bool {
	return slices.ContainsFunc(w.plan.Events, func(e Event) bool { return e.Kind == "error" || e.Kind == "damage" })
}

// leftover returns the name of a file that an upload has left, although it was not killed and the
// disk did not refuse to remove it.
func (o *once) leftover() string {
	troubled := o.killed() || o.crashed || o.w.everCrashed || o.w.plan.Twice || o.w.failsDisk() || slices.ContainsFunc(o.w.plan.Events, func(e Event) bool {
		return e.Kind == "kill" || e.Kind == "link" || e.Kind == "other"
	})
	for name := range o.w.disk.Files() {
		if !troubled && temporary.MatchString(name) {
			return name
		}
	}
	return ""
}

func readAt(o *once) error {
	r := o.resolver()
	defer r.Close()
	doc, err := download.ReaderAt(o.context(), r, o.w.url())
	if err != nil {
		return err
	}
	defer doc.Close()
	dice := rand.New(rand.NewPCG(o.w.plan.Seed, 4))
	s, d := o.w.main()
	type piece struct {
		at   int64
		data []byte
	}
	var pieces []piece
	for range 1 + dice.IntN(8) {
		b := make([]byte, 1+dice.IntN([]int{5000, 300_000}[dice.IntN(2)]))
		at := dice.Int64N(max(1, doc.Size()))
		n, err := doc.ReadAt(b, at)
		if err != nil && err != io.EOF {
			return err
		}
		pieces = append(pieces, piece{at, b[:n]})
		possible := d.during(o.began, time.Now())
		for _, p := range pieces {
			possible = versionsWith(possible, p.data, p.at)
		}
		switch {
		case len(possible) > 0:
		case !s.spouts(o.w.plan.Events):
			// The part that a server sends is compared only with parts that are there already. That it
			// obeys an offset is tried out only once.
			o.w.breaks("ReaderAt: success, but %d bytes at %d that no version has", n, at)
		}
	}
	return nil
}

// versionsWith returns those versions that have data at a place.
func versionsWith(all []version, data []byte, at int64) (list []version) {
	for _, v := range all {
		if !v.gone && int64(len(v.data)) >= at && bytes.HasPrefix(v.data[at:], data) {
			list = append(list, v)
		}
	}
	return list
}

func walk(o *once) error {
	r := o.resolver()
	defer r.Close()
	fsys, err := remotefs.New(o.context(), r, o.w.sites[0].url+"/")
	if err != nil {
		return err
	}
	defer fsys.Close()
	return fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		for _, d := range o.w.sites[0].documents {
			if d.name == name {
				o.exact(d, data, "FS")
			}
		}
		return nil
	})
}

func roundTrip(o *once) error {
	r := o.resolver()
	defer r.Close()
	client := http.Client{Transport: &transport.Transport{Resolver: r}}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(o.context(), http.MethodGet, o.w.url(), nil)
	if err != nil {
		return err
	}
	from := int64(o.w.plan.Variant * 7 % 5000)
	if ranged := o.w.plan.Variant%3 > 0; ranged {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, from+2000))
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	s, d := o.w.main()
	switch {
	case err != nil:
		return err
	case res.StatusCode == http.StatusOK && s.spouts(o.w.plan.Events): // Content-Length ends it
	case res.StatusCode == http.StatusOK:
		o.exact(d, data, "Transport")
	case res.StatusCode == http.StatusPartialContent:
		if len(versionsWith(d.during(o.began, time.Now()), data, from)) == 0 && !s.spouts(o.w.plan.Events) {
			o.w.breaks("Transport: 206, but %d bytes at %d that no version has", len(data), from)
		}
	case res.StatusCode != http.StatusRequestedRangeNotSatisfiable:
		return errors.New(res.Status)
	}
	return nil
}
