package crawl

import (
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/locator"
)

// The rules of RFC 9309 §2.2: which group applies, and which line of it.
func TestRobots(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		allowed string // paths, for http
		denied  string
	}{
		"empty":                  {"", "/ /a", ""},
		"all":                    {"User-agent: *\nDisallow: /", "", "/ /a"},
		"none":                   {"User-agent: *\nDisallow:", "/ /a", ""},
		"own group only":         {"User-agent: *\nDisallow: /\n\nUser-agent: fetch1738\nDisallow: /own", "/ /a", "/own /own/a"},
		"another's group":        {"User-agent: fetch\nDisallow: /\nUser-agent: fetch17389\nDisallow: /\n", "/ /a", ""},
		"case and version":       {"user-AGENT: Fetch1738/2.0\ndisALLOW: /own", "/ /OWN", "/own"},
		"groups are united":      {"User-agent: fetch1738\nDisallow: /a\n\nUser-agent: x\nDisallow: /\n\nUser-agent: fetch1738\nDisallow: /b", "/ /c", "/a /b"},
		"agents of one group":    {"User-agent: x\nUser-agent: fetch1738\nUser-agent: y\nDisallow: /a", "/", "/a"},
		"longest match":          {"User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c", "/a/b /a/b/d", "/a /a/c /a/b/c"},
		"allow if equal":         {"User-agent: *\nDisallow: /page\nAllow: /page", "/page", ""},
		"wildcards":              {"User-agent: *\nDisallow: /*.gif$\nDisallow: /a*/b", "/x.gif.txt /b /x/a1/b", "/x.gif /dir/y.gif /a1/b /a/c/b/d"},
		"longest, with a star":   {"User-agent: *\nAllow: /a/b.html\nDisallow: /*.html", "/a/b.html", "/c.html"},
		"escapes":                {"User-agent: *\nDisallow: /a%3cd.html\nDisallow: /%7Ejoe/\nDisallow: /é%2fx", "/a", "/a%3Cd.html /~joe/x /%C3%A9%2Fx"},
		"comments, BOM, CR LF":   {"\ufeff# all\r\nUser-agent: * # everyone\r\nDisallow: /a # this\r\n", "/", "/a"},
		"no group before":        {"Disallow: /\nUser-agent: *\nDisallow: /a", "/ /b", "/a"},
		"other lines in between": {"User-agent: fetch1738\nSitemap: http://h/s\nDisallow: /a\nfoo: bar\nDisallow: /b", "/", "/a /b"},
	} {
		r := &rules{Left: []string{"http://h/robots.txt"}}
		r.answer([]byte(c.text))
		check := func(paths string, want bool) {
			for path := range strings.FieldsSeq(paths) {
				l, err := parse("http://h" + path)
				if err != nil {
					t.Fatal(err)
				}
				if got := r.allows(l); got != want {
					t.Errorf("%s: %s is allowed: %v", name, path, got)
				}
			}
		}
		check(c.allowed, true)
		check(c.denied, false)
	}
}

// A gopher selector is compared as it is, and with a "/" before it.
func TestRobotsOfGopher(t *testing.T) {
	r := &rules{Left: askFor(&locator.Gopher{})}
	r.answer([]byte("User-agent: *\r\nDisallow: 1/private\r\nDisallow: /cgi bin\r\n.\r\n"))
	for selector, want := range map[string]bool{"1/private/x": false, "/private": true, "/cgi bin/x": false, "cgi bin": false, "": true} {
		if got := r.allows(&locator.Gopher{Selector: selector}); got != want {
			t.Errorf("%q is allowed: %v", selector, got)
		}
	}
}

// Only 500 KiB of a robots.txt are read (RFC 9309 §2.5), and no longer delay than a day is obeyed.
func TestRobotsLimits(t *testing.T) {
	long := "User-agent: *\nDisallow: /a\nCrawl-delay: 1e9\n" + strings.Repeat("#", maxRobots) + "\nDisallow: /b\n"
	r := &rules{Left: []string{"http://h/robots.txt"}}
	r.answer([]byte(long))
	if len(r.Rules) != 1 || r.Delay != maxDelay {
		t.Errorf("%d rules, %v", len(r.Rules), r.Delay)
	}
}

