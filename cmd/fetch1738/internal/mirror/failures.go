package mirror

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/fetch"
)

// maxAlike is how many failures for the same reason are shown without -v.
const maxAlike = 5

// failures shows the failures of files and listings.
type failures struct {
	first error // reported failure
	ended bool  // one has ended the run
	again bool  // the same command may succeed later
	kinds []*alike
	named map[string]bool // with -v: the files whose failures were printed
}

// alike are failures for the same reason.
type alike struct {
	reason string
	text   string // of the first
	n      int
}

// fail prints the failure of a file or listing. Of many for the same reason it prints the first.
func (r *mirrorReport) fail(e event) {
	f := &r.failures
	f.first = cmp.Or(f.first, e.err)
	f.again = e.ends && !isFinal(e.err) || !e.ends && (f.again || !isFinal(e.err))
	more := ""
	if e.ends && r.gauge.folders > 0 { // else it has not begun
		f.ended = true
		more = "; the run ends here"
	}
	if kind := f.kindOf(e); kind.n > maxAlike && !r.t.Op.Verbose && !e.ends {
		return
	}
	if r.t.Op.Verbose {
		if f.named == nil {
			f.named = make(map[string]bool)
		}
		f.named[e.file] = true
	}
	one := &transfer.Result{Call: client.Call{Network: r.t.Network, Locator: r.t.Locator}, Task: transfer.Task{URL: r.t.URL}, Err: e.err}
	r.reporter.FailedFile(one, e.file, more)
}

// isFinal reports whether the server has refused something that it will refuse again.
func isFinal(err error) bool {
	switch fetch.KindOf(err) {
	case fetch.ErrUnauthenticated, fetch.ErrPermission, fetch.ErrUnsupported:
		return true
	}
	return false
}

// kindOf counts a failure among those for the same reason.
func (f *failures) kindOf(e event) *alike {
	reason := reasonOf(e)
	for _, kind := range f.kinds {
		if kind.reason == reason {
			kind.n++
			return kind
		}
	}
	kind := &alike{reason: reason, text: e.file, n: 1}
	if len(f.kinds) < maxKinds {
		f.kinds = append(f.kinds, kind)
	}
	return kind
}

// maxKinds is how many reasons are remembered.
const maxKinds = 1000

// reasonOf returns the reason of a failure, without the name of the file.
func reasonOf(e event) string {
	reason, code := e.err.Error(), ""
	if known, ok := errors.AsType[*fetch.Error](e.err); ok {
		code, reason = fmt.Sprintf("%s %d %v ", known.Op, known.Code, known.Kind), known.Reply
		if known.Reply == "" && known.Err != nil {
			reason += known.Err.Error()
		}
	} else if local, ok := errors.AsType[*fs.PathError](e.err); ok {
		reason = local.Op + " " + local.Err.Error()
	}
	if e.file != "" {
		reason = without(without(reason, e.file), path.Base(e.file))
	}
	return code + reason
}

// without returns a text without a name, where that is not a part of a word or number.
func without(text, name string) string {
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	rest := ""
	for {
		before, after, found := strings.Cut(text, name)
		if !found {
			return rest + text
		}
		last, _ := utf8.DecodeLastRuneInString(rest + before)
		next, _ := utf8.DecodeRuneInString(after)
		rest += before
		if isWord(last) || isWord(next) {
			rest += name
		}
		text = after
	}
}

// rest says how many failures were not printed.
func (r *mirrorReport) rest() {
	if r.t.Op.Verbose || r.t.Op.Silent && !r.t.Op.ShowError {
		return
	}
	for _, kind := range r.failures.kinds {
		if n := kind.n - maxAlike; n > 0 {
			r.t.Warn("%d more failed for the same reason as %s; -v names them", n, cmp.Or(kind.text, "the first"))
		}
	}
}
