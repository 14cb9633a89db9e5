package plan

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/glob"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// Reading is how typed URLs are read.
type Reading struct {
	Strict        bool   // by RFC 1738 section 5, and nothing else
	DefaultScheme string // of URLs without one; "" guesses it
}

// Parser is the grammar.
func (r Reading) Parser() locator.Parser {
	if r.Strict {
		return locator.Parser{}
	}
	return locator.Parser{Tolerate: locator.TolerateUsual}
}

// Parse reads a URL as it was typed. One without a scheme gets a guessed one,
// unless the reading is strict.
func (r Reading) Parse(typed string) (ref locator.Reference, err error) {
	url := typed
	if !r.Strict {
		if url, err = r.WithScheme(typed); err != nil {
			return ref, err
		}
	}
	if ref, err = r.Parser().Parse(url); err != nil {
		return ref, &fetch.Error{Op: fetch.OpParse, Kind: fetch.ErrBadURL, Err: err}
	}
	return ref, nil
}

// WithScheme is a typed URL, with the scheme that is guessed where it has none.
func (r Reading) WithScheme(typed string) (string, error) {
	if HasScheme(typed) {
		return typed, nil
	}
	scheme, err := r.guessScheme(typed)
	return scheme + "://" + typed, err
}

// HasScheme reports whether a text starts as a URL does. "host:21/x" does not:
// where a port can stand after the colon only a known scheme is one.
func HasScheme(text string) bool {
	name, rest, found := strings.Cut(text, ":")
	name = strings.ToLower(name)
	if !found || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789+-.") != "" {
		return false
	}
	port := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	isPort := port > 0 && (port == len(rest) || strings.IndexByte("/?#", rest[port]) >= 0)
	_, known := locator.SchemeOf(name)
	return !isPort || known
}

// guessScheme guesses as curl does by the name of the host. It guesses nothing
// for a text with an "@", which may be an address for mail, or a password.
func (r Reading) guessScheme(text string) (string, error) {
	switch {
	case r.DefaultScheme != "":
		return strings.ToLower(r.DefaultScheme), nil
	case strings.Contains(text, "@"):
		return "", &fetch.Error{Op: fetch.OpParse, Kind: fetch.ErrBadURL, Section: "2.1", Err: errors.New("a URL starts with a scheme, such as ftp://")}
	case hasPrefixFold(text, "ftp."):
		return "ftp", nil
	case hasPrefixFold(text, "gopher."):
		return "gopher", nil
	}
	return "http", nil
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// NewsServer is where news URLs are fetched from: given, or what the environment
// says.
func NewsServer(given string) string { return cmp.Or(given, os.Getenv("NNTPSERVER")) }

// Count is how many transfers the URLs stand for.
func (o *Operation) Count() int64 {
	n := int64(0)
	for i := range o.URLs {
		urls, sources, _ := o.Globs(i) // a malformed one fails as one
		n = min(glob.MaxCount, n+urls.Count()*sources.Count())
	}
	return n
}

// Globs are the URLs that the n-th one typed stands for, and what is uploaded to
// each of them; "" is nothing. After an error they are what was typed.
func (o *Operation) Globs(n int) (urls, sources glob.Glob, err error) {
	typed, source := o.URLs[n], ""
	if n < len(o.Uploads) {
		source = o.Uploads[n]
	}
	urls, sources = glob.Fixed(typed), glob.Fixed(source)
	if o.GlobOff {
		return urls, sources, nil
	}
	var err1, err2 error
	if !o.Listed[n] {
		urls, err1 = glob.Parse(typed)
	}
	sources, err2 = glob.Parse(source)
	if err := cmp.Or(err1, err2); err != nil {
		return glob.Fixed(typed), glob.Fixed(source), fault.New(fault.BadURL, err)
	}
	return urls, sources, nil
}

// Uploading reports whether anything is to be uploaded. An upload of "" is for a
// URL to which nothing is, where others follow.
func (o *Operation) Uploading() bool {
	return slices.ContainsFunc(o.Uploads, func(name string) bool { return name != "" })
}

// Destination is where the n-th URL's document goes.
func (o *Operation) Destination(n int) Destination {
	switch {
	case n < len(o.Outputs):
		return o.Outputs[n]
	case o.Output.RemoteNameAll, o.Listed[n]:
		return Destination{Remote: true}
	}
	return Destination{}
}

// A SchemeSet is the schemes that may be used; nil is all.
type SchemeSet []string

// Has reports whether a scheme may be used.
func (s SchemeSet) Has(scheme string) bool { return s == nil || slices.Contains(s, scheme) }

// Apply adds schemes; with "-" among the modifiers it removes them, with "=" it
// removes the others.
func (s *SchemeSet) Apply(modifiers string, names []string) {
	switch {
	case strings.Contains(modifiers, "="):
		*s = slices.Clone(names)
	case strings.Contains(modifiers, "-"):
		*s = slices.DeleteFunc(*s, func(name string) bool { return slices.Contains(names, name) })
		if *s == nil {
			*s = SchemeSet{}
		}
	default:
		*s = append(*s, names...)
	}
}

// Fetches reports whether there is a way to fetch URLs of a scheme.
func (o *Operation) Fetches(scheme string) bool {
	return o.Policy.Gateways[scheme] != "" || slices.Contains(fetch1738.Schemes(), scheme)
}

// PlainScheme is a scheme without TLS.
func PlainScheme(scheme string) string {
	if s, _ := locator.SchemeOf(scheme); s.Secure {
		return s.Twin
	}
	return scheme
}

// Departing is a remark about what was tolerated.
func Departing(used locator.Tolerance) string {
	return "the URL departs from RFC 1738: " + used.String()
}

// Departures names what was tolerated, by the constants of package locator.
func Departures(used locator.Tolerance) []string {
	return strings.FieldsFunc(used.String(), func(r rune) bool { return r == '|' })
}

// SameServer reports whether two URLs plainly begin alike, up to their paths.
func SameServer(a, b string) bool {
	scheme, rest, _ := strings.Cut(a, "://")
	authority, _, _ := strings.Cut(rest, "/")
	return strings.HasPrefix(b, scheme+"://"+authority+"/")
}
