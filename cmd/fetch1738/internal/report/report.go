// Package report shows the conversation with servers, the progress and results of
// transfers, and hints about failures.
package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A Reporter shows transfers. It implements transfer.Events. Other output goes to its
// Streams, which keep the display intact. The caller must close it.
type Reporter struct {
	stdio.Streams
	Disk  disk.Disk // if nil, the system's
	Verbs []string  // for a URL that may be a misspelled verb

	NoRetries bool // --retry is not an option

	trace   io.Writer // where conversations are shown
	display *progress.Display
	tally   *tally           // nil without -Z
	silent  sync.Map         // what has been said about silent servers
	hinted  sync.Map         // the hints about files of a mirror that were shown
	opened  []io.Closer      // files of trace and Err
	outputs []*stdio.Checked // trace and Err, unless they are standard error
}

// Redirect redirects standard error to a file; "-" means standard output, "" changes
// nothing. If the file cannot be created, it prints a warning, as curl does.
func (r *Reporter) Redirect(name string) {
	switch name {
	case "":
		return
	case "-":
		r.Err = r.check(stdio.CheckOutput(r.Out))
		return
	}
	f, err := r.create(name)
	if err != nil {
		r.Warn("--stderr: cannot write to the file: %v", err)
		return
	}
	r.Err = r.checkFile(f)
}

// check returns w, whose error then is an error of the run.
func (r *Reporter) check(w *stdio.Checked) *stdio.Checked {
	r.outputs = append(r.outputs, w)
	return w
}

