// Package relative resolves references to URLs (RFC 1808): links of pages, redirects. net/url refuses
// references that browsers and curl follow, and decodes "%2F" beside a character that it encodes.
package relative

import (
	"strings"

	"github.com/fetch1738/fetch1738/locator"
)

// Resolve returns the text of the URL that ref means in the document at base (RFC 1808, as RFC 3986
// §5.2 has it). A reference that starts with a scheme is returned as it is. For others, texts are
// joined: an octet is neither decoded nor refused, and only the delimiters of URLs in text are
// encoded. The rest is left to a [locator.Parser].
func Resolve(base locator.Locator, ref string) string {
	if hasScheme(ref) {
		return ref
	}
	ref = delimiters.Replace(ref)
	scheme, path, _ := strings.Cut(base.String(), ":")
	root := scheme + ":"
	if rest, ok := strings.CutPrefix(path, "//"); ok {
		root += "//" + cutAt(&rest, "/?")
		path = withSlash(rest)
	}
	query := path
	path = cutAt(&query, "?")
	switch {
	case strings.HasPrefix(ref, "//"):
		rest := ref[2:]
		return scheme + "://" + cutAt(&rest, "/?#") + withoutDots(withSlash(rest))
	case strings.HasPrefix(ref, "/"):
		return root + withoutDots(ref)
	case ref == "" || ref[0] == '#':
		return root + path + query + ref
	case path == "" && root != scheme+":": // after a host
		path = "/"
	}
	if ref[0] == '?' {
		return root + path + ref
	}
	return root + withoutDots(path[:strings.LastIndexByte(path, '/')+1]+ref)
}

var delimiters = strings.NewReplacer(`"`, "%22", "<", "%3C", ">", "%3E")

// withSlash returns what follows a host with the "/" before a search (RFC 1738 §3.3).
func withSlash(path string) string {
	if strings.HasPrefix(path, "?") {
		return "/" + path
	}
	return path
}

// cutAt removes from text, and returns, what is before the first of some characters.
func cutAt(text *string, chars string) string {
	before, n := *text, strings.IndexAny(*text, chars)
	if n < 0 {
		*text = ""
		return before
	}
	*text = before[n:]
	return before[:n]
}

// hasScheme reports whether a reference is absolute (RFC 3986 §3.1).
func hasScheme(ref string) bool {
	scheme, _, ok := strings.Cut(ref, ":")
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return ok && scheme != "" && strings.Contains(letters, scheme[:1]) && strings.Trim(scheme, letters+"0123456789+-.") == ""
}

// withoutDots removes the segments "." and ".." of a path (RFC 3986 §5.2.4). A search and a fragment
// may follow the path.
func withoutDots(rest string) string {
	segments := strings.Split(cutAt(&rest, "?#"), "/")
	kept := segments[:1]
	for i, s := range segments[1:] {
		switch s {
		case ".":
		case "..":
			kept = kept[:max(len(kept)-1, 1)]
		default:
			kept = append(kept, s)
			continue
		}
		if i == len(segments)-2 {
			kept = append(kept, "")
		}
	}
	return strings.Join(kept, "/") + rest
}
