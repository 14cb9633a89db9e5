package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/urls/percent"
	"github.com/fetch1738/fetch1738/locator"
)

// list lists a directory of a web server by PROPFIND.
func (o webdav) list(ctx context.Context, at *locator.HTTP) (*directory, error) {
	found, err := o.propfind(ctx, at, "1")
	if err != nil {
		return nil, err
	}
	d := &directory{at: at}
	self := false
	for _, r := range found {
		name, isSelf, err := nameBelow(at, r.Href)
		switch {
		case err != nil:
			d.unsure = driver.Fail(fetch.OpList, at, fetch.ErrProtocol, err)
		case isSelf && !r.Collection:
			return nil, driver.Fail(fetch.OpList, at, fetch.ErrNotFound, errors.New("not a directory, although the URL ends with a slash"))
		case isSelf:
			self = true
		default:
			d.items = append(d.items, itemOf(child(at, name, r.Collection), name, r))
			o.listed.Add(1)
		}
	}
	if !self && d.unsure == nil {
		d.unsure = driver.Fail(fetch.OpList, at, fetch.ErrProtocol, errors.New("the listing does not have the directory itself"))
	}
	d.sort()
	return d, nil
}

// propfind returns what a server says of a URL and, with the depth "1", of what it has.
func (o webdav) propfind(ctx context.Context, at *locator.HTTP, depth string) ([]davResource, error) {
	info, body, err := o.exchange(ctx, "PROPFIND", at, map[string]string{"Depth": depth}, true)
	switch {
	case err != nil:
		return nil, err
	case info.StatusCode == http.StatusMultiStatus && len(body) == maxAnswer:
		return nil, driver.Fail(fetch.OpList, at, fetch.ErrTooLarge, fmt.Errorf("the listing has %d MiB or more", maxAnswer>>20))
	case info.StatusCode == http.StatusMultiStatus:
		found, err := parseMultistatus(bytes.NewReader(body), maxEntries)
		if err != nil {
			return nil, driver.Fail(fetch.OpList, at, fetch.ErrProtocol, err)
		}
		return found, nil
	case info.StatusCode == http.StatusNotFound, info.StatusCode == http.StatusGone:
		return nil, absent(at)
	case info.StatusCode == http.StatusUnauthorized, info.StatusCode == http.StatusForbidden, info.StatusCode >= 500 && info.StatusCode != http.StatusNotImplemented:
		return nil, &fetch.Error{Op: "PROPFIND", URL: at.Redacted(), Kind: fetch.ErrOther, Code: info.StatusCode, Reply: strings.TrimSpace(info.Status[min(3, len(info.Status)):])}
	}
	return nil, noListing(at, info.StatusCode)
}

// noListing returns the error of a server without PROPFIND.
func noListing(at locator.Locator, status int) error {
	return localerr.Errorf(localerr.Unsupported, "%s: the server lists no files: it replies %d to PROPFIND (WebDAV); fetch1738 stat asks for one document, and fetch1738 crawl --http --same-host --dir DIR records a site",
		at.Redacted(), status)
}

// nameBelow returns the name that an href has in the directory at, or reports that it is the directory.
func nameBelow(at *locator.HTTP, href string) (name string, isSelf bool, err error) {
	wrong := func(why string) (string, bool, error) {
		return "", false, fmt.Errorf("the listing has the href %q, which is %s", href, why)
	}
	u, err := url.Parse(href)
	if err != nil {
		return wrong("no URL")
	}
	if u.Host != "" && !strings.EqualFold(u.Hostname(), at.Host) {
		return wrong("on another server")
	}
	path, dir := percent.Decode(u.EscapedPath()), "/"+percent.Decode(at.Path)
	rest, isBelow := strings.CutPrefix(path, dir)
	escaped := strings.TrimSuffix(u.EscapedPath(), "/")
	last := percent.Decode(escaped[strings.LastIndexByte(escaped, '/')+1:])
	switch rest = strings.TrimSuffix(rest, "/"); {
	case path == dir || path+"/" == dir:
		return "", true, nil
	case !isBelow:
		return wrong("not in the directory")
	case rest != last || last == "." || last == ".." || strings.ContainsAny(last, "/\x00\r\n"):
		return wrong("no name in the directory")
	}
	return last, false, nil
}

// itemOf returns an entry of a listing.
func itemOf(l locator.Locator, name string, r davResource) fetch.Item {
	it := fetch.Item{Name: name, Locator: l, Attributes: fetch.Attributes{Size: r.Size, ModTime: r.Modified}}
	if r.Collection {
		it.Kind, it.Size = fetch.KindDirectory, -1
		return it
	}
	if it.MediaType = r.MediaType; strings.ContainsFunc(it.MediaType, func(c rune) bool { return c < ' ' || c > '~' }) {
		it.MediaType = ""
	}
	return it
}

// isDirectory reports whether a server says by PROPFIND that a URL is that of a directory, and when that
// was modified.
func (o webdav) isDirectory(ctx context.Context, l *locator.HTTP) (fetch.Item, bool) {
	found, err := o.propfind(ctx, l, "0")
	if err != nil || len(found) != 1 || !found[0].Collection {
		return fetch.Item{}, false
	}
	return itemOf(l, "", found[0]), true
}
