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

// The policy that a context carries by WithPolicy is asked once for its own Env, and together with
// that of any other one. That of another Env counts for a copy of it too.
func TestWithPolicy(t *testing.T) {
	own, other := newAsking(never), newAsking(never)
	ctx := driver.WithPolicy(driver.WithPolicy(t.Context(), &own.Env), &own.Env)
	changed := other.Env
	for name, tt := range map[string]struct {
		ctx       context.Context
		env       *fetch.Env
		own, more int
	}{
		"its own Env":    {ctx, &own.Env, 1, 0},
		"another one":    {ctx, &other.Env, 1, 1},
		"a copy":         {ctx, &changed, 1, 1},
		"no Env":         {ctx, nil, 1, 0},
		"both":           {driver.WithPolicy(ctx, &other.Env), &other.Env, 1, 1},
		"no such policy": {t.Context(), &own.Env, 1, 0},
	} {
		own.targets, other.targets = nil, nil
		if err := driver.NewEnv(tt.env).Permit(tt.ctx, hosted("h", 1)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(own.targets) != tt.own || len(other.targets) != tt.more {
			t.Errorf("%s: asked %d and %d times", name, len(own.targets), len(other.targets))
		}
	}
}
