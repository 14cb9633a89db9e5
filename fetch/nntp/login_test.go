package nntp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// knows returns an Env.Credentials that always returns the same login.
func knows(user, password string) func(context.Context, fetch.Challenge) (locator.Login, error) {
	return func(context.Context, fetch.Challenge) (locator.Login, error) {
		return locator.Login{User: user, Password: password, HasPassword: true}, nil
	}
}

func protected(groups ...string) func(*nntptest.Server) {
	return func(s *nntptest.Server) {
		s.Users, s.Protected = map[string]testserver.User{"lab": {Password: "s3cret"}, "open": {}}, groups
	}
}

func TestLogin(t *testing.T) {
	const secret = "s3cret"
	for name, configure := range map[string]func(*nntptest.Server){"group": protected("local.test"), "server": protected()} {
		t.Run(name, func(t *testing.T) {
			withServer(t, func(s *nntptest.Server) {
				configure(s)
				s.Groups["local.test"] = append(s.Groups["local.test"], posting(secret, "secret", ""))
			}, func(w *harness) {
				var shown strings.Builder
				trace := &fetch.Trace{
					Sent:     func(p []byte) { shown.Write(p) },
					Received: func(p []byte) { shown.Write(p) },
				}
				var asked []fetch.Challenge
				w.env.Credentials = func(_ context.Context, c fetch.Challenge) (locator.Login, error) {
					asked = append(asked, c)
					return locator.Login{User: "lab", Password: secret, HasPassword: true}, nil
				}
				w.srv.On("AUTHINFO PASS", 0, testserver.Reply("281 welcome, your password is "+secret))
				l := w.url("news:" + secret + "@lab.example") // the password as an ordinary word
				for range 2 {
					res, err := w.Fetch(fetch.WithTrace(w.Context(), trace), &fetch.Request{Locator: l})
					if err != nil {
						w.Fatal(err)
					}
					if id := res.Info.(*Info).MessageID; id != "<"+secret+"@lab.example>" {
						w.Errorf("the article is %s", id)
					}
					// The session is kept only if the body is read to its end. Then the
					// next request needs no login.
					if _, err := io.Copy(io.Discard, res.Body); err != nil {
						w.Error(err)
					}
					res.Close()
				}
				if len(asked) != 1 || asked[0].Locator != l || asked[0].User != "" || !strings.HasPrefix(asked[0].Text, "Authentication required") {
					w.Errorf("asked for %+v", asked)
				}
				if got := shown.String(); strings.Contains(strings.ReplaceAll(got, "ARTICLE <"+secret, ""), secret) || !strings.Contains(got, "AUTHINFO PASS ****\r\n") {
					w.Errorf("shown was %q", got)
				}
				if !w.srv.Transcript().Has(testserver.FromClient, "AUTHINFO PASS "+secret) {
					w.Errorf("the password was not sent:\n%s", w.srv.Transcript())
				}
			})
		})
	}
}

// TestLoginOnce checks that Credentials is called once even if a long list of groups requires a
// second session for the descriptions.
func TestLoginOnce(t *testing.T) {
	for _, long := range []bool{false, true} {
		testLoginOnce(t, long)
	}
}

func testLoginOnce(t *testing.T, long bool) {
	withServer(t, func(s *nntptest.Server) {
		protected()(s)
		s.Descriptions = map[string]string{"local.test": "All about it"}
	}, func(w *harness) {
		groups, connections := len(testArticles()), 1
		if long {
			groups, connections = 1+30_000, 2
			w.srv.On("LIST ACTIVE", 0, testserver.Data("local.test 2 1 y\r\n"+strings.Repeat("a.group.with.a.long.name 0000000009 0000000001 y\r\n", groups-1)+".\r\n"))
		}
		asked := 0
		answer := knows("lab", "s3cret")
		w.env.Credentials = func(ctx context.Context, c fetch.Challenge) (locator.Login, error) {
			asked++
			return answer(ctx, c)
		}
		items, err := w.items("news:*")
		if err != nil || len(items) != groups {
			w.Errorf("%d groups, %v", len(items), err)
		}
		if i := slices.IndexFunc(items, func(i fetch.Item) bool { return i.Name == "local.test" }); i < 0 || !strings.Contains(shown(items[i]), "Description=All about it") {
			w.Errorf("local.test has no description: %v", items)
		}
		if asked != 1 {
			w.Errorf("Credentials was called %d times for one list, want 1", asked)
		}
		if n := w.connections(); n != connections {
			w.Errorf("%d connections, want %d", n, connections)
		}
	})
}

func TestLoginWithoutPassword(t *testing.T) {
	withServer(t, protected("local.test"), func(w *harness) {
		w.env.Credentials = knows("open", "")
		w.want("/local.test/1", testArticles()["local.test"][0])
		w.sent("GROUP local.test", "AUTHINFO USER open", "GROUP local.test", "ARTICLE 1")
	})
}

// TestLoginOctets checks that a login with bytes that no command can carry is not sent.
func TestLoginOctets(t *testing.T) {
	for _, bad := range []string{"\x00", "\r", "\n", "\r\nQUIT"} {
		for _, login := range []locator.Login{{User: "lab", Password: "s3cret" + bad}, {User: "s3cret" + bad, Password: "s3cret"}} {
			withServer(t, protected("local.test"), func(w *harness) {
				w.env.Credentials = knows(login.User, login.Password)
				_, err := w.Fetch(w.Context(), &fetch.Request{Locator: w.url("/local.test/1")})
				if !errors.Is(err, fetch.ErrBadURL) || strings.Contains(err.Error(), "s3cret") {
					w.Errorf("%+v: %v", login, err)
				}
				if sent := w.srv.Transcript().String(); strings.Contains(sent, "s3cret") {
					w.Errorf("%+v was sent:\n%s", login, sent)
				}
			})
		}
	}
}

