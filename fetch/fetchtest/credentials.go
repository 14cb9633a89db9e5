package fetchtest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/check"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/unreliable"
	"github.com/fetch1738/fetch1738/locator"
)

// testCredentials tests that passwords go to the server that requests them, for the user they
// belong to, and nowhere else. Every fetch of every group checks that errors and hooks do not show
// them.
func testCredentials(t *testing.T, s *subject) {
	if s.site.Locate(small) != nil && !s.Local {
		testSecrets(t, s)
	}
	if !s.logins || s.site.Locate(small) == nil {
		return
	}
	as := func(name string, f func(*fixture)) { subtestAs(t, s, name, &check.Login, f) }
	as("in the locator", func(fx *fixture) {
		check.Octets(fx, "a login", fx.get(fx.ctx(), withLogin(fx.site, &check.Login)), s.want(small))
	})
	as("asked for", func(fx *fixture) {
		asked := answerWith(fx, check.Login, nil)
		for _, l := range []locator.Locator{withLogin(fx.site, &locator.Login{User: check.Login.User}), withLogin(fx.site, nil)} {
			check.Octets(fx, "a login", fx.get(fx.ctx(), l), s.want(small))
		}
		if asked.Load() == 0 {
			fx.Log("Env.Credentials is not called for a locator without a user name")
		}
	})
	as("wrong", func(fx *fixture) {
		l := withLogin(fx.site, &locator.Login{User: check.Login.User, Password: check.Mistaken, HasPassword: true})
		checkUnauthenticated(fx, fx.get(fx.ctx(), l))
		check.Octets(fx, "the right login after a wrong one", fx.get(fx.ctx(), withLogin(fx.site, &check.Login)), s.want(small))
		checkUnauthenticated(fx, fx.get(fx.ctx(), l)) // must not use the other user's session
	})
	as("none", func(fx *fixture) {
		checkUnauthenticated(fx, fx.get(fx.ctx(), withLogin(fx.site, &locator.Login{User: check.Login.User})))
		check.Octets(fx, "the right login", fx.get(fx.ctx(), withLogin(fx.site, &check.Login)), s.want(small))
		checkUnauthenticated(fx, fx.get(fx.ctx(), withLogin(fx.site, nil)))
	})
	as("refused by the user", func(fx *fixture) {
		cause := errors.New("not today")
		answerWith(fx, locator.Login{}, cause)
		a := fx.get(fx.ctx(), withLogin(fx.site, &locator.Login{User: check.Login.User}))
		checkUnauthenticated(fx, a)
		if a.Err != nil && !errors.Is(a.Err, cause) {
			fx.Errorf("the error does not wrap the error of Env.Credentials: %v", a.Err)
		}
	})
	as("asked for, with bytes that end a command", testUnsendable)
	as("cancelled while asking", func(fx *fixture) {
		ctx, cancel := context.WithCancel(fx.Context())
		defer cancel()
		fx.env.Credentials = func(ctx context.Context, c fetch.Challenge) (locator.Login, error) {
			cancel()
			<-ctx.Done()
			return locator.Login{}, ctx.Err()
		}
		check.Kind(fx, "a cancelled prompt", fx.get(ctx, withLogin(fx.site, &locator.Login{User: check.Login.User})), fetch.ErrCanceled)
	})
}

// testUnsendable has Credentials return bytes that a line of the protocol cannot carry. None of
// them may be sent, not even escaped.
func testUnsendable(fx *fixture) {
	begun := base64.StdEncoding.EncodeToString([]byte(check.Login.User + ":" + check.Password)[:12]) // the beginning of a Basic login
	for _, bad := range []string{"\x00", "\r", "\n", "\r\nDELE x", "\n\x00"} {
		for what, given := range map[string]locator.Login{
			"password":  {User: check.Login.User, Password: check.Password + bad},
			"user name": {User: check.Password + bad, Password: check.Password},
		} {
			fx.env.Credentials = func(context.Context, fetch.Challenge) (locator.Login, error) { return given, nil }
			asked := []locator.Locator{withLogin(fx.site, nil)}
			if what == "password" {
				asked = append(asked, withLogin(fx.site, &locator.Login{User: check.Login.User}))
			}
			for _, l := range asked {
				before := fx.net.Established()
				check.Kind(fx, fmt.Sprintf("a %s with %q", what, bad), fx.get(fx.ctx(), l), fetch.ErrBadURL, fetch.ErrUnauthenticated)
				for _, c := range fx.net.Since(before) {
					if sent := string(c.Sent()); strings.Contains(sent, check.Password) || strings.Contains(sent, begun) {
						fx.Errorf("a %s with %q was sent to the server; the fetch must fail before that: %q", what, bad, sent)
					}
				}
			}
			fx.close()
		}
	}
}

// withLogin returns the locator of the small document with a login.
func withLogin(site *Site, login *locator.Login) locator.Locator {
	l, _ := locator.WithLogin(site.Locate(small), login)
	return l
}

// answerWith makes Env.Credentials return one answer, and counts the calls.
func answerWith(fx *fixture, login locator.Login, err error) *atomic.Int32 {
	var asked atomic.Int32
	fx.env.Credentials = func(_ context.Context, c fetch.Challenge) (locator.Login, error) {
		asked.Add(1)
		if c.Locator == nil || c.User != "" && c.User != login.User && err == nil {
			fx.Errorf("Env.Credentials was called with %+v; it must have the Locator and the user", c)
		}
		return login, err
	}
	return &asked
}

func checkUnauthenticated(t testing.TB, a check.Answer) {
	t.Helper()
	check.Kind(t, "a fetch without the password", a, fetch.ErrUnauthenticated)
	if a.Err != nil && !errors.Is(a.Err, fs.ErrPermission) {
		t.Errorf("errors.Is(err, fs.ErrPermission) must be true for %v", a.Err)
	}
}

// testSecrets causes many failures with a password in the locator; check.Error examines every
// error.
func testSecrets(t *testing.T, s *subject) {
	fails := func(name string, dial unreliable.DialFunc, prepare func(*fixture)) {
		subtestAlone(t, s, "secret, "+name, dial, func(fx *fixture) {
			l, ok := locator.WithLogin(fx.site.Locate(small), &check.Login)
			if !ok {
				return
			}
			prepare(fx)
			if a := fx.get(fx.ctx(), l); a.Err == nil && !s.EndsWithClose {
				fx.Errorf("%s: the fetch returned no error; want one", name)
			}
		})
	}
	nothing := func(*fixture) {}
	fails("no connection", unreliable.Refuse, nothing)
	fails("silence", unreliable.Peer(unreliable.SayNothing), nothing)
	fails("close", unreliable.Peer(unreliable.Say("")), nothing)
	fails("garbage", unreliable.Peer(unreliable.Say("\x00garbage\r\n")), nothing)
	fails("policy", unreliable.Refuse, func(fx *fixture) {
		fx.env.Allow = func(context.Context, fetch.Target) error { return errDenied }
	})
}
