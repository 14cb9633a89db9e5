package files

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/report"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/wildcard"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/file"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// A run is one use of a verb.
type run struct {
	*report.Reporter
	*settings
	verb    verb
	op      *plan.Operation
	network *client.Network
	out     *stdio.Checked // standard output
	code    int            // the exit code: that of the first failure
	failed  int
	done    tally
	listed  atomic.Int64 // entries, for the progress line
	total   atomic.Int64 // what is to be deleted, for the progress line
}

// A tally counts what a verb has changed.
type tally struct{ files, directories atomic.Int64 }

// String returns the counts in words.
func (t *tally) String() string { return amount(int(t.files.Load()), int(t.directories.Load())) }

// amount returns numbers of files and directories in words.
func amount(files, directories int) string {
	switch {
	case files == 0 && directories == 0:
		return "nothing"
	case directories == 0:
		return stdio.Count(files, "file")
	case files == 0:
		return stdio.Count(directories, "directory")
	}
	return stdio.Count(files, "file") + " and " + stdio.Count(directories, "directory")
}

// An operand is one URL of the command line.
type operand struct {
	*run
	t       *transfer.Result  // with the login in its Locator
	pattern *wildcard.Pattern // nil without a wildcard
	real    locator.Locator   // directories below this one are no links; if nil, any may be one
}

// operands yields the operands of URLs, after the expansion of sets and ranges. It reports those that
// cannot be used, and continues after them.
func (r *run) operands(urls int) iter.Seq[*operand] {
	return func(yield func(*operand) bool) {
		for i := range urls {
			expanded, _, malformed := r.op.Globs(i)
			for url := range expanded.All() {
				o, err := r.operand(url, malformed)
				if err != nil {
					r.fail(o.t, err)
					continue
				}
				if !yield(o) {
					return
				}
			}
		}
	}
}

// each calls do for each operand until the run has ended.
func (r *run) each(ctx context.Context, do func(ctx context.Context, o *operand) error) error {
	for o := range r.operands(len(r.op.URLs)) {
		one, end := o.context(ctx)
		err := do(one, o)
		if end(); err != nil || ctx.Err() != nil {
			return ended(ctx, err)
		}
	}
	return nil
}

// operand returns the operand of a URL.
func (r *run) operand(url string, malformed error) (*operand, error) {
	o := &operand{run: r, t: &transfer.Result{Call: client.Call{Network: r.network}, Task: transfer.Task{URL: url, Out: r.out}}}
	if err := cmp.Or(malformed, o.t.Read()); err != nil {
		return o, err
	}
	o.t.Account.Begin()
	if o.t.Gateway() != "" || o.t.AskedProxy(o.t.Locator) != nil {
		return o, localerr.Usagef("%s does not work through a gateway or a forwarding HTTP proxy; use -p, --proxytunnel", r.verb.name)
	}
	if wildcard.Is(url) {
		o.pattern = output.Pattern(o.t.Locator, url)
		switch o.t.Locator.(type) {
		case *locator.FTP, *locator.File:
			_, rest, _ := strings.Cut(url, "://")
			_, segments, _ := strings.Cut(rest, "/")
			if wildcard.Is(path.Dir(strings.TrimSuffix(segments, "/"))) || o.pattern == nil && strings.HasSuffix(segments, "/") && wildcard.Is(segments) {
				return o, localerr.Usagef("a wildcard matches in the last part of a URL only, and not before a slash; write %%2A, %%3F or %%5B for the character itself: %s", o.t.Locator.Redacted())
			}
		}
	}
	return o, o.t.Authenticate()
}

// context returns ctx for the requests of an operand. The caller must call end.
func (o *operand) context(ctx context.Context) (_ context.Context, end context.CancelFunc) {
	ctx, end = context.WithCancel(ctx) // what has ended tells nothing
	return o.Watch(o.t.Account.Watch(o.t.Context(ctx), nil, false), o.t), end
}

// request returns a request for l, which is at or below the operand. A refusal by HTTP is an error.
func (o *operand) request(l locator.Locator, change func(*ftp.Options)) (*fetch.Request, error) {
	req, err := client.Request(o.op, l)
	if err != nil {
		return nil, err
	}
	switch options := req.Options.(type) {
	case *ftp.Options:
		if change != nil {
			change(options)
		}
	case *file.Options:
		if base, ok := o.real.(*locator.File); ok {
			options.NoFollow = len(l.(*locator.File).Segments) - len(base.Segments)
		}
	case *fetchhttp.Options:
		options.AnyStatus, options.Method, options.Verb, options.Target, options.Body = false, "", "", "", nil
	}
	return req, nil
}