func TestLoginFails(t *testing.T) {
	sorry := errors.New("not today")
	for _, tt := range []struct {
		name        string
		credentials func(context.Context, fetch.Challenge) (locator.Login, error)
		stage       string
		reply       string
		kind        fetch.ErrorKind
		wraps       error
	}{
		{"nobody to ask", nil, "", "", fetch.ErrUnauthenticated, nil},
		{"nothing known", func(context.Context, fetch.Challenge) (locator.Login, error) { return locator.Login{}, nil }, "", "", fetch.ErrUnauthenticated, nil},
		{"refused", func(context.Context, fetch.Challenge) (locator.Login, error) { return locator.Login{}, sorry }, "", "", fetch.ErrUnauthenticated, sorry},
		{"wrong password", knows("lab", "wr0ng"), "", "", fetch.ErrUnauthenticated, nil},
		{"out of order", knows("lab", "wr0ng"), "AUTHINFO USER", "482 no", fetch.ErrUnauthenticated, nil},
		{"not here", knows("lab", "wr0ng"), "AUTHINFO USER", "502 no", fetch.ErrPermission, nil},
		{"encrypted only", knows("lab", "wr0ng"), "AUTHINFO USER", "483 no", fetch.ErrPermission, nil},
		{"again and again", knows("lab", "s3cret"), "GROUP", "480 who", fetch.ErrUnauthenticated, nil},
		{"480 to that", knows("lab", "s3cret"), "AUTHINFO PASS", "480 who", fetch.ErrUnauthenticated, nil},
		{"unknown there", knows("lab", "s3cret"), "AUTHINFO USER", "500 what", fetch.ErrUnsupported, nil},
		{"line end in the user", knows("lab\r\nPOST", "s3cret"), "", "", fetch.ErrBadURL, nil},
		{"line end in the password", knows("lab", "s3cret\r\nPOST"), "", "", fetch.ErrBadURL, nil},
		{"too long", knows("lab", strings.Repeat("s3cret", 100)), "", "", fetch.ErrBadURL, nil},
		{"the password said back", knows("lab", "wr0ng"), "AUTHINFO PASS", "481 not wr0ng", fetch.ErrUnauthenticated, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withServer(t, protected("local.test"), func(w *harness) {
				w.env.Credentials = tt.credentials
				if tt.stage != "" {
					w.srv.On(tt.stage, 0, testserver.Reply(tt.reply))
				}
				_, err := w.get("/local.test/1")
				w.fails(tt.name, err, tt.kind)
				if tt.wraps != nil && !errors.Is(err, tt.wraps) {
					w.Errorf("%v does not wrap %v", err, tt.wraps)
				}
				text := fmt.Sprintf("%v %+v %#v", err, err, err)
				if strings.Contains(text, "wr0ng") || strings.Contains(text, "s3cret") {
					w.Errorf("the error shows the password: %s", text)
				}
				for _, line := range w.srv.Transcript().From(testserver.FromClient) {
					if strings.HasPrefix(line, "POST") {
						w.Errorf("POST was sent:\n%s", w.srv.Transcript())
					}
				}
				w.srv.ResetFaults()
				w.want("/local.more/1", testArticles()["local.more"][0])
			})
		})
	}
}

// TestLoginOfRequest checks that Options.Login is used, and that a session that it has logged in
// serves no request of another user or of none.
func TestLoginOfRequest(t *testing.T) {
	withServer(t, func(s *nntptest.Server) {
		s.Users, s.Protected = map[string]testserver.User{"lab": {Password: "s3cret"}, "open": {Password: "0pen"}}, []string{"local.test"}
	}, func(w *harness) {
		fetchAs := func(login *locator.Login) error {
			res, err := w.Fetch(w.Context(), &fetch.Request{Locator: w.url("/local.test/1"), Options: &Options{Login: login}})
			if err != nil {
				return err
			}
			defer res.Close()
			_, err = io.Copy(io.Discard, res.Body)
			return err
		}
		lab, open := &locator.Login{User: "lab", Password: "s3cret", HasPassword: true}, &locator.Login{User: "open", Password: "0pen", HasPassword: true}
		for _, tt := range []struct {
			login *locator.Login
			works bool
			users string // that have logged in so far
		}{
			{nil, false, ""},
			{lab, true, "lab"},
			{lab, true, "lab"}, // in the same session
			{nil, false, "lab"},
			{open, true, "lab open"},
			{&locator.Login{User: "lab", Password: "wr0ng", HasPassword: true}, false, "lab open lab"},
			{lab, true, "lab open lab"},
		} {
			if err := fetchAs(tt.login); tt.works && err != nil || !tt.works && !errors.Is(err, fetch.ErrUnauthenticated) {
				w.Errorf("%+v: %v", tt.login, err)
			}
			var users []string
			for _, line := range w.srv.Transcript().From(testserver.FromClient) {
				if user, ok := strings.CutPrefix(line, "AUTHINFO USER "); ok {
					users = append(users, user)
				}
			}
			if got := strings.Join(users, " "); got != tt.users {
				w.Errorf("after %+v the users are %q, want %q", tt.login, got, tt.users)
			}
		}
	})
}
