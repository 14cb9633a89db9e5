package client

import (
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
)

// FTPFetcher makes the Fetcher of ftp or ftps.
func FTPFetcher(o *plan.Operation, env *fetch.Env) *ftp.Fetcher {
	f := &ftp.Fetcher{
		Env: env, Exact: o.Exact, GuessType: o.FTP.Session.GuessType, DisableEPSV: o.FTP.Session.DisableEPSV,
		MaxIdle: idleSessions(o), ClearCommands: o.FTP.Session.ClearCommands, CheckHost: o.FTP.Session.Distrust,
		QuitTime:          -1, // nobody waits for a farewell
		DisablePipelining: o.FTP.Session.NoPipelining,
	}
	switch {
	case o.TLS.Require:
		f.Security = ftp.RequireTLS
	case o.TLS.Try:
		f.Security = ftp.TryTLS
	case o.TLS.Control:
		f.Security = ftp.RequireControl
	}
	if o.FTP.Session.Active != nil {
		active := *o.FTP.Session.Active
		active.DisableEPRT = o.FTP.Session.DisableEPRT
		f.Active = &active
	}
	return f
}

// Rewritten is an ftp or ftps URL with its path changed; other URLs stay.
func Rewritten(l locator.Locator, change func(*locator.FTP)) locator.Locator {
	path, ok := l.(*locator.FTP)
	if !ok {
		return l
	}
	changed := *path
	change(&changed)
	return &changed
}

// Secures tells whether what is said for l is under TLS, or nothing is said.
func Secures(o *plan.Operation, l locator.Locator) bool {
	scheme, _ := locator.SchemeOf(l.Scheme())
	_, isFTP := l.(*locator.FTP)
	return scheme.Secure || isFTP && (o.TLS.Require || o.TLS.Control && !o.TLS.Try)
}

// InDirectory is l with another name at its end; "" names the directory itself.
func InDirectory(l locator.Locator, name string) locator.Locator {
	if file, ok := l.(*locator.File); ok {
		other := *file
		last := len(file.Segments) - 1
		other.Segments = append(file.Segments[:last:last], name)
		return &other
	}
	return Rewritten(l, func(path *locator.FTP) {
		if path.Name = name; name == "" {
			path.Type = 0
		}
	})
}
