package http

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// gives returns an Env.Credentials that knows one login.
func gives(user, password string) func(context.Context, fetch.Challenge) (locator.Login, error) {
	return func(context.Context, fetch.Challenge) (locator.Login, error) {
		return locator.Login{User: user, Password: password, HasPassword: true}, nil
	}
}

// guarded returns a server that requires a login.
func guarded(user, password, body string) server {
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	return func(v *received) string {
		v.body()
		if v.field("Authorization") != want {
			return status("401 Unauthorized", "no", `WWW-Authenticate: Digest realm="d", nonce="1"`, `WWW-Authenticate: Basic realm="the lab"`)
		}
		return document(body)
	}
}

func TestLogin(t *testing.T) {
	for _, tc := range []struct {
		name, url string
		user      string // in the challenge
		requests  int
	}{
		{"in the locator", "http://me:secret@h.example/", "", 1},
		{"wrong in the locator", "http://me:wrong@h.example/", "me", 2},
		{"the user in the locator", "http://me@h.example/", "me", 2},
		{"none", "http://h.example/", "", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t, map[string]server{"h.example:80": guarded("me", "secret", "inside")})
				asked := 0
				f := w.fetcher(func(f *Fetcher) {
					f.Env.Credentials = func(ctx context.Context, c fetch.Challenge) (locator.Login, error) {
						asked++
						if c.User != tc.user || c.Text != "the lab" || c.Locator.String() != tc.url {
							t.Errorf("Credentials was called with %+v", c)
						}
						return gives("me", "secret")(ctx, c)
					}
				})
				body, _, err := get(t, f, tc.url, nil)
				if err != nil || body != "inside" || len(w.heads("")) != tc.requests || asked != tc.requests-1 {
					t.Errorf("%.100q, %v; asked %d times in %d requests", body, err, asked, len(w.heads("")))
				}
				if len(w.dials) != 1 {
					t.Errorf("%d connections", len(w.dials))
				}
			})
		})
	}
}

func TestLoginRefused(t *testing.T) {
	w := newNetwork(t, map[string]server{
		"h.example:80":      guarded("me", "secret", "inside"),
		"digest.example:80": says(status("401 Unauthorized", "", `WWW-Authenticate: Digest realm="Basic", nonce="x"`)),
		"bare.example:80":   says(status("401 Unauthorized", "")),
	})
	sorry := errors.New("not today")
	asked := 0
	for _, tc := range []struct {
		url         string
		credentials func(context.Context, fetch.Challenge) (locator.Login, error)
		asked       int
	}{
		{"http://h.example/", nil, 0},
		{"http://me:wrong@h.example/", nil, 0},
		{"http://h.example/", gives("me", "wrong"), 1}, // once, not forever
		{"http://h.example/", func(context.Context, fetch.Challenge) (locator.Login, error) { return locator.Login{}, sorry }, 1},
		{"http://digest.example/", gives("me", "secret"), 0},
		{"http://bare.example/", gives("me", "secret"), 0},
	} {
		asked = 0
		f := w.fetcher(func(f *Fetcher) {
			if tc.credentials != nil {
				f.Env.Credentials = func(ctx context.Context, c fetch.Challenge) (locator.Login, error) {
					asked++
					return tc.credentials(ctx, c)
				}
			}
		})
		_, _, err := get(t, f, tc.url, nil)
		if fetch.KindOf(err) != fetch.ErrUnauthenticated || asked != tc.asked {
			t.Errorf("%s: %v, asked %d times", tc.url, err, asked)
		}
		body, res, err := get(t, f, tc.url, &Options{AnyStatus: true})
		if err != nil || res.Info.(*Info).StatusCode != http.StatusUnauthorized {
			t.Errorf("%s as any status: %q, %v", tc.url, body, err)
		}
	}
	// Several challenges in one field, and text that only looks like one.
	for field, want := range map[string]string{
		`Basic realm="x"`: "x", `basic`: "", `Digest realm="a", Basic realm="b"`: "b", `Negotiate, BASIC realm=c`: "c", `Basic charset="UTF-8", realm="d"`: "d",
		`Basically realm="x"`: "none", `Digest realm="Basic x"`: "none", ``: "none",
		`Digest realm="Unit, Basic x", nonce="1"`: "none", `Digest realm="a \", Basic b"`: "none", `Digest realm="Unit, Basic x", Basic realm="a, \"b\""`: `a, "b"`,
	} {
		resp := &http.Response{Header: http.Header{"Www-Authenticate": {field}}}
		got := "none"
		if hasBasic(resp) {
			got = realm(resp)
		}
		if got != want {
			t.Errorf("%s: realm %q, want %q", field, got, want)
		}
	}
}

