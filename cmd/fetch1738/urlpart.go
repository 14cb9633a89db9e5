package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/locator"
)

// isURLPart reports whether -w knows a part of URLs by that name.
func isURLPart(name string) bool {
	return slices.Contains([]string{"scheme", "user", "password", "options", "host", "port", "path", "query", "fragment", "zoneid"}, name)
}

// urlPartOf is a part of a URL as it stands there (RFC 3986 §3), or "". A port
// that is left out is that of the scheme.
func urlPartOf(url, name string) string {
	scheme, rest, found := strings.Cut(url, ":")
	if !found {
		return ""
	}
	scheme = strings.ToLower(scheme)
	rest, fragment, _ := strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	rest, hasServer := strings.CutPrefix(rest, "//")
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
	user, password, _ := strings.Cut(login, ":")
	port := ""
	if colon := strings.LastIndexByte(host, ':'); colon > strings.LastIndexByte(host, ']') {
		host, port = host[:colon], host[colon+1:]
	}
	if known := locator.DefaultPort(scheme); port == "" && known != 0 && hasServer {
		port = strconv.Itoa(int(known))
	}
	host, zone, zoned := strings.Cut(host, "%25")
	if zoned {
		zone = strings.TrimSuffix(zone, "]")
		host += "]"
	}
	return map[string]string{
		"scheme": scheme, "user": user, "password": password, "host": host, "port": port,
		"path": path, "query": query, "fragment": fragment, "zoneid": zone,
	}[name]
}

// withoutPassword is the text of l, as it was typed, with "***" for its password.
// Where it is no URL, l being nil, that is whatever may be one.
func withoutPassword(text string, l locator.Locator) string {
	if scheme, rest, found := strings.Cut(text, ":"); l == nil && found {
		return (&locator.Opaque{Name: scheme, Rest: rest}).Redacted()
	}
	from := strings.Index(text, "//") + len("//")
	if from < len("//") {
		if from = 0; l == nil || hasPrefixFold(text, l.Scheme()+":") {
			return text
		}
	}
	server, _, _ := strings.Cut(text[from:], "/")
	user, rest, _ := strings.Cut(server, ":")
	from += len(user) + len(":")
	if end := strings.LastIndexByte(rest, '@'); end > 0 {
		return text[:from] + "***" + text[from+end:]
	}
	return text
}