func TestCaps(t *testing.T) {
	r := &rules{Left: []string{"gopher://h/0caps.txt", "gopher://h/0/caps.txt"}}
	r.answer([]byte("CAPS\r\n# comment\r\nCapsVersion=1\r\nServerDefaultEncoding = UTF-8\r\n#PathDelimeter=/\r\nCrawlDelay=7.5\r\n"))
	if len(r.Left) != 0 || len(r.Caps) != 3 || r.Caps["ServerDefaultEncoding"] != "UTF-8" || r.Delay != 7500*time.Millisecond {
		t.Errorf("%+v", r)
	}
	r = &rules{Left: []string{"gopher://h/0caps.txt", "gopher://h/0/caps.txt"}}
	if r.answer([]byte("not found")); len(r.Left) != 1 {
		t.Errorf("%+v", r)
	}
}

func FuzzRobots(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a*b$\nAllow: %2f\ncrawl-delay: 3", "/a%2fb")
	f.Add("\xef\xbbuser-agent \t*\n\rdisallow /é", "é?x")
	f.Fuzz(func(t *testing.T, text, path string) {
		r := &rules{Left: askFor(&locator.Gopher{})}
		for len(r.Left) > 0 {
			r.answer([]byte(text))
		}
		if r.Delay < 0 || r.Delay > maxDelay {
			t.Error(r.Delay)
		}
		r.allows(&locator.Gopher{Selector: path})
		if once := canonical(path); canonical(once) != once && !strings.Contains(path, "%25") {
			t.Errorf("%q, %q, %q", path, once, canonical(once))
		}
	})
}

func TestTraps(t *testing.T) {
	for url, want := range map[string]bool{
		"gopher://h/1/a/b/a/b":                                   false,
		"gopher://h/1/a/b/a/b/a/b":                               true,
		"gopher://h/1/x/x":                                       false,
		"gopher://h/1/x/x/x":                                     true,
		"gopher://h/1/2001/1/1/1":                                false,
		"gopher://h/1/y/a/b/c/a/b/c/a/b/c/z":                     true,
		"ftp://h" + strings.Repeat("/d", 3):                      true,
		"gopher://h/1" + strings.Repeat("a", 2001):               true,
		"gopher://h/1/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o":             false,
		"gopher://h/1/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h/i/j/k/l": true,
	} {
		l, err := parse(url)
		if err != nil {
			t.Fatal(err)
		}
		if got := isTrap(l); got != want {
			t.Errorf("%.60s is a trap: %v", url, got)
		}
	}
}

func TestSkeleton(t *testing.T) {
	for url, want := range map[string]string{
		"gopher://h/0/phlog/2024/05/12.txt":             "",
		"gopher://h/1/cgi-bin/cal/2024/5":               "/cgi-bin/cal/0/0",
		"http://h/cal?y=2024&m=12":                      "/cal?y=0&m=0",
		"http://h/page;jsessionid=0A1B2C3D4E5F6A7B8C9D": "/page;jsessionid=*",
		"gopher://h/1/s/0a1b2c3d4e5f6a7b8c9d/index":     "/s/*/index",
		"ftp://h/pub/x?y=3":                             "",
	} {
		l, err := parse(url)
		if err != nil {
			t.Fatal(err)
		}
		if got := skeleton(l); got != want {
			t.Errorf("%s: %q", url, got)
		}
	}
}

// Both forms of a name beyond ASCII are one host, with one queue and one robots.txt.
func TestHostsBeyondASCII(t *testing.T) {
	for _, path := range []string{"http://%s/x", "gopher://%s/1x", "ftp://%s/x"} {
		var all []string
		for _, host := range []string{"münchen.example", "MÜNCHEN.example", "xn--mnchen-3ya.example", "XN--mnchen-3ya.example."} {
			ref, err := locator.Parser{Tolerate: locator.TolerateUsual}.Parse(strings.Replace(path, "%s", host, 1))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, unified(ref.Locator).String())
		}
		if want := strings.Replace(path, "%s", "xn--mnchen-3ya.example", 1); strings.Join(all, " ") != strings.Join([]string{want, want, want, want}, " ") {
			t.Errorf("%q, want %s", all, want)
		}
	}
}
