package fetch1738

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
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

// A Scheme is a row of the table of schemes. It creates the Fetcher for their URLs.
type Scheme struct {
	// Names are the schemes, in lower case, that the Fetcher serves.
	Names []string
	// Port is their default port, which the policy permits to their URLs. It is 0 for schemes in
	// [locator.Schemes] and for schemes without a port.
	Port uint16
	// New creates the Fetcher. It is called once, when one of the schemes is first used. It must
	// not use these schemes through the Resolver, which would deadlock. The Fetcher must connect
	// with env, which is the Resolver's Env with its policy filled in, or with a changed copy. If
	// the Fetcher has a field Env and it is nil, the Resolver panics, because its settings would
	// have no effect. If the Fetcher is an io.Closer, Close of the Resolver closes it. If New is
	// nil, the schemes are not supported.
	New func(env *fetch.Env) driver.Fetcher
}

// Builtin returns the table of the bundled schemes.
func Builtin() []Scheme {
	return []Scheme{
		{Names: []string{"ftp", "ftps"}, New: func(env *fetch.Env) driver.Fetcher { return &ftp.Fetcher{Env: env} }},
		{Names: []string{"http", "https"}, New: func(env *fetch.Env) driver.Fetcher { return &http.Fetcher{Env: env} }},
		{Names: []string{"gopher", "gophers"}, New: func(env *fetch.Env) driver.Fetcher { return &gopher.Fetcher{Env: env} }},
		{Names: []string{"file"}, New: func(env *fetch.Env) driver.Fetcher { return &file.Fetcher{Env: env} }},
		{Names: []string{"news", "nntp", "nntps", "snews"}, New: func(env *fetch.Env) driver.Fetcher { return &nntp.Fetcher{Env: env} }},
		{Names: []string{"wais"}, New: func(env *fetch.Env) driver.Fetcher { return &wais.Fetcher{Env: env} }},
		{Names: []string{"telnet"}, New: func(env *fetch.Env) driver.Fetcher { return &telnet.Fetcher{Env: env} }},
		{Names: []string{"mailto"}, New: func(env *fetch.Env) driver.Fetcher { return &mailto.Fetcher{Env: env} }},
		{Names: []string{"prospero"}, New: func(env *fetch.Env) driver.Fetcher { return &prospero.Fetcher{Env: env} }},
	}
}

// Schemes returns the names of the bundled schemes in alphabetical order.
func Schemes() (names []string) {
	for _, row := range Builtin() {
		names = append(names, row.Names...)
	}
	slices.Sort(names)
	return names
}

// Abilities are the operations that a scheme supports: those of RFC 1738 §2, Edit and Explain.
type Abilities struct{ Fetch, FindAttributes, Update, Replace, Edit, Explain bool }

// Can reports which methods of the Resolver work with URLs of a scheme. A server may still refuse
// them.
func (r *Resolver) Can(scheme string) Abilities {
	if _, ok := r.gateway(scheme); ok {
		return Abilities{Fetch: true, Explain: true}
	}
	f := r.fetcher(scheme)
	var can Abilities
	_, can.FindAttributes = f.(driver.AttributeFinder)
	_, can.Update = f.(driver.Updater)
	_, can.Replace = f.(driver.Replacer)
	_, can.Edit = f.(driver.Editor)
	_, can.Explain = f.(driver.Explainer)
	can.Fetch = f != nil
	return can
}

// Close ends the idle sessions of the Fetchers. Bodies can still be read, and the Resolver can be
// used again.
func (r *Resolver) Close() error {
	r.mu.Lock()
	created := slices.Clone(r.created)
	r.mu.Unlock()
	var errs []error
	for _, f := range created {
		if c, ok := f.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// served is a row of the table, under one of its names.
type served struct {
	fetcher func() driver.Fetcher // creates it once for all schemes of a row; nil if not supported
	port    uint16
}

// fetcher returns the Fetcher of a scheme; nil means that the scheme is not supported.
func (r *Resolver) fetcher(scheme string) driver.Fetcher {
	if s := r.table()[scheme]; s.fetcher != nil {
		return s.fetcher()
	}
	return nil
}

// table returns the table of schemes. Its Fetchers are created when they are first used.
func (r *Resolver) table() map[string]served {
	r.once.Do(func() {
		r.policy = driver.NewPolicy(r.allow)
		env := r.Env
		env.Allow = r.policy.Allow
		if r.Proxy != nil {
			env.Dial = r.dialProxied
		}
		r.shared = &env
		r.schemes = make(map[string]served)
		r.enter(r.Schemes, false)
		r.enter(Builtin(), true)
	})
	if r.wrong != "" {
		panic(r.wrong)
	}
	return r.schemes
}

// env returns the Env of the Resolver itself: with the policy, and with the proxies.
func (r *Resolver) env() *driver.Env {
	r.table()
	return driver.NewEnv(r.shared)
}

// withPolicy returns a copy of ctx that carries the policy of r to every Fetcher.
func (r *Resolver) withPolicy(ctx context.Context) context.Context {
	r.table()
	return r.policy.With(ctx)
}

// enter adds rows to the table. If skip is set, it skips names that are in the table already.
func (r *Resolver) enter(rows []Scheme, skip bool) {
	for _, row := range rows {
		names := slices.Clone(row.Names)
		if skip {
			names = slices.DeleteFunc(names, func(name string) bool { _, taken := r.schemes[name]; return taken })
		}
		s := served{port: row.Port}
		if row.New != nil {
			s.fetcher = sync.OnceValue(func() driver.Fetcher { return r.open(row.New, names) })
		}
		for _, name := range names {
			if _, taken := r.schemes[name]; taken || name == "" {
				r.wrong = fmt.Sprintf("fetch1738: Schemes has an empty or repeated scheme %q", name)
			}
			r.schemes[name] = s
		}
	}
}

// open creates the Fetcher of the schemes names, and keeps it for Close.
func (r *Resolver) open(makeFetcher func(*fetch.Env) driver.Fetcher, names []string) driver.Fetcher {
	env := *r.shared
	f := makeFetcher(&env)
	if lacksEnv(f) {
		panic(fmt.Sprintf("fetch1738: the Fetcher of %q has no Env; New must pass on the one it receives", names))
	}
	if web, ok := f.(*http.Fetcher); ok && web.Proxy == nil && r.Proxy != nil {
		web.Proxy = r.webProxy
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.created = append(r.created, f)
	return f
}

// lacksEnv reports whether a Fetcher has a nil field Env. The bundled Fetchers have such a field.
func lacksEnv(f driver.Fetcher) bool {
	v := reflect.Indirect(reflect.ValueOf(f))
	if v.Kind() != reflect.Struct {
		return false
	}
	field, ok := v.Type().FieldByName("Env")
	if !ok || len(field.Index) != 1 {
		return false
	}
	env, ok := v.FieldByIndex(field.Index).Interface().(*fetch.Env)
	return ok && env == nil
}

// allow is the policy. It adds the default port from the rows of Schemes to t.
func (r *Resolver) allow(ctx context.Context, t fetch.Target) error {
	if t.Locator != nil {
		t.DefaultPort = r.table()[t.Locator.Scheme()].port
	}
	if r.Env.Allow != nil {
		return r.Env.Allow(ctx, t)
	}
	return policy.User(ctx, t)
}
