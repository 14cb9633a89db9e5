package scale

import (
	"strings"

	"github.com/fetch1738/fetch1738/locator"
)

// Units divides the URLs among units.
type Units struct {
	// Accounts are the news servers with a limit of connections for each login: host → number. Their
	// units are newsgroups, not hosts.
	Accounts map[string]int
}

// Of returns the name of the unit of a URL: its host, in lower case, whatever the port; or
// "HOST/GROUP" for a newsgroup of a server with an account. It is "" for a URL without a host.
func (u Units) Of(l locator.Locator) string {
	at, _ := locator.ServerOf(l)
	host := strings.ToLower(strings.TrimSuffix(at.Host, "."))
	if n, ok := l.(*locator.NNTP); ok && u.Accounts[host] > 0 {
		return host + "/" + n.Group
	}
	return host
}

// host returns the host of a unit.
func host(unit string) string {
	name, _, _ := strings.Cut(unit, "/")
	return name
}
