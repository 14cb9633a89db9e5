package replay

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"path"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/locator"
)

// Times yields the times of the captures that the server of a URL answers with, sorted: those of the
// URL, or of the way in which it was recorded, such as without the type of a file. It yields nothing
// if the archive has nothing there, or if the server makes its answer from other captures, as for a
// directory without a recorded listing. An error is the last pair.
func (r *Replay) Times(l locator.Locator) iter.Seq2[time.Time, error] {
	return func(yield func(time.Time, error) bool) {
		c, err := r.capture(l)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return
		case err != nil:
			yield(time.Time{}, err)
			return
		}
		r.archive.Times(c.URL)(yield)
	}
}

// capture returns the capture that the server of a URL answers with.
func (r *Replay) capture(l locator.Locator) (*archive.Capture, error) {
	at := archive.Site{Scheme: l.Scheme()}
	server, named := locator.ServerOf(l)
	if named && server.Host != "" {
		at.Host, at.Port = server.Host, server.Port
	}
	s := r.sites[keyOf(at)]
	if s == nil {
		return nil, errNoCapture
	}
	switch l := l.(type) {
	case *locator.FTP:
		parts := append(l.CWD[:len(l.CWD):len(l.CWD)], l.Name)
		name := strings.TrimPrefix(path.Join(parts...), "/")
		return (&ftpFiles{site: s}).find(cmp.Or(name, "."), l.Name == "" || l.Type == 'd')
	case *locator.Gopher:
		c, _, err := gopherSite{s}.find(l.Selector, l.Search, l.Plus, l.Fields)
		if errors.Is(err, errNoCapture) && l.Plus != "" && l.Plus[0] == '+' {
			c, _, err = gopherSite{s}.find(l.Selector, l.Search, "", uint8(min(len(l.Search), 1)))
		}
		return c, err
	}
	return s.find(func(to locator.HostPort) locator.Locator { return locator.WithHostPort(l, to) })
}

// Documents yields a Hit for each URL of the archive that begins with prefix, in the order of the
// index. An error is the last pair.
func (r *Replay) Documents(ctx context.Context, prefix string) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		for c, err := range r.each(prefix) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(Hit{}, err)
				return
			}
			if !yield(Hit{URL: c.URL, Time: c.Time}, nil) {
				return
			}
		}
	}
}

// captures yields a capture of each URL of a site that begins with that of url and suffix: the one
// that find returns.
func (s *site) captures(url func(locator.HostPort) locator.Locator, suffix string) iter.Seq2[*archive.Capture, error] {
	return func(yield func(*archive.Capture, error) bool) {
		for _, at := range s.spellings {
			for c, err := range s.replay.each(url(at).String() + suffix) {
				if !yield(c, err) || err != nil {
					return
				}
			}
		}
	}
}

// each yields a capture of each URL that begins with prefix, that of the time of the Replay.
func (r *Replay) each(prefix string) iter.Seq2[*archive.Capture, error] {
	return func(yield func(*archive.Capture, error) bool) {
		var best *archive.Capture
		for c, err := range r.archive.Captures(prefix) {
			switch {
			case err != nil:
				yield(nil, err)
				return
			case best == nil || c.URL == best.URL && (r.at.IsZero() || !c.Time.After(r.at)):
				best = c
			case c.URL != best.URL:
				if !yield(best, nil) {
					return
				}
				best = c
			}
		}
		if best != nil {
			yield(best, nil)
		}
	}
}
