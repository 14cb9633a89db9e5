package gateway

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/remotefs"
)

const (
	tarMembers = 100_000 // in an archive
	tarHeld    = 1 << 20 // bytes of a file that are held to find out how long it is
	tarNotes   = 1000    // lines about what was left out
)

// tar sends a directory with everything below it as one archive. Nothing of it is kept. If a member
// fails, the response is broken off, so that no archive without it looks complete.
func (v directoryPages) tar() error {
	switch v.req.loc.(type) {
	case *locator.FTP, *locator.Gopher, *locator.Prospero:
	default:
		return &failure{Status: http.StatusBadRequest, Text: "This is not a directory."}
	}
	req := v.up.request(v.req.loc)
	tree, err := remotefs.New(v.up.ctx, v.up.resolver, req.Locator.String())
	if err != nil {
		return err
	}
	members, stop, err := begun(tree.Walk(tarMembers))
	defer stop()
	if err != nil {
		return err
	}
	v.out.kind = "tar"
	top := filename.Component(place.TopOf(v.req.loc))
	v.out.secure(v.req)
	v.out.Header().Set("Content-Security-Policy", octetsSecurity)
	v.out.Header().Set("Content-Type", "application/x-tar")
	v.out.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": top + ".tar"}))
	v.out.WriteHeader(http.StatusOK)
	if v.req.r.Method == http.MethodHead {
		return nil
	}
	out := bufio.NewWriterSize(v.out, 64<<10)
	a := newArchive(v.up, out, top)
	err = a.directory(top+"/", &fetch.Item{})
	for item, failure := range members {
		if err == nil {
			err = failure
		}
		if err == nil {
			err = a.add(&item)
		}
		if err != nil {
			break
		}
	}
	if err == nil {
		err = a.end()
	}
	return cmp.Or(err, out.Flush())
}

// An archive is a tar archive that is being sent. Its members are below one directory. Their names
// are safe on every system, as those of files that the command line writes.
type archive struct {
	up    *upstream
	w     *tar.Writer
	top   string
	dirs  []archiveDir         // the directory whose entries are being added, and those above it
	used  map[[8]byte]struct{} // hashes of the names of all members
	notes []string             // about what is not in the archive
	left  int                  // how many are not
}

// An archiveDir is a directory in an archive.
type archiveDir struct{ path, name string } // with a slash; the path of the top is empty

func newArchive(up *upstream, out io.Writer, top string) *archive {
	return &archive{up: up, w: tar.NewWriter(out), top: top, dirs: []archiveDir{{"", top + "/"}}, used: make(map[[8]byte]struct{})}
}

// add adds an entry of the directory. The entries of a directory come right after it.
func (a *archive) add(item *fetch.Item) error {
	for _, field := range item.Header {
		switch field.Name {
		case fetch.HeaderLink:
			return a.symlink(item, field.Value)
		case fetch.HeaderSpecial:
			a.leaveOut(item.Name, "a device or another special file")
			return nil
		}
	}
	name := a.name(item.Name)
	if item.Kind == fetch.KindDirectory || item.Kind == fetch.KindMenu {
		a.dirs = append(a.dirs, archiveDir{item.Name + "/", name + "/"})
		return a.directory(name+"/", item)
	}
	return a.file(name, item)
}

// name is the name of the member for a path. Different paths have different names. A name whose hash
// is that of another name gets a number, too.
func (a *archive) name(of string) string {
	dir, base := path.Split(of)
	for a.dirs[len(a.dirs)-1].path != dir {
		a.dirs = a.dirs[:len(a.dirs)-1]
	}
	name := a.dirs[len(a.dirs)-1].name + filename.Component(base)
	suffix := path.Ext(name)
	stem := strings.TrimSuffix(name, suffix)
	for n := 2; ; n++ {
		sum := sha256.Sum256([]byte(name))
		hash := [8]byte(sum[:])
		if _, used := a.used[hash]; !used {
			a.used[hash] = struct{}{}
			return name
		}
		name = stem + "-" + strconv.Itoa(n) + suffix
	}
}

func (a *archive) directory(name string, item *fetch.Item) error {
	return a.w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o755, ModTime: item.ModTime})
}

// symlink adds a symbolic link if it leads to somewhere below the directory: ".." only at its
// beginning, and not above the top.
func (a *archive) symlink(item *fetch.Item, target string) error {
	rest, up := target, 0
	for after, ok := strings.CutPrefix(rest, "../"); ok; after, ok = strings.CutPrefix(rest, "../") {
		rest = after
		up++
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(rest, "/"), "/") {
		if filename.Component(part) != part || up > strings.Count(item.Name, "/") {
			a.leaveOut(item.Name, "a symbolic link to "+target)
			return nil
		}
	}
	return a.w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: a.name(item.Name), Linkname: target, Mode: 0o777, ModTime: item.ModTime})
}

// file adds a file. An archive has the length of a file before its bytes. If the server does not
// say it, the file is read to its end, and once more if it is long.
func (a *archive) file(name string, item *fetch.Item) error {
	res, err := a.fetch(item)
	if err != nil {
		return err
	}
	defer func() { res.Close() }()
	size, body := res.Size, io.Reader(res.Body)
	if size < 0 {
		held, err := io.ReadAll(io.LimitReader(body, tarHeld))
		if err != nil {
			return err
		}
		size, body = int64(len(held)), bytes.NewReader(held)
		if len(held) == tarHeld {
			n, err := io.Copy(io.Discard, res.Body)
			if err != nil {
				return err
			}
			size += n
			res.Close()
			if res, err = a.fetch(item); err != nil {
				return err
			}
			body = res.Body
		}
	}
	if err := a.w.WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o644, ModTime: item.ModTime}); err != nil {
		return err
	}
	n, err := io.Copy(a.w, body)
	if n != size && err == nil || errors.Is(err, tar.ErrWriteTooLong) {
		err = driver.Fail(fetch.OpRead, item.Locator, fetch.ErrTruncated, errors.New("the length of the file has changed"))
	}
	return err
}

// fetch fetches a document of the archive.
func (a *archive) fetch(item *fetch.Item) (*fetch.Resource, error) {
	req := a.up.bare(item.Locator)
	if _, ok := item.Locator.(*locator.FTP); ok {
		req.Options = &ftp.Options{EndAtSize: true}
	}
	res, err := a.up.fetch(req)
	if err == nil && res.Kind != fetch.KindDocument {
		res.Close()
		err = driver.Fail(fetch.OpRead, item.Locator, fetch.ErrNoOctets, nil)
	}
	return res, err
}

// leaveOut notes that something is not in the archive.
func (a *archive) leaveOut(path, what string) {
	if a.left++; len(a.notes) < tarNotes {
		a.notes = append(a.notes, visible.Name(path)+": "+visible.Name(what)+"\n")
	}
}

// end adds the list of what is not in the archive, and ends it.
func (a *archive) end() error {
	if a.left > 0 {
		text := fmt.Sprintf("Not in this archive: %d\n", a.left) + strings.Join(a.notes, "")
		if more := a.left - len(a.notes); more > 0 {
			text += fmt.Sprintf("(%d more)\n", more)
		}
		if err := a.w.WriteHeader(&tar.Header{Name: a.top + ".left-out.txt", Size: int64(len(text)), Mode: 0o644}); err != nil {
			return err
		}
		if _, err := io.WriteString(a.w, text); err != nil {
			return err
		}
	}
	return a.w.Close()
}
