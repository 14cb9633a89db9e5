package replay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// startFTP starts a server of FTP. It sends the listings as they were recorded, and makes those of
// other commands from them.
func startFTP(ctx context.Context, s *site, addr string, set func(*testserver.Server)) (*testserver.Server, error) {
	files := &ftpFiles{site: s}
	server, err := ftptest.Start(ctx, addr, func(srv *ftptest.Server) {
		set(&srv.Server)
		srv.Content, srv.ReadOnly, srv.ListingOctets = files, true, files.listing
		srv.Greeting = fmt.Sprintf("220 The archive of %s", s.Site)
		srv.Replies = ftptest.Replies{"550 no such file or directory": "550 The archive has no capture of it."}
	})
	if err != nil {
		return nil, err
	}
	return &server.Server, nil
}

// ftpFiles are the files of a site. A file or directory that a listing has, but not the archive, can be
// seen and not opened.
type ftpFiles struct {
	*site

	mu      sync.Mutex
	last    string                 // the directory that was listed last
	entries map[string]fs.FileInfo // its entries; nil means not read
}

// ftpPaths returns the parts of a path as a URL may have them: below the directory after the login, or
// from the root as in ftp://h/%2Fpub/.
func ftpPaths(name string) [][]string {
	if name == "." {
		return [][]string{nil, {"/"}}
	}
	parts := strings.Split(name, "/")
	return [][]string{parts, slices.Concat([]string{"/" + parts[0]}, parts[1:])}
}

// find returns the capture of a file or, with dir, of the listing of a directory.
func (f *ftpFiles) find(name string, dir bool) (*archive.Capture, error) {
	for _, parts := range ftpPaths(name) {
		for _, typ := range []byte{0, 'i', 'a', 'd'} {
			l := locator.FTP{CWD: parts, Type: typ, HasPath: true, Secure: f.Scheme == "ftps"}
			if last := len(parts) - 1; last >= 0 && (!dir || typ == 'd') {
				l.CWD, l.Name = parts[:last], parts[last]
			}
			if !dir && typ == 'd' {
				continue
			}
			c, err := f.site.find(func(at locator.HostPort) locator.Locator {
				l.HostPort = at
				return &l
			})
			if !errors.Is(err, errNoCapture) {
				return c, err
			}
		}
	}
	return nil, errNoCapture
}

// below yields the captures below a directory.
func (f *ftpFiles) below(name string) func(func(rest string, c *archive.Capture) bool) {
	l := locator.FTP{HasPath: true, Secure: f.Scheme == "ftps"}
	return func(yield func(string, *archive.Capture) bool) {
		for _, l.HostPort = range f.spellings {
			for _, l.CWD = range ftpPaths(name) {
				prefix := l.String()
				for c, err := range f.replay.archive.Captures(prefix) {
					if err != nil || !yield(c.URL[len(prefix):], c) {
						return
					}
				}
			}
		}
	}
}

// Stat implements fs.StatFS.
func (f *ftpFiles) Stat(name string) (fs.FileInfo, error) {
	c, err := f.find(name, false)
	if err == nil && name != "." {
		return f.info(name, c), nil
	}
	if c, err = f.find(name, true); err == nil {
		return ftpInfo{name: path.Base(name), mod: c.Time, dir: true}, nil
	}
	for _, c := range f.below(name) {
		return ftpInfo{name: path.Base(name), mod: c.Time, dir: true}, nil
	}
	if name == "." {
		return ftpInfo{name: name, dir: true}, nil
	}
	entries, listErr := f.list(path.Dir(name))
	if known, ok := entries[path.Base(name)]; listErr == nil && ok {
		return known, nil
	}
	return nil, err
}

// info describes a captured file. Its modification time is that of the server, of the listing or,
// if neither is known, of the capture.
func (f *ftpFiles) info(name string, c *archive.Capture) ftpInfo {
	i := ftpInfo{name: path.Base(name), size: c.Size, mod: c.Modified}
	if i.mod.IsZero() {
		i.mod = c.Time
		if _, err := f.find(path.Dir(name), true); err == nil {
			if entries, err := f.list(path.Dir(name)); err == nil && entries[i.name] != nil && !entries[i.name].ModTime().IsZero() {
				i.mod = entries[i.name].ModTime()
			}
		}
	}
	return i
}

// Open implements fs.FS, for files.
func (f *ftpFiles) Open(name string) (fs.File, error) {
	c, err := f.find(name, false)
	if err != nil {
		return nil, err
	}
	doc, err := f.open(c)
	if err != nil {
		return nil, err
	}
	return ftpFile{doc.Body, f.info(name, c)}, nil
}

