package client

import (
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/dial"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

func TestRouted(t *testing.T) {
	d := dial.Dialer{Routes: []dial.Route{
		{From: locator.HostPort{Host: "a", Port: 21}, To: locator.HostPort{Host: "b", Port: 2121}},
		{From: locator.HostPort{Host: "s", Port: 990}, To: locator.HostPort{Host: "b", Port: 9990}},
		{From: locator.HostPort{Host: "a"}, To: locator.HostPort{Host: "c"}},
		{From: locator.HostPort{Port: 70}, To: locator.HostPort{Port: 7070}},
	}}
	for _, c := range []struct {
		url     string
		purpose fetch.Purpose
		host    string
		port    uint16
		want    string
	}{
		{"ftp://a/", fetch.PurposeControl, "A", 21, "b:2121"},
		{"ftp://a/", fetch.PurposeData, "a", 40000, "b:40000"},
		{"ftp://a/", fetch.PurposeData, "a", 70, "b:70"},
		{"ftp://a/", fetch.PurposeData, "192.0.2.1", 40000, "192.0.2.1:40000"}, // where the control connection leads
		{"ftps://s/", fetch.PurposeData, "s", 40000, "b:40000"},
		{"http://a/", fetch.PurposeControl, "a", 80, "c:80"},
		{"gopher://h/", fetch.PurposeControl, "h", 70, "h:7070"},
		{"http://h/", fetch.PurposeControl, "h", 80, "h:80"},
	} {
		ref, err := locator.Parser{}.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		at := routed(&d, fetch.Target{Locator: ref.Locator, Purpose: c.purpose, Host: c.host, Port: c.port})
		if got := HostOf(locator.Server{HostPort: at}); got != c.want {
			t.Errorf("%s, %v to %s:%d: %s, want %s", c.url, c.purpose, c.host, c.port, got, c.want)
		}
	}
}