// TestLoginIsForOneFetch checks that a login from Credentials is not kept for the next fetch, and
// is not sent to another origin.
func TestLoginIsForOneFetch(t *testing.T) {
	w := newNetwork(t, map[string]server{"h.example:80": guarded("me", "secret", "inside")})
	f := w.fetcher()
	if _, _, err := get(t, f, "http://me:secret@h.example/", nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := get(t, f, "http://h.example/", nil); fetch.KindOf(err) != fetch.ErrUnauthenticated {
		t.Errorf("without the password: %v", err)
	}
}

// REDIR-AUTH (cases 139 to 142, 145): what is meant for one origin is not sent to another, wherever
// redirects lead.
func TestRedirectSecrets(t *testing.T) {
	const start = "a.example:80"
	for name, chain := range map[string][]string{
		"host":       {"http://b.example/"},
		"port":       {"http://a.example:81/"},
		"scheme":     {"https://a.example/"},
		"subdomain":  {"http://sub.a.example/"},
		"user":       {"http://b:b@b.example/"},
		"same":       {"http://a.example/x"},
		"same, case": {"http://A.EXAMPLE:80/x"},
		"relative":   {"/x"},
		"a b b":      {"http://b.example/", "http://b.example/y"},
		"a b a":      {"http://b.example/", "http://a.example/back"},
		"a sub a":    {"http://sub.a.example/", "http://a.example/back"},
		"a b sub":    {"http://b.example/", "http://sub.a.example/y"},
		"no host":    {"//b.example/"},
	} {
		for _, trusted := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				left := chain
				hop := func(v *received) string {
					if len(left) == 0 {
						return document("end")
					}
					next := left[0]
					left = left[1:]
					return status("302 Found", "", "Location: "+next)
				}
				w := newNetwork(t, map[string]server{
					start: hop, "A.EXAMPLE:80": hop, "a.example:81": hop, "a.example:443": hop, "b.example:80": hop, "sub.a.example:80": hop,
				})
				opt := &Options{LocationTrusted: trusted, Header: http.Header{
					"Cookie": {"c=canary"}, "X-Api-Key": {"canary"}, "Proxy-Authorization": {"canary"}, "Accept-Language": {"fi"},
				}}
				body, res, err := get(t, w.fetcher(), "http://me:canary@a.example/", opt)
				if err != nil || body != "end" {
					t.Fatal(body, err)
				}
				leftOrigin := false
				for i, v := range w.visits {
					same := v.to == start || v.to == "A.EXAMPLE:80"
					leftOrigin = leftOrigin || !same
					wantSecrets := trusted || !leftOrigin
					secrets := v.field("Cookie") != "" && v.field("X-Api-Key") != "" && v.field("Authorization") != ""
					hint := strings.Contains(v.head, "canary") || strings.Contains(v.head, "Authorization")
					if wantSecrets != secrets || hint && !wantSecrets || strings.Contains(v.head, "Proxy-") || strings.Contains(v.head, "Referer") {
						t.Errorf("trusted %v, request %d to %s: %q", trusted, i, v.to, v.head)
					}
					if v.field("Accept-Language") != "fi" {
						t.Errorf("request %d to %s has no Accept-Language: %q", i, v.to, v.head)
					}
				}
				if leftOrigin && res.Locator.(*locator.HTTP).Login != nil {
					t.Errorf("the resource is %s", res.Locator)
				}
			})
		}
	}
}

// TestLoginAfterRedirect checks that Credentials is called with the target of a redirect.
func TestLoginAfterRedirect(t *testing.T) {
	w := newNetwork(t, map[string]server{
		"a.example:80": redirectTo("http://b.example/x"),
		"b.example:80": guarded("me", "for b", "inside b"),
	})
	f := w.fetcher(func(f *Fetcher) {
		f.Env.Credentials = func(ctx context.Context, c fetch.Challenge) (locator.Login, error) {
			if c.Locator.String() != "http://b.example/x" || c.User != "" {
				t.Errorf("Credentials was called with %+v", c)
			}
			return gives("me", "for b")(ctx, c)
		}
	})
	if body, _, err := get(t, f, "http://me:for%20a@a.example/", nil); err != nil || body != "inside b" {
		t.Errorf("%q, %v", body, err)
	}
}