// ReadDir implements fs.ReadDirFS.
func (f *ftpFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := f.list(name)
	if err != nil {
		return nil, err
	}
	var list []fs.DirEntry
	for _, e := range entries {
		list = append(list, fs.FileInfoToDirEntry(e))
	}
	return list, nil
}

// list returns what a directory has: what its listing says or, without a listing, what was captured
// below it.
func (f *ftpFiles) list(name string) (map[string]fs.FileInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.entries != nil && f.last == name {
		return f.entries, nil
	}
	c, err := f.find(name, true)
	entries := make(map[string]fs.FileInfo)
	switch {
	case err == nil:
		err = f.read(c, entries)
	case errors.Is(err, errNoCapture):
		err = nil
		for rest, c := range f.below(name) {
			first, _, deeper := strings.Cut(rest, "/")
			encoded, _, _ := strings.Cut(first, ";type=")
			if name, decodeErr := url.PathUnescape(strings.TrimPrefix(encoded, "%2F")); decodeErr == nil && name != "" {
				entries[name] = ftpInfo{name: name, size: c.Size, mod: c.Time, dir: deeper}
			}
		}
	}
	if err != nil {
		return nil, err
	}
	f.last, f.entries = name, entries
	return entries, nil
}

// read adds the entries of a listing, as the Fetcher reads it from the server in memory. It keeps no
// session, so that it does not ask about names of a listing that it does not understand: the server
// would need that listing for its replies.
func (f *ftpFiles) read(c *archive.Capture, entries map[string]fs.FileInfo) error {
	resolver := f.replay.Resolver()
	defer resolver.Close()
	req, err := resolver.Request(f.replay.ctx, c.URL)
	if err != nil {
		return err
	}
	client := &ftp.Fetcher{Env: f.replay.env(&resolver.Env), MaxIdle: -1}
	defer client.Close()
	// The server refuses MLSD unless that was recorded: so it sends what was recorded in any case.
	req.Options = &ftp.Options{Facts: true}
	res, err := client.Fetch(f.replay.ctx, req)
	if err != nil {
		return err
	}
	defer res.Close()
	if res.Items == nil {
		return nil
	}
	for item, err := range res.Items {
		if err != nil {
			return err
		}
		if name := item.Name; name != "" && name != "." && name != ".." && !strings.Contains(name, "/") {
			entries[name] = ftpInfo{name: name, size: max(0, item.Size), mod: item.ModTime, dir: item.Kind == fetch.KindDirectory}
		}
	}
	return nil
}

// listing returns the recorded listing of a directory for a command. It is nil if the listing has to be
// made from a recorded one for another command.
func (f *ftpFiles) listing(command, dir string) (io.ReadCloser, error) {
	if dir == "" {
		dir = "."
	}
	c, err := f.find(dir, true)
	if err != nil {
		for range f.below(dir) {
			return nil, nil // of what is below it
		}
		if dir == "." {
			return nil, nil
		}
		return nil, err
	}
	doc, err := f.open(c)
	if err != nil {
		return nil, err
	}
	r := bufio.NewReader(doc.Body)
	first, _ := r.Peek(1 << 10)
	recorded := listingCommand(string(first))
	if recorded == command || recorded == "" {
		return octets{r, doc.Body}, nil
	}
	doc.Body.Close()
	if command == "MLSD" || recorded == "NLST" {
		return nil, errors.ErrUnsupported // the client repeats it with the other command
	}
	return nil, nil
}

// listingCommand returns the command whose listing begins with some octets; "" if it is empty.
func listingCommand(begins string) string {
	line, _, _ := strings.Cut(begins, "\n")
	line = strings.TrimRight(line, "\r")
	facts, _, spaced := strings.Cut(line, " ")
	switch {
	case begins == "":
		return ""
	case strings.Contains(facts, "=") && strings.HasSuffix(facts, ";"), strings.HasPrefix(line, " "):
		return "MLSD"
	case !spaced && !strings.Contains(line, "\t"):
		return "NLST"
	}
	return "LIST"
}

// ftpInfo describes a file or directory.
type ftpInfo struct {
	name string
	size int64
	mod  time.Time
	dir  bool
}

func (i ftpInfo) Name() string       { return i.name }
func (i ftpInfo) Size() int64        { return i.size }
func (i ftpInfo) ModTime() time.Time { return i.mod }
func (i ftpInfo) IsDir() bool        { return i.dir }
func (i ftpInfo) Sys() any           { return nil }
func (i ftpInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

// ftpFile is an open file.
type ftpFile struct {
	io.ReadCloser
	info ftpInfo
}

func (f ftpFile) Stat() (fs.FileInfo, error) { return f.info, nil }