// create creates or empties a file.
func (r *Reporter) create(name string) (disk.File, error) {
	return disk.Or(r.Disk).OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// checkFile is check for a file that Close closes.
func (r *Reporter) checkFile(f disk.File) *stdio.Checked {
	r.opened = append(r.opened, f)
	return r.check(stdio.CheckFile(f))
}

// Lost returns the first error of writing the conversation, or of writing messages that do not go
// to standard error.
func (r *Reporter) Lost() error {
	for _, w := range r.outputs {
		if err := w.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Open opens the output for the conversation.
func (r *Reporter) Open(trace plan.Trace) error {
	switch {
	case trace.Form == plan.TraceNot, trace.File == "%":
		r.trace = r.Err
	case trace.File == "-":
		r.trace = r.check(stdio.CheckOutput(r.Out))
	default:
		f, err := r.create(trace.File)
		if err != nil {
			return localerr.New(localerr.Write, err)
		}
		r.trace = r.checkFile(f)
	}
	return nil
}

// Close closes the display and the files of Redirect and Open. Errors are ignored.
func (r *Reporter) Close() {
	r.display.Close()
	for _, f := range r.opened {
		_ = f.Close()
	}
}

// Begin implements transfer.Events.
func (r *Reporter) Begin(t *transfer.Result) transfer.Watch {
	var w transfer.Watch
	if n := r.narrator(t); n != nil {
		w.Traces, w.Remark = []*fetch.Trace{n.trace()}, func(text string) { n.remark("%s", text) }
		if n.form != plan.TraceLines {
			w.Data = n.data
		}
		if !t.Looks {
			n.warnOfPassword(t)
		}
	} else if !t.Looks && !t.Op.Silent && term.IsTerminal(r.Err) {
		w.Traces = []*fetch.Trace{queueTrace(newNarrator(r.Err))}
	}
	quiet := r.silence(context.Background(), t)
	w.Traces, w.Stop = append(w.Traces, quiet.trace()), quiet.stop
	if !t.Looks {
		meter := r.meter(t)
		w.Total, w.Stop = meter.SetTotal, func() { quiet.stop(); meter.Stop() }
	}
	return w
}

// Watch returns ctx with the hooks that show the conversation and tell of a silent server, for
// requests that are not transfers. The user is told of nothing after the end of ctx.
func (r *Reporter) Watch(ctx context.Context, t *transfer.Result) context.Context {
	if n := r.narrator(t); n != nil {
		ctx = fetch.WithTrace(ctx, n.trace())
	}
	return fetch.WithTrace(ctx, r.silence(ctx, t).trace())
}

// warnOfPassword prints who can read the password.
func (n *narrator) warnOfPassword(t *transfer.Result) {
	login := client.LoginOf(t.Locator)
	if login == nil || !t.SendsLogin(t.Locator) || client.Secures(&t.Op.TLS, t.Locator) {
		return
	}
	n.remark("%s sends the password over the network unencrypted", t.Locator.Scheme())
	if p := t.AskedProxy(t.Locator); p != nil && login.HasPassword {
		n.remark("the proxy %s also receives the password", p)
	}
}

// queueTrace shows a user at a terminal that the server has asked to wait.
func queueTrace(n *narrator) *fetch.Trace {
	return &fetch.Trace{Note: func(text string) {
		if strings.HasPrefix(text, "the server asks to wait") || strings.HasPrefix(text, "the server's queue") {
			n.remark("%s", text)
		}
	}}
}

// told is a transfer that has ended.
type told struct {
	*transfer.Result
	reporter *Reporter
	code     int
	more     string // behind the message
	once     bool   // a hint that was shown is not shown again
}

// End implements transfer.Events.
func (r *Reporter) End(t *transfer.Result) {
	t.Err = cmp.Or(t.Err, r.Lost())
	over := &told{Result: t, reporter: r, code: Code(t)}
	if t.Skipped && t.Op.Output.SkipExisting && t.Op.Trace.Form != plan.TraceNot {
		fmt.Fprintf(r.Err, "Note: skips transfer, \"%s\" exists locally\n", stdio.Line(t.Sink.Path)) // in curl's words
	}
	r.complain(over)
	if t.Op.Output.WriteOut != "" {
		if err := writeOut(over); err != nil && t.Err == nil {
			t.Err = err
			over.code = Code(t)
			r.complain(over)
		}
	}
	if r.tally != nil {
		r.tally.count(t.Err == nil)
	}
}

// Failed prints a failure that is not that of a transfer.
func (r *Reporter) Failed(t *transfer.Result) {
	r.complain(&told{Result: t, reporter: r, code: Code(t)})
}

// FailedFile prints the failure of a file of a mirror, with more behind it. Each hint is shown once.
func (r *Reporter) FailedFile(t *transfer.Result, file, more string) {
	over := &told{Result: t, reporter: r, code: Code(t), more: more, once: true}
	if file != "" && !strings.Contains(message(t.Err), file) {
		t.Err = fmt.Errorf("%s: %w", file, t.Err)
	}
	r.complain(over)
}

// complain prints what went wrong, unless -s suppresses it.
func (r *Reporter) complain(t *told) {
	switch {
	case t.Err == nil || t.Op.Silent && !t.Op.ShowError:
	case t.code == exit.Interrupted:
		sayKept(t)
	default:
		r.Complain(t.Err, fmt.Sprintf("fetch1738: (%d) %s%s%s", t.code, message(t.Err), limitOption(t), t.more))
		if !t.Op.Silent {
			showHint(t)
		}
	}
	if t.Err == nil && !t.Op.Silent && isGopher(t) && spoken(t) != nil {
		showHint(t) // any bytes are a gopher document
	}
}

// limitOption names the option that sets the time limit of a failure, or "".
func limitOption(t *told) string {
	late, ok := errors.AsType[*wire.TimeoutError](t.Err)
	if !ok {
		return ""
	}
	o, known := &t.Op.Connect, new(fetch.Error)
	errors.As(t.Err, &known)
	connects := known.Op == fetch.OpConnect || known.Op == fetch.OpTLS || known.Op == fetch.OpProxyConnect
	switch late.Limit { // other limits have no option
	case cmp.Or(o.Timeout, fetch.Limits{}.WithDefaults().Connect):
		if connects || late.Limit != client.IdleTime(o) {
			return " (--connect-timeout SECONDS changes that)"
		}
		fallthrough
	case client.IdleTime(o):
		return " (--idle-timeout SECONDS changes that)"
	}
	return ""
}

// Misused prints an error of the command line. It returns the exit code.
func (r *Reporter) Misused(err error) int {
	if kind := localerr.KindOf(err); kind != 0 && kind != localerr.Usage {
		r.Complain(err, fmt.Sprintf("fetch1738: (%d) %s", exit.Of(kind), stdio.Line(err.Error())))
		return exit.Of(kind)
	}
	fmt.Fprintf(r.Err, "fetch1738: %s\n", stdio.Line(err.Error()))
	if !strings.Contains(err.Error(), " --help") { // it says what to read
		fmt.Fprintln(r.Err, "fetch1738: try 'fetch1738 --help' for more information")
	}
	return exit.Usage
}

// message returns an error as one printable line.
func message(err error) string {
	if known, ok := errors.AsType[*fetch.Error](err); ok && error(known) == err {
		return stdio.InOptions(known.Error())
	}
	return stdio.Line(stdio.InOptions(err.Error()))
}

// Code returns the exit code of a transfer that has ended.
func Code(t *transfer.Result) int {
	f := exit.Failure{
		Err: t.Err, Uploading: t.Upload, Resuming: t.Op.Resuming(),
		Unheard: !t.Account.Facts().Answered, Sending: t.Upload && t.Account.Moved.Load() > 0,
	}
	if t.Locator != nil {
		f.Scheme = t.Locator.Scheme()
		if p := t.ProxyTo(f.Scheme, t.ServerOf(t.Locator).HostPort); p != nil {
			f.Proxy = p.Scheme
		}
		if t.Gateway() != "" || t.AskedProxy(t.Locator) != nil {
			f.Scheme = "http"
		}
	}
	return f.Code()
}
