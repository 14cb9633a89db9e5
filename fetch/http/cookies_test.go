package http

import (
	"net/http/cookiejar"
	"slices"
	"strings"
	"testing"
)

// TestJar checks which cookies are sent: those of the jar to the hosts that they are for, also after a
// redirect, and before those of the caller, which no other server gets.
func TestJar(t *testing.T) {
	w := newNetwork(t, map[string]server{
		"h.example:80": func(v *received) string {
			switch {
			case strings.Contains(v.head, " /set "):
				return status("302 Found", "", "Set-Cookie: a=1", "Set-Cookie: b=2; Path=/deep", "Set-Cookie: s=3; Secure", `Set-Cookie: q="4 5"`, "Location: /deep/x")
			case strings.Contains(v.head, " /away "):
				return status("302 Found", "", "Set-Cookie: d=6; Domain=other.example", "Location: http://other.example/")
			}
			return document("x")
		},
		"other.example:80": says(status("302 Found", "", "Set-Cookie: o=7", "Location: http://h.example/back")),
	})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	opt := &Options{Jar: jar, Header: map[string][]string{"Cookie": {"own=0"}}}
	for _, path := range []string{"/set", "/away"} {
		if _, _, err := get(t, w.fetcher(), "http://h.example"+path, opt); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, v := range w.visits {
		members := strings.Split(v.field("Cookie"), "; ")
		slices.Sort(members)
		got = append(got, v.to+" "+strings.Join(members, " "))
	}
	want := []string{
		"h.example:80 own=0", `h.example:80 a=1 b=2 own=0 q="4 5"`,
		`h.example:80 a=1 own=0 q="4 5"`, "other.example:80 ", `h.example:80 a=1 q="4 5"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("the servers received\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestJarByHost checks that the cookies of a request with another Host field are those of that host, as
// those that its response sets.
func TestJarByHost(t *testing.T) {
	w := newNetwork(t, map[string]server{"192.0.2.1:80": says(status("200 OK", "", "Set-Cookie: a=1"))})
	jar, _ := cookiejar.New(nil)
	opt := &Options{Jar: jar, Header: map[string][]string{"Host": {"site.example"}}}
	for _, opt := range []*Options{opt, opt, {Jar: jar}} {
		if _, _, err := get(t, w.fetcher(), "http://192.0.2.1/", opt); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{"", "a=1", ""} {
		if got := w.visits[i].field("Cookie"); got != want {
			t.Errorf("request %d has the cookies %q, want %q", i+1, got, want)
		}
	}
}

// TestIgnoreLength checks that a body ends with its connection, whatever Content-Length says.
func TestIgnoreLength(t *testing.T) {
	for name, head := range map[string]string{
		"less": "Content-Length: 3\r\n", "more": "Content-Length: 300\r\n", "bad": "Content-Length: -1\r\n", "two": "Content-Length: 3\r\nContent-Length: 4\r\n",
	} {
		w := newNetwork(t, map[string]server{"h.example:80": says("HTTP/1.1 200 OK\r\n" + head + "\r\nabcdef" + cut)})
		body, res, err := get(t, w.fetcher(), "http://h.example/", &Options{IgnoreLength: true})
		if err != nil || body != "abcdef" || res.Size != -1 {
			t.Errorf("%s: %q, %+v, %v", name, body, res, err)
		}
	}
}
