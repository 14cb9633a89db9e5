package cdx

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/internal/urls/idn"
	"github.com/fetch1738/fetch1738/internal/urls/percent"
)

// Key returns the key of a URL. That of an http or https URL is its SURT, as warcio.js makes it:
// "org,example)/dir?a&b" without the scheme and "www.", in lower case, with sorted parameters. All
// other schemes have the URL itself, because case matters in selectors and paths. Spaces and
// control characters become %XX. A host beyond ASCII has the key of its name in ASCII, by IDNA.
func Key(url string) string {
	url = idn.URL(url)
	if rest, ok := cutWeb(url); ok {
		scheme, bare := url[:len(url)-len(rest)], withoutWWW(rest)
		if key, ok := surt(bare, scheme == "https://"); ok {
			return key
		}
		url = scheme + bare // which no parser accepts
	}
	return oneWord(url)
}

// IsWeb reports whether the key of a URL is a SURT.
func IsWeb(url string) bool { _, ok := cutWeb(url); return ok }

// cutWeb removes "http://" or "https://". Like warcio.js it recognizes them in lower case only.
func cutWeb(url string) (string, bool) {
	if rest, ok := strings.CutPrefix(url, "http://"); ok {
		return rest, true
	}
	return strings.CutPrefix(url, "https://")
}

// oneWord replaces what would end a word or a line.
func oneWord(text string) string {
	bad := func(r rune) bool { return r <= ' ' || r == 0x7F }
	if strings.IndexFunc(text, bad) < 0 {
		return text
	}
	return percent.Encode(text, func(c byte) bool { return c <= ' ' || c == 0x7F })
}

// surt returns the key of what follows "http://". It does what the URL parser of JavaScript does
// (WHATWG URL §4.4). The host is in ASCII, or IDNA does not permit it.
func surt(rest string, secure bool) (string, bool) {
	rest = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(strings.Trim(rest, " "))
	rest = strings.ToLower(rest)
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, asked := strings.Cut(rest, "?")
	rest = strings.ReplaceAll(rest, `\`, "/")
	host, path, _ := strings.Cut(strings.TrimLeft(rest, "/"), "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	port := ""
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host, port = host[:i], strings.TrimLeft(host[i+1:], "0")
	}
	if _, err := strconv.ParseUint("0"+port, 10, 16); err != nil || host == "" || strings.ContainsAny(host, " <>^|%") || host[0] != '[' && strings.Contains(host, ":") {
		return "", false
	}
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	key := strings.Join(labels, ",")
	if port != "" && (port != "80" || secure) && (port != "443" || !secure) {
		key += ":" + port
	}
	key += ")/" + percent.Encode(withoutDots(path), func(c byte) bool {
		return c <= ' ' || c >= 0x7F || strings.IndexByte("\"<>`{}", c) >= 0
	})
	if asked && query != "" {
		args := strings.Split(percent.Encode(query, func(c byte) bool {
			return c <= ' ' || c >= 0x7F || strings.IndexByte(`"<>'`, c) >= 0
		}), "&")
		slices.Sort(args)
		key += "?" + strings.Join(args, "&")
	}
	return key, true
}

// withoutWWW removes "www." and also "www2.".
func withoutWWW(rest string) string {
	if label, after, ok := strings.Cut(rest, "."); ok && strings.HasPrefix(label, "www") && strings.Trim(label[3:], "0123456789") == "" {
		return after
	}
	return rest
}

// withoutDots resolves the segments "." and ".." of a path in lower case, also encoded ones.
func withoutDots(path string) string {
	segments := strings.Split(path, "/")
	var kept []string
	for i, s := range segments {
		last := i == len(segments)-1
		switch strings.ReplaceAll(s, "%2e", ".") {
		case ".":
		case "..":
			kept = kept[:max(len(kept)-1, 0)]
		default:
			kept = append(kept, s)
			continue
		}
		if last {
			kept = append(kept, "")
		}
	}
	return strings.Join(kept, "/")
}

// Site returns what the keys of all URLs of a site begin with: "org,example)", "gopher://h/",
// "news:". That of a URL without a path is all of its key and a space.
func Site(l *Line) string {
	key := l.Key
	if i := strings.IndexByte(key, ')'); i >= 0 && IsWeb(l.URL) && !IsWeb(key) {
		return key[:i+1]
	}
	scheme, rest, _ := strings.Cut(key, ":")
	if authority, ok := strings.CutPrefix(rest, "//"); ok {
		host, _, ok := strings.Cut(authority, "/")
		if !ok {
			return key + " "
		}
		return scheme + "://" + host + "/"
	}
	return scheme + ":"
}

// After returns the least text that sorts after all texts that begin with prefix, or "".
func After(prefix string) string {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xFF {
			b[i]++
			return string(b[:i+1])
		}
	}
	return ""
}
