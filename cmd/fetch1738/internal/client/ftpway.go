package client

import (
	"slices"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
)

// FTPFetcher returns the Fetcher of ftp and ftps, which keeps at most idle sessions; 0 means the default.
func FTPFetcher(o *plan.Connections, idle int, env *fetch.Env) *ftp.Fetcher {
	f := &ftp.Fetcher{
		Env: env, Exact: o.Exact, GuessType: o.FTPSession.GuessType, DisableEPSV: o.FTPSession.DisableEPSV,
		MaxIdle: idle, ClearCommands: o.FTPSession.ClearCommands, CheckHost: o.FTPSession.Distrust,
		QuitTime:          -1, // a reply to QUIT costs a round trip at the end of each run
		DisablePipelining: o.FTPSession.NoPipelining,
	}
	switch {
	case o.TLS.Require:
		f.Security = ftp.RequireTLS
	case o.TLS.Try:
		f.Security = ftp.TryTLS
	case o.TLS.Control:
		f.Security = ftp.RequireControl
	}
	if o.FTPSession.Active != nil {
		active := *o.FTPSession.Active
		active.DisableEPRT = o.FTPSession.DisableEPRT
		f.Active = &active
	}
	return f
}

// Rewritten returns an ftp or ftps URL with its path changed, or any other URL as it is.
func Rewritten(l locator.Locator, change func(*locator.FTP)) locator.Locator {
	path, ok := l.(*locator.FTP)
	if !ok {
		return l
	}
	changed := *path
	change(&changed)
	return &changed
}

// AsFolder returns the call's ftp or ftps URL with a slash at its end.
func (c *Call) AsFolder() locator.Locator {
	return Rewritten(c.Locator, func(path *locator.FTP) {
		path.CWD = append(slices.Clip(path.CWD), path.Name)
		path.Name, path.Type = "", 0
	})
}

// Secures reports whether the conversation for l is encrypted.
func Secures(o *plan.TLS, l locator.Locator) bool {
	scheme, _ := locator.SchemeOf(l.Scheme())
	_, isFTP := l.(*locator.FTP)
	return scheme.Secure || isFTP && (o.Require || o.Control && !o.Try)
}

// InDirectory returns l with another last name; "" means the directory itself.
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
