package plan

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/glob"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/urls/idn"
	"github.com/fetch1738/fetch1738/internal/urls/typed"
	"github.com/fetch1738/fetch1738/locator"
)

// Reading has the options for parsing typed URLs.
type Reading struct {
	Strict        bool   // accept only URLs that follow RFC 1738 section 5
	DefaultScheme string // for URLs without a scheme; "" means guess
}

// Parser returns the parser for r.
func (r Reading) Parser() locator.Parser {
	if r.Strict {
		return locator.Parser{}
	}
	return locator.Parser{Tolerate: locator.TolerateUsual}
}

// Parse parses a typed URL. Unless r is strict, it guesses a missing scheme.
func (r Reading) Parse(text string) (ref locator.Reference, err error) {
	whole := text
	if !r.Strict {
		if whole, err = r.WithScheme(text); err != nil {
			return ref, err
		}
	}
	if ref, err = r.Parser().Parse(whole); err != nil {
		return ref, &fetch.Error{Op: fetch.OpParse, Kind: fetch.ErrBadURL, Err: err}
	}
	// The server is compared with others, which are in ASCII. A name that IDNA does not permit is an
	// error when it is used.
	ref.Locator, _ = idn.Locator(ref.Locator)
	return ref, nil
}

// WithScheme returns a typed URL with its scheme, which is guessed if missing.
func (r Reading) WithScheme(text string) (string, error) {
	scheme := strings.ToLower(r.DefaultScheme)
	switch {
	case typed.HasScheme(text):
		return text, nil
	case scheme == "":
		scheme = typed.GuessScheme(text)
	}
	if scheme == "" {
		return text, &fetch.Error{Op: fetch.OpParse, Kind: fetch.ErrBadURL, Section: "2.1", Err: errors.New("a URL starts with a scheme, such as ftp://")}
	}
	return scheme + "://" + text, nil
}

// Meant returns the end of a message about an unknown scheme: the known one that was probably meant,
// or "".
func Meant(scheme string, known []string) string {
	if near := typed.NearestScheme(strings.ToLower(scheme), known); near != "" {
		return "; did you mean " + near + ":?"
	}
	return ""
}

// NewsServer returns the server for news URLs: given or, if it is empty, $NNTPSERVER.
func NewsServer(given string) string { return cmp.Or(given, os.Getenv("NNTPSERVER")) }

// Decoded returns text from a URL without its percent-encoding, or as it is if that is malformed.
func Decoded(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

// Count returns the number of transfers after expanding the globs.
func (o *Operation) Count() int64 {
	n := int64(0)
	for i := range o.URLs {
		urls, sources, _ := o.Globs(i) // a malformed glob counts as one transfer, which fails
		n = min(glob.MaxCount, n+urls.Count()*sources.Count())
	}
	return n
}

// Globs returns the globs of the n-th URL and of the file to upload to it; "" means no upload.
// After an error they are the typed texts, not expanded.
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
		if urls, err1 = glob.Parse(typed); err1 == nil && source == "" {
			err1 = o.rangedWildcard(typed)
		}
	}
	sources, err2 = glob.Parse(source)
	if err := cmp.Or(err1, err2); err != nil {
		return glob.Fixed(typed), glob.Fixed(source), localerr.New(localerr.BadURL, err)
	}
	return urls, sources, nil
}

// rangedWildcard returns an error for a URL of files that ends in a range of single characters and a
// wildcard, as in [a-z]*.txt. The user means the wildcard of a shell, not 26 listings, of which
// most match nothing. With -g such a range is part of the wildcard.
func (o *Operation) rangedWildcard(url string) error {
	scheme, err := o.Reading.WithScheme(url)
	scheme, _, _ = strings.Cut(scheme, ":")
	last := url[strings.LastIndexByte(url, '/')+1:]
	if err != nil || !slices.Contains([]string{"ftp", "ftps", "file"}, strings.ToLower(scheme)) || !strings.ContainsAny(last, "*?") {
		return nil
	}
	for i := range last {
		if part := last[i:]; part[0] == '[' && len(part) > 4 && part[2] == '-' && part[4] == ']' && (i == 0 || last[i-1] != '\\') {
			return fmt.Errorf("%s in URL position %d would be a range of URLs, each of which has a wildcard", part[:5], len(url)-len(part)+1)
		}
	}
	return nil
}

// Uploading reports whether there is anything to upload. An upload of "" is a placeholder for a URL
// without an upload.
func (o *Operation) Uploading() bool {
	return slices.ContainsFunc(o.Uploads, func(name string) bool { return name != "" })
}

// Destination returns the destination of the n-th URL's document.
func (o *Operation) Destination(n int) Destination {
	switch {
	case n < len(o.Outputs):
		return o.Outputs[n]
	case o.Output.RemoteNameAll, o.Listed[n]:
		return Destination{Remote: true}
	}
	return Destination{}
}

// A SchemeSet is a set of allowed schemes. If nil, all schemes are allowed.
type SchemeSet []string

// Has reports whether s allows a scheme.
func (s SchemeSet) Has(scheme string) bool { return s == nil || slices.Contains(s, scheme) }

// Apply adds schemes to s. With "-" in modifiers it removes them; with "=" it removes all others.
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

// Fetches reports whether URLs of a scheme can be fetched, directly or through a gateway.
func (o *Operation) Fetches(scheme string) bool {
	return o.Gateways[scheme] != "" || slices.Contains(fetch1738.Schemes(), scheme)
}

// PlainScheme returns the variant of a scheme without TLS.
func PlainScheme(scheme string) string {
	if s, _ := locator.SchemeOf(scheme); s.Secure {
		return s.Twin
	}
	return scheme
}

// Departing returns a remark that lists what was tolerated.
func Departing(used locator.Tolerance) string {
	return "the URL departs from RFC 1738: " + used.String()
}

// Departures returns the names of what was tolerated, as the constants of package locator.
func Departures(used locator.Tolerance) []string {
	return strings.FieldsFunc(used.String(), func(r rune) bool { return r == '|' })
}

// SameServer reports whether two URLs have the same text before the path.
func SameServer(a, b string) bool {
	scheme, rest, _ := strings.Cut(a, "://")
	authority, _, _ := strings.Cut(rest, "/")
	return strings.HasPrefix(b, scheme+"://"+authority+"/")
}
