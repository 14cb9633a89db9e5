package simulation

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/get"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/mirror"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/file/resume"
	"github.com/fetch1738/fetch1738/internal/file/segments"
)

// always are the options of each command line: no configuration files, no meter, and status codes
// and endless documents are failures.
var always = []string{"-q", "--no-progress-meter", "-f", "--max-filesize", "3M"}

// command returns the operation of the program without a verb, for the URL of the main document.
func command(args ...string) func(o *once) error {
	return func(o *once) error { return o.fetch1738(append(args, o.w.url())...) }
}

func (o *once) fetch1738(args ...string) error {
	return o.exits(get.Run(o.context(), slices.Concat(always, args), o.streams(), get.Verbs{}))
}

func (p *process) streams() stdio.Streams {
	return stdio.Streams{In: strings.NewReader(""), Out: &p.text, Err: &p.text, Dial: p.dial}
}

// exits returns the error of an exit code other than 0, with what the program said last.
func (p *process) exits(code int) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("exit code %d, %s", code, strings.TrimSpace(p.text.String()))
}

// working checks a file that the command writes to while it receives: like curl, it leaves what
// came.
func working(o *once, err error) {
	s, d := o.w.main()
	data, exists := o.w.disk.Get(out)
	had, existed := o.had[out]
	switch {
	case o.w.plan.Twice && (d.begins(data) || s.spouts(o.w.plan.Events)): // the other process may have begun again
	case o.w.everCrashed && strings.HasPrefix(o.op.name, "-C"): // what is there already may be anything
	case err == nil && exists:
		o.exact(d, data, "the file")
	case err == nil:
		o.w.breaks("success without a file")
	case o.crashed, s.spouts(o.w.plan.Events): // the program promises nothing
	case !exists && existed && len(had) > 0:
		o.w.breaks("the file of before is gone: %v", err)
	case o.w.plan.Twice && o.unseen(s, d): // the other process has succeeded
	case exists && string(data) != had && !d.begins(data):
		o.w.breaks("%d wrong bytes in the file: %s; %v", len(data), d.differs(data), err)
	}
}

// unclobbered checks that a file that was there before stays as it was, and files with other names.
func unclobbered(o *once, err error) {
	data, exists := o.w.disk.Get(out)
	if had, existed := o.had[out]; existed && !o.w.plan.Twice && !(exists && string(data) == had) && !o.crashed {
		o.w.breaks("the file of before has %d bytes, although it should be kept", len(data))
	}
	if s, d := o.w.main(); err == nil && !o.w.plan.Twice && !s.floods(o.w.plan.Events) && !o.unseen(s, d) && !o.hasNew(d) {
		o.w.breaks("success, but no file has a version of %s", d.name)
	}
}

// hasNew reports whether there is a new file that has a version of a document.
func (o *once) hasNew(d *document) bool {
	for name, data := range o.w.disk.Files() {
		if had, existed := o.had[name]; !(existed && had == string(data)) && d.has(data, o.began, time.Now()) {
			return true
		}
	}
	return false
}

func inSegments(o *once) error {
	if o.w.plan.Variant/2%2 == 0 {
		return o.fetch1738("--segments", "4", "-o", out, o.w.url())
	}
	return o.fetch1738("--segments", "3", "--retry", "3", "-o", out, o.w.url())
}

// leastSegment is more than what is compared before a segment.
const leastSegment = resume.Overlap + 1

// smallSegments is --segments for documents that are smaller than the command would divide.
func smallSegments(o *once) error {
	r := o.resolver()
	defer r.Close()
	place := &output.Place{Op: plan.New(&plan.Global{}), Destination: plan.Destination{Path: out}, Disk: o.disk}
	sink, err := place.Sink(io.Discard, nil, "", false)
	if err != nil {
		return err
	}
	req, err := r.Request(o.context(), o.w.url())
	if err != nil {
		return err
	}
	req.Options = &fetchhttp.Options{Header: http.Header{}}
	if o.w.sites[0].Scheme == "ftp" {
		req.Options = &ftp.Options{ModTime: true}
	}
	res, err := r.Fetch(o.context(), req)
	if err != nil {
		return err
	}
	job := segments.Job{
		Connections: 3, Least: leastSegment, Request: req, Fetcher: careless{r, o.w},
		Warn: func(format string, args ...any) { fmt.Fprintf(&o.text, format+"\n", args...) },
	}
	done := false
	if job.Worth(res) {
		done, err = output.TakeSegments(o.context(), sink, job, res)
	}
	if !done {
		fmt.Fprintln(&o.text, "using one connection")
		err = sink.Take(res.Body)
		_ = res.Close()
	}
	return errors.Join(err, sink.Flush(), sink.Close())
}

// segmented checks the file of --segments. A document that is too small for them is received like
// others.
func segmented(o *once, err error) {
	_, d := o.w.main()
	least := 2 << 20
	if o.op.name == "Segments" {
		least = 2 * leastSegment
	}
	small := slices.ContainsFunc(d.all(), func(v version) bool { return len(v.data) < least })
	if _, begun := o.w.disk.Get(out + ".segments"); begun && !small && !o.w.fellBack {
		final(o, err)
	} else {
		working(o, err)
	}
}

// mirrorCommand is the verb mirror.
func mirrorCommand(o *once) error {
	p := o.w.plan
	args := []string{"-q", "-sS", "--connections", strconv.Itoa(p.connections())}
	if p.deletes() {
		args = append(args, "--delete")
	}
	if p.Variant/8%2 == 0 {
		args = append(args, "--retry", "2")
	}
	args = append(args, o.w.sites[0].tree(), copyDir)
	if p.tries() {
		if err := o.exits(mirror.Command().Run(o.context(), append([]string{"--dry-run"}, args...), o.streams())); err != nil {
			return err
		}
	}
	return o.exits(mirror.Command().Run(o.context(), args, o.streams()))
}

// severalAtOnce fetches the first document of each site, several at once.
func severalAtOnce(o *once) error {
	args := []string{"-Z", "--parallel-max", "4"}
	for i, s := range o.w.sites {
		args = append(args, "-o", o.w.outOf(i), s.url+s.path(s.documents[0].name))
	}
	return o.fetch1738(args...)
}

func (w *world) outOf(i int) string { return fmt.Sprintf("%s/out-%d", home, i) }

// several checks the files of severalAtOnce.
func several(o *once, err error) {
	for i, s := range o.w.sites {
		d := s.documents[0]
		data, exists := o.w.disk.Get(o.w.outOf(i))
		switch {
		case err == nil && !d.has(data, o.began, time.Now()) && !s.floods(o.w.plan.Events):
			o.w.breaks("-Z: success, but %d bytes that no version of %s has: %s", len(data), d.name, d.differs(data))
		case exists && !o.crashed && !s.spouts(o.w.plan.Events) && !bytes.Equal(data, []byte(o.had[o.w.outOf(i)])) && !d.begins(data):
			o.w.breaks("-Z: %d wrong bytes: %v", len(data), err)
		}
	}
}
