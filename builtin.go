package fetch1738

import (
	"context"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/file"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/fetch/mailto"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/fetch/prospero"
	"github.com/fetch1738/fetch1738/fetch/telnet"
	"github.com/fetch1738/fetch1738/fetch/wais"
	"github.com/fetch1738/fetch1738/policy"
)

// Builtin is a new Registry of the bundled Fetchers, working in env; nil is the
// zero Env. A nil env.Allow is policy.User, or, within a Resolver, the Resolver's
// policy. Close the Registry to end idle sessions.
func Builtin(env *fetch.Env) *fetch.Registry {
	e := fetch.Env{}
	if env != nil {
		e = *env
	}
	if e.Allow == nil {
		e.Allow = userUnlessGuarded
	}
	r := new(fetch.Registry)
	r.Register(&file.Fetcher{Env: &e}, "file")
	r.Register(&ftp.Fetcher{Env: &e}, "ftp", "ftps")
	r.Register(&gopher.Fetcher{Env: &e}, "gopher", "gophers")
	r.Register(&http.Fetcher{Env: &e}, "http", "https")
	r.Register(&nntp.Fetcher{Env: &e}, "news", "nntp", "nntps", "snews")
	r.Register(&wais.Fetcher{Env: &e}, "wais")
	r.Register(&mailto.Fetcher{Env: &e}, "mailto")
	r.Register(&telnet.Fetcher{Env: &e}, "telnet")
	r.Register(&prospero.Fetcher{Env: &e}, "prospero")
	return r
}

// userUnlessGuarded is policy.User where the context has no policy of its own.
func userUnlessGuarded(ctx context.Context, t fetch.Target) error {
	if fetch.ContextAllow(ctx) != nil {
		return nil // Env.Permit has asked it
	}
	return policy.User(ctx, t)
}