// fail reports a failure, which does not end the run.
func (r *run) fail(t *transfer.Result, err error) {
	t.Err = err
	r.code = cmp.Or(r.code, report.Code(t))
	r.failed++
	if r.json {
		url := t.URL
		if t.Locator != nil {
			url = t.Locator.Redacted()
		}
		r.encode(event{Event: "failed", URL: url, Error: stdio.InOptions(err.Error())})
	}
	r.Failed(t)
}

// failAt is fail for a URL at or below the operand.
func (o *operand) failAt(l locator.Locator, err error) {
	o.fail(&transfer.Result{Call: client.Call{Network: o.network, Locator: l}, Task: transfer.Task{URL: l.Redacted()}}, err)
}

// failure returns the error of an operation at l that was decided here.
func failure(l locator.Locator, kind fetch.ErrorKind, format string, args ...any) error {
	return &fetch.Error{Op: fetch.OpEdit, URL: l.Redacted(), Kind: kind, Err: fmt.Errorf(format, args...)}
}

// An event is a line of --json about a change.
type event struct {
	Event  string `json:"event"`
	URL    string `json:"url,omitempty"`
	To     string `json:"to,omitempty"`
	Kind   string `json:"kind,omitempty"`
	Error  string `json:"error,omitempty"`
	DryRun bool   `json:"dry_run,omitempty"`
}

// say tells of a change. what is "deleted", "moved" or "created".
func (r *run) say(what, kind string, l, to locator.Locator) {
	if r.json {
		e := event{Event: what, URL: l.Redacted(), Kind: kind, DryRun: r.dryRun}
		if to != nil {
			e.To = to.Redacted()
		}
		r.encode(e)
		return
	}
	if r.op.Silent || !r.op.Verbose && !r.dryRun {
		return
	}
	if r.dryRun {
		what = "would be " + what
	}
	text := what + " " + l.Redacted()
	if to != nil {
		text += " -> " + to.Redacted()
	}
	fmt.Fprintln(r.out, stdio.Line(text))
}

// encode prints a line of JSON.
func (r *run) encode(line any) {
	e := json.NewEncoder(r.out)
	e.SetEscapeHTML(false)
	_ = e.Encode(line) // r.out keeps the error
}

// line returns the text of the progress line.
func (r *run) line(progress.Totals) string {
	if total := r.total.Load(); total > 0 {
		return fmt.Sprintf("%d of %d deleted", r.done.files.Load()+r.done.directories.Load(), total)
	}
	return fmt.Sprintf("%s listed", stdio.Count(r.listed.Load(), "entry"))
}

// interrupted says what was done before the end of the run, or "".
func (r *run) interrupted() string {
	if r.verb.name != "rm" {
		return ""
	}
	return "deleted so far: " + r.done.String()
}

// isFatal reports whether after err the next request would fail, too: the server cannot be reached, or
// refuses the login.
func isFatal(err error) bool {
	kind := fetch.KindOf(err)
	fatal := []fetch.ErrorKind{fetch.ErrRefused, fetch.ErrUnauthenticated, fetch.ErrUnresolved, fetch.ErrUnreachable, fetch.ErrTimeout, fetch.ErrCanceled}
	return slices.Contains(fatal, kind)
}

// isRefusal reports whether the server has replied that it does not do it. Otherwise err is that of the
// connection, also of one that the server ends (421).
func isRefusal(err error) bool {
	e, ok := errors.AsType[*fetch.Error](err)
	if !ok {
		return false
	}
	local := strings.HasPrefix(e.URL, "file:") && e.Kind != fetch.ErrCanceled || e.Op == fetch.OpList && e.Kind == fetch.ErrNotFound
	return local || e.Code >= 400 && e.Code != 421 && !isFatal(err)
}

// lacksDirectory reports whether err is that the directory cannot be entered, probably because it does not
// exist.
func lacksDirectory(err error) bool {
	e, ok := errors.AsType[*fetch.Error](err)
	return ok && (e.Op == "CWD" && isRefusal(err) || strings.HasPrefix(e.URL, "file:") && e.Kind == fetch.ErrNotFound)
}
