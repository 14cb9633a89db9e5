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

// A Scheme is a row of the table of schemes: who fetches their URLs.
type Scheme struct {
	// Names are the schemes, in lower case, that one Fetcher is for.
	Names []string
	// Port is their default port, which the policy permits to their URLs. 0 is for
	// schemes that package locator knows, or without a port.
	Port uint16
	// New makes the Fetcher. It is called once, when one of the schemes is first used,
	// and must not use them by the Resolver itself, which would wait for New. The
	// Fetcher goes out by env, which is the Resolver's with its policy filled in, or by
	// a changed copy of it; one whose field Env is nil panics, as it would ignore all
	// of that. If it is an io.Closer, the Resolver closes it. A nil New takes the
	// schemes away.
	New func(env *fetch.Env) fetch.Fetcher
}

// Builtin is the table of the bundled schemes.
func Builtin() []Scheme {
	return []Scheme{
		{Names: []string{"ftp", "ftps"}, New: func(env *fetch.Env) fetch.Fetcher { return &ftp.Fetcher{Env: env} }},
		{Names: []string{"http", "https"}, New: func(env *fetch.Env) fetch.Fetcher { return &http.Fetcher{Env: env} }},
		{Names: []string{"gopher", "gophers"}, New: func(env *fetch.Env) fetch.Fetcher { return &gopher.Fetcher{Env: env} }},
		{Names: []string{"file"}, New: func(env *fetch.Env) fetch.Fetcher { return &file.Fetcher{Env: env} }},
		{Names: []string{"news", "nntp", "nntps", "snews"}, New: func(env *fetch.Env) fetch.Fetcher { return &nntp.Fetcher{Env: env} }},
		{Names: []string{"wais"}, New: func(env *fetch.Env) fetch.Fetcher { return &wais.Fetcher{Env: env} }},
		{Names: []string{"telnet"}, New: func(env *fetch.Env) fetch.Fetcher { return &telnet.Fetcher{Env: env} }},
		{Names: []string{"mailto"}, New: func(env *fetch.Env) fetch.Fetcher { return &mailto.Fetcher{Env: env} }},
		{Names: []string{"prospero"}, New: func(env *fetch.Env) fetch.Fetcher { return &prospero.Fetcher{Env: env} }},
	}
}

// Schemes lists the bundled schemes in alphabetical order.
func Schemes() (names []string) {
	for _, row := range Builtin() {
		names = append(names, row.Names...)
	}
	slices.Sort(names)
	return names
}

// Abilities are the operations that there are for a scheme: those of RFC 1738
// section 2, and Explain.
type Abilities struct{ Fetch, FindAttributes, Update, Replace, Explain bool }

// Can tells what the methods of that name can do with URLs of a scheme. Which of
// them a server permits is another matter.
func (r *Resolver) Can(scheme string) Abilities {
	if _, ok := r.gateway(scheme); ok {
		return Abilities{Fetch: true, Explain: true}
	}
	f := r.fetcher(scheme)
	var can Abilities
	_, can.FindAttributes = f.(fetch.AttributeFinder)
	_, can.Update = f.(fetch.Updater)
	_, can.Replace = f.(fetch.Replacer)
	_, can.Explain = f.(fetch.Explainer)
	can.Fetch = f != nil
	return can
}

// Close ends idle sessions of the Fetchers. Bodies still being read are not
// disturbed, and the Resolver can be used again.
func (r *Resolver) Close() error {
	r.mu.Lock()
	made := slices.Clone(r.made)
	r.mu.Unlock()
	var errs []error
	for _, f := range made {
		if c, ok := f.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// served is a scheme.
type served struct {
	fetcher func() fetch.Fetcher // makes it, once for all schemes of a row; nil for one that was taken away
	port    uint16
}

// fetcher is that of a scheme, nil where there is none.
func (r *Resolver) fetcher(scheme string) fetch.Fetcher {
	if s := r.table()[scheme]; s.fetcher != nil {
		return s.fetcher()
	}
	return nil
}

// table is made once. The Fetchers in it are not made yet.
func (r *Resolver) table() map[string]served {
	r.once.Do(func() {
		env := r.Env
		env.Allow = func(ctx context.Context, t fetch.Target) error {
			if fetch.ContextAllow(ctx) != nil {
				return nil // Env.Permit has asked it, and that is the Resolver's
			}
			return r.allow(ctx, t)
		}
		r.schemes = make(map[string]served)
		r.enter(&env, r.Schemes, false)
		r.enter(&env, Builtin(), true)
	})
	if r.wrong != "" {
		panic(r.wrong)
	}
	return r.schemes
}

// enter adds rows to the table, without the names that are there already if
// those come first.
func (r *Resolver) enter(env *fetch.Env, rows []Scheme, behind bool) {
	for _, row := range rows {
		names := slices.Clone(row.Names)
		if behind {
			names = slices.DeleteFunc(names, func(name string) bool { _, taken := r.schemes[name]; return taken })
		}
		s := served{port: row.Port}
		if row.New != nil {
			s.fetcher = sync.OnceValue(func() fetch.Fetcher { return r.open(env, row.New, names) })
		}
		for _, name := range names {
			if _, taken := r.schemes[name]; taken || name == "" {
				r.wrong = fmt.Sprintf("fetch1738: Schemes has an empty or repeated scheme %q", name)
			}
			r.schemes[name] = s
		}
	}
}

// open makes the Fetcher of schemes, for Close to close.
func (r *Resolver) open(env *fetch.Env, makeFetcher func(*fetch.Env) fetch.Fetcher, names []string) fetch.Fetcher {
	f := makeFetcher(env)
	if lacksEnv(f) {
		panic(fmt.Sprintf("fetch1738: the Fetcher of %q has no Env; New must pass on the one it receives", names))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made = append(r.made, f)
	return f
}

// lacksEnv reports whether a Fetcher has a field for an Env, as the bundled ones
// do, and none in it.
func lacksEnv(f fetch.Fetcher) bool {
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

// allow is the policy, which is told the default ports of own schemes.
func (r *Resolver) allow(ctx context.Context, t fetch.Target) error {
	if t.Locator != nil {
		t.DefaultPort = r.table()[t.Locator.Scheme()].port
	}
	if r.Env.Allow != nil {
		return r.Env.Allow(ctx, t)
	}
	return policy.User(ctx, t)
}
