package gateway

import (
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/gateway/internal/cause"
	"github.com/fetch1738/fetch1738/policy"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// TestFailureFolds tests that the reply of a server and what was sent are folded, that the page says
// whether trying again helps, and that its links lead to what is above, and to the same page only
// if that may help.
func TestFailureFolds(t *testing.T) {
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = texts })
	ftp.On("RETR latin1.txt", 0, testserver.Reply("450 busy, try later"))
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = texts })
	s := start(t, nil)
	for url, want := range map[string]struct{ again, retry, up, start string }{
		ftp.URL + "/latin1.txt":      {"Trying again helps when", "latin1.txt", "/", ""},
		ftp.URL + "/a/b/none.txt":    {cause.Useless, "", "/a/b/", "/"},
		gopher.URL + "/0/a/none.txt": {cause.Useless, "", "/1/a", "/"},
	} {
		_, body := get(t, s, pathOf(t, url))
		open, folded, ok := strings.Cut(body, "<details>")
		_, open, _ = strings.Cut(open, "<main")
		if !ok || !strings.Contains(open, want.again) || strings.Contains(open, `class="error"`) || strings.Contains(open, "RETR") || strings.Contains(open, "550") || !strings.Contains(folded, "none.txt") && !strings.Contains(folded, "450 busy") {
			t.Errorf("%s:\n%s", url, body)
		}
		server := strings.TrimSuffix(pathOf(t, url[:strings.IndexByte(url[9:], '/')+10]), "/")
		if got := strings.Contains(open, ">Try again<"); got != (want.retry != "") {
			t.Errorf("%s: a link to try again: %t", url, got)
		}
		if !strings.Contains(open, `href="`+server+want.up+`" rel="nofollow">Up to`) || (want.start != "") != strings.Contains(open, `href="`+server+want.start+`" rel="nofollow">Start of`) {
			t.Errorf("%s: no links to what is above\n%s", url, open)
		}
	}
}

// TestLoginIsNoError tests that the page of a login looks like an error only after the server has
// refused what was typed.
func TestLoginIsNoError(t *testing.T) {
	lab := newLoginLab(t)
	for _, path := range []string{pathOf(t, lab.owner.URL+"/pub/motd.txt"), pathOf(t, lab.news.URL+"/local.test")} {
		if _, body := lab.ask("GET " + path); strings.Contains(body, `class="error"`) || !strings.Contains(body, "<h1>The server requires a login.</h1>") || !strings.Contains(body, path+`?login"`) {
			t.Errorf("%s: nobody has typed a login\n%s", path, body)
		}
		wrong := "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("lab:wr0ng"))
		if _, body := lab.ask("GET "+path, wrong); !strings.Contains(body, `class="error"`) || !strings.Contains(body, "<h1>The server refused the login.</h1>") {
			t.Errorf("%s: the login was refused\n%s", path, body)
		}
	}
}

// TestNoFieldNames tests that pages name what the operator types, and no field of a program.
func TestNoFieldNames(t *testing.T) {
	options := map[string]string{"Env.NewsServer": "--news-server HOST", "policy.Rules.AllowZones with private": "--allow-zone private"}
	typed := start(t, func(h *Handler) {
		h.Resolver.Env.Allow = policy.Public
		h.Option = func(field string) string { return options[field] }
	})
	program := start(t, func(h *Handler) { h.Resolver.Env.Allow = policy.Public })
	field := regexp.MustCompile(`\b(Env|Rules|Handler|Resolver)\.[A-Z]`)
	for path, want := range map[string]string{
		"/news/comp.lang.c": "--news-server HOST", "/news/*": "--news-server HOST", "/news/1@h.example": "--news-server HOST", "/news/comp.lang.c?explain": "--news-server HOST",
		"/ftp/10.0.0.1/": "--allow-zone private", "/ftp/10.0.0.1/a?explain": "--allow-zone private",
	} {
		if _, body := get(t, typed, path); !strings.Contains(body, want) || field.MatchString(body) {
			t.Errorf("%s does not name %s\n%s", path, want, body)
		}
		if _, body := get(t, program, path); !strings.Contains(body, "The operator of the gateway can") || field.MatchString(body) {
			t.Errorf("%s, without options:\n%s", path, body)
		}
	}
	if _, body, err := ask(t, typed, http.MethodGet, "/news/comp.lang.c", "Accept", "*/*"); err != nil || !strings.Contains(body, "--news-server HOST") || field.MatchString(body) {
		t.Errorf("as text: %q, %v", body, err)
	}
}
