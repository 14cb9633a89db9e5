// Package site is a server as a place for files: what its directories have, and how files get there
// and change. It is an ftp or file directory, or URLs of a web server that takes PUT.
package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// A Server performs the requests, typically a *fetch1738.Resolver.
type Server interface {
	driver.Fetcher
	driver.AttributeFinder
	driver.Replacer
	driver.Updater
	driver.Editor
}

// A Site is the server with the URL of the directory. Paths are below that, in components.
type Site struct {
	Server     Server
	From       fetch.Provenance // of the URL
	Options    any              // of every request; may be nil
	MaxEntries int              // of a listing

	Web   bool // no directories: single URLs only, and what is stored appears at once
	start locator.Locator
}

// SetStart sets the URL. It fails if that is not one of a directory, or of a scheme without
// uploads.
func (s *Site) SetStart(start locator.Locator) error {
	switch l := start.(type) {
	case *locator.FTP:
		if l.Type != 0 && l.Type != 'd' {
			return refuse(l, "remove ;type=%c: the URL must be that of a directory", l.Type)
		}
		at := *l
		at.Type, at.HasPath = 0, true
		if at.Name != "" {
			at.CWD, at.Name = append(slices.Clip(at.CWD), at.Name), ""
		}
		s.start = &at
	case *locator.File:
		at := *l
		at.Segments = slices.DeleteFunc(slices.Clone(l.Segments), func(s string) bool { return s == "" })
		s.start = &at
	case *locator.HTTP:
		if l.HasSearch {
			return refuse(l, "remove ?%s: the URL must be that of a directory", l.Search)
		}
		at := *l
		at.Path, at.HasPath = strings.TrimSuffix(l.Path, "/"), true
		s.start, s.Web = &at, true
	default:
		return refuse(start, "only ftp, ftps, file, http and https URLs can be uploaded to")
	}
	return nil
}

// refuse returns the error of a URL that cannot be a target.
func refuse(l locator.Locator, format string, args ...any) error {
	return driver.Fail(fetch.OpMirror, l, fetch.ErrUnsupported, fmt.Errorf(format, args...))
}

// At returns the locator of a path below the start.
func (s *Site) At(path []string, dir bool) locator.Locator {
	switch l := s.start.(type) {
	case *locator.FTP:
		at := *l
		if at.CWD = append(slices.Clip(l.CWD), path...); !dir {
			last := len(at.CWD) - 1
			at.CWD, at.Name = at.CWD[:last], at.CWD[last]
		}
		return &at
	case *locator.File:
		at := *l
		if at.Segments = append(slices.Clip(l.Segments), path...); dir {
			at.Segments = append(at.Segments, "")
		}
		return &at
	}
	at := *s.start.(*locator.HTTP)
	for _, name := range path {
		at.Path = strings.TrimPrefix(at.Path+"/"+url.PathEscape(name), "/")
	}
	if dir {
		at.Path = strings.TrimPrefix(at.Path+"/", "/")
	}
	return &at
}

// URL returns the URL of a path, without a password.
func (s *Site) URL(path []string, dir bool) string { return s.At(path, dir).Redacted() }

// Key returns the URL of the start by which its state is known: with the user, who may have another tree
// on the server, but whether or not the password was in the URL.
func (s *Site) Key() string {
	at := s.At(nil, true)
	if server, _ := locator.ServerOf(at); server.Login != nil {
		at, _ = locator.WithLogin(at, &locator.Login{User: server.Login.User})
	}
	return at.Redacted()
}

// request returns a request for a path. change may change the FTP options.
func (s *Site) request(path []string, dir bool, change func(*ftp.Options)) *fetch.Request {
	req := &fetch.Request{Locator: s.At(path, dir), From: s.From, Options: s.Options}
	if given, ok := s.Options.(*fetchhttp.Options); ok && given != nil {
		o := *given
		o.AnyStatus, o.Method, o.Verb, o.Target, o.Body = false, "", "", "", nil // a refusal must be an error
		req.Options = &o
	}
	if _, ok := req.Locator.(*locator.FTP); !ok {
		return req
	}
	var o ftp.Options
	if given, ok := s.Options.(*ftp.Options); ok && given != nil {
		o = *given
	}
	if change != nil {
		change(&o)
	}
	req.Options = &o
	return req
}

// A Directory is what the server lists in a directory.
type Directory struct {
	Entries map[string]Entry
	Exact   bool // sizes are in bytes and times in UTC, to the second
	Partial bool // entries may be missing: lines were not understood, or the server hides some
	Names   bool // there are only names: directories may be missing, or look like files
	Hides   bool // files whose names begin with a dot may be missing
}

// IsWhole reports whether no entry is missing, but for those that Hides is about.
func (d Directory) IsWhole() bool { return !d.Partial && !d.Names }

// Files returns the number of files in it.
func (d Directory) Files() (n int) {
	for _, t := range d.Entries {
		if !t.Dir {
			n++
		}
	}
	return n
}

// An Entry is a file, directory or link on the server.
type Entry struct {
	Size     int64     // -1 if unknown
	Modified time.Time // in UTC to the second; zero if unknown
	Dir      bool
	Other    bool // a link or device
}

// List lists a directory.
func (s *Site) List(ctx context.Context, path []string) (Directory, error) {
	return s.list(ctx, path, ftp.Options{})
}

// ListAll is like List, and also asks FTP servers without MLSD for files whose names begin with a dot.
func (s *Site) ListAll(ctx context.Context, path []string) (Directory, error) {
	return s.list(ctx, path, ftp.Options{Hidden: true})
}

