package http

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/fetch1738/fetch1738/locator"
)

// cookieURL returns the URL by which Options.Jar knows the current hop. A Host field of the caller names
// the site that is meant.
func (c *call) cookieURL() *url.URL {
	l := c.locator
	if asked, ok := c.opt.Proxied.(*locator.HTTP); ok {
		l = asked
	}
	u := wireURL(l)
	if hosts := c.opt.Header["Host"]; c.isTrusted() && len(hosts) == 1 {
		u.Host = hosts[0]
	}
	return u
}

// addCookies adds the cookies of Options.Jar, before those of the caller.
func (c *call) addCookies(h http.Header) {
	if c.opt.Jar == nil {
		return
	}
	var all []string
	for _, cookie := range c.opt.Jar.Cookies(c.cookieURL()) {
		value := cookie.Value
		if cookie.Quoted {
			value = `"` + value + `"`
		}
		if pair := cookie.Name + "=" + value; !strings.ContainsAny(pair, "\r\n\x00") {
			all = append(all, pair)
		}
	}
	if len(all) > 0 {
		h["Cookie"] = []string{strings.Join(append(all, h["Cookie"]...), "; ")}
	}
}

// storeCookies puts the cookies of a response into Options.Jar.
func (c *call) storeCookies(resp *http.Response) {
	if set := resp.Cookies(); c.opt.Jar != nil && len(set) > 0 {
		c.opt.Jar.SetCookies(c.cookieURL(), set)
	}
}
