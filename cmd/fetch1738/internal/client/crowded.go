package client

import (
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/locator"
)

// SaysTooMany reports whether a reply of an FTP or news server means that there are too many
// connections, or whether it has sent no greeting while it had other sessions.
func SaysTooMany(l locator.Locator, e *fetch.Error) bool {
	wording := strings.ToLower(e.Reply)
	saysSo := strings.Contains(wording, "too many") || strings.Contains(wording, "maximum") || strings.Contains(wording, "limit")
	switch {
	case IsHTTP(l):
		return false
	case e.Kind == fetch.ErrBusy && e.Op == fetch.OpConnect && e.Code == 0: // no greeting
		return true
	case e.Code == 421: // FTP: "Service not available, closing control connection"
		return true
	case entry.IsNews(l):
		return (e.Code == 400 || e.Code == 502) && saysSo
	}
	return e.Code == 530 && saysSo
}
