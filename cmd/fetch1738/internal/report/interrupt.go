package report

import (
	"fmt"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/locator"
)

// sayKept says what an interrupted transfer has left and how to resume it. It prints
// nothing for a transfer that has left nothing.
func sayKept(t *told) {
	text := ""
	switch {
	case t.Op.Output.RemoveOnError || t.Sink == nil:
	case t.Upload:
		if how := resumption(t); how != "" && t.Account.Moved.Load() > 0 {
			text = fmt.Sprintf("part of %s was sent; %s", t.Source, how)
		}
	case output.PartPath(t.Sink) != "" && t.Account.Moved.Load() > 0:
		text = fmt.Sprintf("the parts received are kept in %s; %s", output.PartPath(t.Sink), sameCommand)
	case t.Sink.File() && t.Sink.Count > 0:
		text = fmt.Sprintf("%d bytes are kept in %s", t.Sink.Size(), t.Sink.Path)
		if how := resumption(t); how != "" {
			text += "; " + how
		}
	}
	if text != "" {
		afterKey(t.reporter, "interrupted: "+text)
	}
}

const sameCommand = "run the same command again to resume"

// resumption says how to fetch, or send, the rest of a document. It is "" where that
// is not possible, or not known to be.
func resumption(t *told) string {
	if !canResume(t) {
		return ""
	}
	o := t.Op
	excluded := o.Output.Clobber == plan.ClobberNever || o.Output.RemoteHeaderName || o.Output.RemoveOnError || o.Ask.Span != nil || o.Ask.Ranges != ""
	if excluded {
		return ""
	}
	if o.Ask.Resume == plan.ResumeFound {
		return sameCommand
	}
	return "resume with -C -"
}

// canResume reports whether the server has what it takes for -C -, as far as its
// answer shows.
func canResume(t *told) bool {
	switch l := t.Locator.(type) {
	case *locator.FTP:
		isFile := l.Name != "" && (l.Type == 0 || l.Type == 'i') && !t.Op.FTP.ASCII && t.AskedProxy(l) == nil && t.Gateway() == ""
		if t.Upload {
			return isFile && !t.Op.FTPSession.CRLF && !t.Op.Ask.Append && !stdio.IsStdin(t.Source)
		}
		return isFile && t.Verbatim()
	case *locator.File:
		return !t.Upload && t.Verbatim()
	case *locator.HTTP:
		web := t.Answer.Web
		if web == nil || t.Upload || !t.Verbatim() || !client.IsHTTP(t.Answer.Effective) {
			return false
		}
		return web.StatusCode == 206 || web.StatusCode == 200 && strings.Contains(web.Header.Get("Accept-Ranges"), "bytes")
	}
	return false
}