// list lists a directory with CreateDirs and Hidden of how.
func (s *Site) list(ctx context.Context, path []string, how ftp.Options) (Directory, error) {
	res, err := s.Server.Fetch(ctx, s.request(path, true, func(o *ftp.Options) { o.Facts, o.CreateDirs, o.Hidden = true, how.CreateDirs, how.Hidden }))
	if err != nil {
		return Directory{}, err
	}
	defer res.Close()
	if res.Items == nil {
		return Directory{}, driver.Fail(fetch.OpList, res.Locator, fetch.ErrUnsupported, errors.New("not a directory"))
	}
	d := Directory{Entries: make(map[string]Entry)}
	for item, err := range res.Items {
		switch {
		case err != nil:
			return Directory{}, err
		case len(d.Entries) >= s.MaxEntries:
			return Directory{}, driver.Fail(fetch.OpList, res.Locator, fetch.ErrTooLarge, errors.New("more entries than the limit; Mirror.MaxEntries sets it"))
		case item.Name == "" || item.Name == "." || item.Name == "..":
			continue
		}
		d.Entries[item.Name] = Entry{
			Size: item.Size, Modified: item.ModTime.UTC().Truncate(time.Second), Dir: item.Kind == fetch.KindDirectory,
			Other: has(item, fetch.HeaderLink) || has(item, fetch.HeaderSpecial),
		}
	}
	if info, ok := res.Info.(*ftp.Info); ok {
		d.Exact, d.Partial, d.Names, d.Hides = info.Facts, info.Unread > 0, info.Names, info.Hides
	} else {
		d.Exact = true
	}
	return d, nil
}

// Create creates the directory of the URL and those above it, and lists it.
func (s *Site) Create(ctx context.Context) (Directory, error) {
	l, isFile := s.start.(*locator.File)
	if !isFile {
		return s.list(ctx, nil, ftp.Options{CreateDirs: true})
	}
	for i, name := range l.Segments {
		above := *l
		above.Segments = append(slices.Clone(l.Segments[:i]), "")
		edits := []fetch.Edit{{Kind: fetch.EditMakeDir, Name: name}}
		if err := s.Server.Edit(ctx, &fetch.Request{Locator: &above, From: s.From, Options: s.Options}, edits); err != nil {
			return Directory{}, err
		}
		if err := edits[0].Err; err != nil && i == len(l.Segments)-1 && !errors.Is(err, fs.ErrExist) {
			return Directory{}, err // the directories above may exist, but not be writable
		}
	}
	return s.List(ctx, nil)
}

func has(item fetch.Item, header string) bool {
	return slices.ContainsFunc(item.Header, func(f fetch.Field) bool { return f.Name == header })
}

// Look returns what a web server has under a path. ok is false if there is nothing. Some servers do not know
// HEAD: they are sent a GET, whose body is not read.
func (s *Site) Look(ctx context.Context, path []string) (t Entry, ok bool, err error) {
	attr, err := s.Server.FindAttributes(ctx, s.request(path, false, nil))
	if errors.Is(err, fetch.ErrUnsupported) {
		var res *fetch.Resource
		if res, err = s.Content(ctx, path, 0, 0); err == nil {
			_ = res.Close()
			attr = &res.Attributes
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Entry{}, false, nil
	case err != nil:
		return Entry{}, false, err
	}
	return Entry{Size: attr.Size, Modified: attr.ModTime.UTC().Truncate(time.Second)}, true, nil
}

// Put stores body under a path, from an offset on.
func (s *Site) Put(ctx context.Context, path []string, body io.Reader, offset int64, more func() bool) error {
	req := s.request(path, false, func(o *ftp.Options) { o.Unchecked, o.More = true, more })
	if offset > 0 {
		_, err := s.Server.Update(ctx, req, body)
		if !errors.Is(err, fetch.ErrUnsupported) {
			return err
		}
		req.Offset = offset
	}
	_, err := s.Server.Replace(ctx, req, body)
	return err
}

// Edit performs edits in a directory. more reports whether an upload follows; if nil, none does.
func (s *Site) Edit(ctx context.Context, path []string, edits []fetch.Edit, more func() bool) error {
	return s.Server.Edit(ctx, s.request(path, true, func(o *ftp.Options) { o.More = more }), edits)
}

// Remove deletes a URL of a web server.
func (s *Site) Remove(ctx context.Context, path []string) error {
	return s.send(ctx, http.MethodDelete, path, false)
}

// MakeDirs creates a directory of a web server, with those above it, by MKCOL (RFC 4918). It reports whether
// the directory may exist now: another request may have created it.
func (s *Site) MakeDirs(ctx context.Context, path []string) bool {
	var err error
	for i := range path {
		err = s.send(ctx, "MKCOL", path[:i+1], true)
	}
	e, _ := errors.AsType[*fetch.Error](err)
	return err == nil || e != nil && e.Code == http.StatusMethodNotAllowed
}

// send makes a request of a web server that has no body.
func (s *Site) send(ctx context.Context, method string, path []string, dir bool) error {
	req := s.request(path, dir, nil)
	o, ok := req.Options.(*fetchhttp.Options)
	if !ok || o == nil {
		o = new(fetchhttp.Options)
	}
	o.Method, req.Options = method, o
	res, err := s.Server.Fetch(ctx, req)
	if err != nil {
		return err
	}
	return res.Close()
}

// Content opens a file on the server.
func (s *Site) Content(ctx context.Context, path []string, offset, length int64) (*fetch.Resource, error) {
	req := s.request(path, false, nil)
	req.Offset, req.Length = offset, length
	return s.Server.Fetch(ctx, req)
}
