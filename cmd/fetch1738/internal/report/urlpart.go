package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/locator"
)

// isURLPart reports whether -w has a part of URLs with that name.
func isURLPart(name string) bool {
	return slices.Contains([]string{"scheme", "user", "password", "options", "host", "port", "path", "query", "fragment", "zoneid"}, name)
}

// A shownURL is a URL as -w shows it: as typed, with "***" in place of a password.
type shownURL struct {
	text     string // with its scheme
	guessed  int    // length of an assumed scheme at the start of text
	password string // as typed
}

// maskedURL returns a typed URL. If it is not a URL, anything that may be a password
// is masked.
func maskedURL(o *plan.Operation, typed string) shownURL {
	url, err := o.Reading.WithScheme(typed)
	if err != nil {
		url = typed
	}
	from, to := locator.Parser{Tolerate: locator.TolerateUsual}.FindPassword(url)
	if from == to {
		return shownURL{text: url, guessed: len(url) - len(typed)}
	}
	return shownURL{url[:from] + "***" + url[to:], len(url) - len(typed), url[from:to]}
}

// typed returns the URL without an assumed scheme.
func (u shownURL) typed() string { return u.text[u.guessed:] }

// part returns a part of the URL as typed (RFC 3986 section 3), or "". The default
// port is that of the scheme.
func (u shownURL) part(name string) string {
	if name == "password" {
		return u.password
	}
	scheme, rest, found := strings.Cut(u.text, ":")
	if !found {
		return ""
	}
	scheme = strings.ToLower(scheme)
	rest, fragment, _ := strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	rest, hasServer := strings.CutPrefix(rest, "//")
	known := locator.DefaultPort(scheme)
	if !hasServer && known != 0 && scheme != "news" && scheme != "snews" {
		rest, hasServer = strings.TrimPrefix(rest, "/"), true // the Parser tolerates missing slashes
	}
	server, path, slash := strings.Cut(rest, "/")
	switch {
	case !hasServer:
		server, path = "", rest
	case slash || server != "":
		path = "/" + path
	}
	login, host := "", server
	if at := strings.LastIndexByte(server, '@'); at >= 0 {
		login, host = server[:at], server[at+1:]
	}
	user, _, _ := strings.Cut(login, ":")
	port := ""
	if colon := strings.LastIndexByte(host, ':'); colon > strings.LastIndexByte(host, ']') {
		host, port = host[:colon], host[colon+1:]
	}
	if port == "" && known != 0 && hasServer {
		port = strconv.Itoa(int(known))
	}
	zone := ""
	if addr, rest, zoned := strings.Cut(host, "%"); zoned && strings.HasPrefix(addr, "[") {
		host, zone = addr+"]", strings.TrimSuffix(strings.TrimPrefix(rest, "25"), "]")
	}
	return map[string]string{
		"scheme": scheme, "user": user, "host": host, "port": port,
		"path": path, "query": query, "fragment": fragment, "zoneid": zone,
	}[name]
}
