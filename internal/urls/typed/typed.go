// Package typed reads the URLs that people type: without a scheme, or with a misspelt one. The
// command line and the gateway share it.
package typed

import (
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/locator"
)

// HasScheme reports whether text begins with a scheme. "host:21/x" does not: if a port number
// follows the colon, only a known scheme counts.
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

// HasKnownScheme reports whether text begins with a scheme of a URL that can be fetched. "C:\x"
// does not, nor does "host:/x".
func HasKnownScheme(text string) bool {
	name, _, found := strings.Cut(text, ":")
	_, known := locator.SchemeOf(strings.ToLower(name))
	return found && known
}

// GuessScheme guesses the scheme of a text without one from its host name, as curl does. It returns
// "" for a text that may be a mail address or contain a password: an "@" follows a ":", or comes
// before the path.
func GuessScheme(text string) string {
	server := text[:strings.IndexAny(text+"#", "/?#")]
	switch {
	case strings.Contains(text, "@") && strings.ContainsAny(server, ":@"):
		return ""
	case hasPrefixFold(text, "ftp."):
		return "ftp"
	case hasPrefixFold(text, "gopher."):
		return "gopher"
	}
	return "http"
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// NearestScheme returns the one of schemes that a misspelt scheme probably means. It returns "" for one
// of schemes, for a scheme of another protocol, such as sftp, and for what looks like none of them.
func NearestScheme(scheme string, schemes []string) string {
	if slices.Contains(schemes, scheme) || slices.Contains(otherProtocols, scheme) {
		return ""
	}
	return NearestShort(scheme, schemes)
}

var otherProtocols = []string{"afp", "nfs", "rtp", "rtsp", "scp", "sftp", "smb", "smtp", "tftp", "ws", "wss"}
