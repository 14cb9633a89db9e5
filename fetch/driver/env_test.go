package driver_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

func TestPermit(t *testing.T) {
	if err := driver.NewEnv(nil).Permit(t.Context(), hosted("h", 1)); err != nil {
		t.Error(err)
	}
	env := newAsking(func(fetch.Target) bool { return true })
	wantKind(t, driver.NewEnv(&env.Env).Permit(t.Context(), hosted("h", 1)), fetch.ErrRefused)
}

// The policy of a context applies to every Env, also to a nil one. Both must permit.
func TestWithAllow(t *testing.T) {
	refuse := func(port uint16) func(context.Context, fetch.Target) error {
		return func(_ context.Context, t fetch.Target) error {
			if t.Port == port {
				return fmt.Errorf("no port %d", port)
			}
			return nil
		}
	}
	ctx := fetch.WithAllow(fetch.WithAllow(t.Context(), refuse(1)), refuse(2))
	ctx = fetch.WithAllow(ctx, nil)
	for port, want := range map[uint16]bool{1: false, 2: false, 3: true, 4: true} {
		for _, env := range []*fetch.Env{nil, {}, {Allow: refuse(3)}} {
			want := want && (env == nil || env.Allow == nil || port != 3)
			if err := driver.NewEnv(env).Permit(ctx, fetch.Target{Port: port}); (err == nil) != want || err != nil && !errors.Is(err, fetch.ErrRefused) {
				t.Errorf("port %d by %v: %v", port, env, err)
			}
		}
	}
	port := listen(t)
	env := &fetch.Env{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		return (&net.Dialer{ControlContext: fetch.DialControl}).DialContext(ctx, network, address)
	}}
	onlyNames := fetch.WithAllow(t.Context(), func(_ context.Context, t fetch.Target) error {
		if t.Addr.IsValid() {
			return errors.New("no address")
		}
		return nil
	})
	if c, err := driver.NewEnv(env).Connect(onlyNames, fetch.Target{Host: "127.0.0.1", Port: port}); !errors.Is(err, fetch.ErrRefused) {
		t.Errorf("an address that the context's policy refuses: %v, %v", c, err)
	}
}

func TestLogin(t *testing.T) {
	challenge := fetch.Challenge{Locator: url, User: "lab", Text: "realm"}
	login := locator.Login{User: "lab", Password: "hunter2", HasPassword: true}
	answer := func(l locator.Login, err error) *fetch.Env {
		return &fetch.Env{Credentials: func(_ context.Context, c fetch.Challenge) (locator.Login, error) {
			if c != challenge {
				t.Errorf("asked for %+v", c)
			}
			return l, err
		}}
	}
	if got, err := driver.NewEnv(answer(login, nil)).Login(t.Context(), challenge); got != login || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	for _, env := range []*fetch.Env{nil, {}, answer(login, errors.New("no terminal"))} {
		got, err := driver.NewEnv(env).Login(t.Context(), challenge)
		if e := wantKind(t, err, fetch.ErrUnauthenticated); got != (locator.Login{}) || strings.Contains(e.Error(), "hunter2") {
			t.Errorf("got %v, %v", got, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := driver.NewEnv(answer(login, errors.New("interrupted"))).Login(ctx, challenge)
	wantKind(t, err, fetch.ErrCanceled)
}

// TestTLSConfig: a Fetcher receives a copy that it may change.
func TestTLSConfig(t *testing.T) {
	shared, unreadable := &tls.Config{ServerName: "h.example"}, errors.New("unreadable")
	returning := func(c *tls.Config, err error) *fetch.Env {
		return &fetch.Env{TLS: func() (*tls.Config, error) { return c, err }}
	}
	for name, tt := range map[string]struct {
		env    *fetch.Env
		server string
		err    error
	}{
		"no Env":    {},
		"no TLS":    {env: new(fetch.Env)},
		"no Config": {env: returning(nil, nil)},
		"a Config":  {env: returning(shared, nil), server: "h.example"},
		"an error":  {env: returning(nil, unreadable), err: unreadable},
		"both":      {env: returning(shared, unreadable), err: unreadable},
	} {
		config, err := driver.NewEnv(tt.env).TLSConfig()
		if err != tt.err || (config == nil) != (err != nil) {
			t.Errorf("%s: %v, %v", name, config, err)
		}
		if config == nil {
			continue
		}
		if config.ServerName != tt.server || config.InsecureSkipVerify {
			t.Errorf("%s: %+v", name, config)
		}
		config.ServerName = "changed"
	}
	if shared.ServerName != "h.example" {
		t.Error("the Config of TLS was changed")
	}
}

func TestNewEnv(t *testing.T) {
	if e := driver.NewEnv(nil); e.Email != "anonymous@" || e.Limits.Reply != time.Minute {
		t.Errorf("a nil Env becomes %+v", e)
	}
	own := fetch.Env{Email: "me@h", Limits: fetch.Limits{Reply: 1}}
	if e := driver.NewEnv(&own); e.Email != "me@h" || e.Limits.Reply != 1 {
		t.Errorf("an Env becomes %+v", e)
	}
	if own.Limits.Idle != 0 {
		t.Error("NewEnv has changed its argument")
	}
}

// A mixed is a context with the values of two.
type mixed struct {
	context.Context
	first context.Context
}

func (m mixed) Value(key any) any {
	if v := m.first.Value(key); v != nil {
		return v
	}
	return m.Context.Value(key)
}

// A Trace of one context does not hide the policy of another one with which it is mixed.
func TestPolicyMixed(t *testing.T) {
	refuses := newAsking(func(fetch.Target) bool { return true })
	traced := fetch.WithTrace(context.Background(), new(fetch.Trace))
	ctx := mixed{fetch.WithAllow(t.Context(), refuses.Allow), traced}
	wantKind(t, driver.NewEnv(nil).Permit(ctx, hosted("h", 1)), fetch.ErrRefused)
}

// A Policy is asked once: by the context, or by the Allow of an Env, also by that of a copy. Another
// Env is asked too, and so is what a Fetcher has made of its Env.
func TestPolicy(t *testing.T) {
	asked, other := 0, newAsking(never)
	p := driver.NewPolicy(func(context.Context, fetch.Target) error { asked++; return nil })
	ctx := p.With(p.With(t.Context()))
	own := &fetch.Env{Allow: p.Allow}
	changed := *own
	changed.Email = "me@h"
	narrowed := driver.NewEnv(own)
	narrowed.Allow = other.Allow
	for name, tt := range map[string]struct {
		ctx       context.Context
		env       *driver.Env
		own, more int
	}{
		"its Env":        {ctx, driver.NewEnv(own), 1, 0},
		"a changed copy": {ctx, driver.NewEnv(&changed), 1, 0},
		"narrowed":       {ctx, narrowed, 1, 1},
		"another one":    {ctx, driver.NewEnv(&other.Env), 1, 1},
		"no Env":         {ctx, driver.NewEnv(nil), 1, 0},
		"detached":       {t.Context(), driver.NewEnv(own), 1, 0},
		"another policy": {fetch.WithAllow(t.Context(), other.Allow), driver.NewEnv(own), 1, 1},
		"traced":         {fetch.WithTrace(ctx, new(fetch.Trace)), driver.NewEnv(own), 1, 0},
	} {
		asked, other.targets = 0, nil
		if err := tt.env.Permit(tt.ctx, hosted("h", 1)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if asked != tt.own || len(other.targets) != tt.more {
			t.Errorf("%s: asked %d and %d times", name, asked, len(other.targets))
		}
	}
}
