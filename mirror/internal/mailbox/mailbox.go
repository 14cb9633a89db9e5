// Package mailbox adds articles to an mbox or to a maildir, so that an interruption leaves no half of an
// article for those who read it next.
package mailbox

import (
	"bufio"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/text/mbox"
)

// A Box is an mbox, or a maildir if IsDir is set. Lost reports after Open that it has no articles.
type Box struct {
	Name  string // in the directory of the copy
	IsDir bool
	Lost  bool

	root  disk.Folder
	mu    sync.Mutex      // one article is added at a time
	names map[string]bool // in a maildir, without the flags of mail readers
}

// File returns the path of an article by its number and its URL and message-id. That in a maildir is
// the one that it has first.
func (b *Box) File(number, id string) string {
	if !b.IsDir {
		return b.Name
	}
	sum := fnv.New64a()
	_, _ = io.WriteString(sum, id)
	return b.Name + "/new/" + number + "." + hex.EncodeToString(sum.Sum(nil)) + ".fetch1738"
}

// Open prepares the mailbox in a directory. Call Cut next for what an interruption has left.
func (b *Box) Open(root disk.Folder) error {
	b.root = root
	if !b.IsDir {
		_, err := root.Lstat(b.Name)
		if b.Lost = errors.Is(err, fs.ErrNotExist); b.Lost {
			err = nil
		}
		return err
	}
	b.names = make(map[string]bool)
	for _, sub := range []string{"tmp", "new", "cur"} {
		dir := b.Name + "/" + sub
		if err := root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		if sub == "tmp" {
			continue
		}
		list, err := root.OpenFile(dir, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		names, err := list.Readdirnames(-1)
		if err = cmp.Or(err, list.Close()); err != nil {
			return err
		}
		for _, name := range names {
			name, _, _ = strings.Cut(name, ":")
			b.names[name] = true
		}
	}
	b.Lost = len(b.names) == 0
	return nil
}

// Cut removes the beginning of an article from the end of the mbox, which had this size before. What
// another program has written there stays.
func (b *Box) Cut(size int64, article io.ReadSeeker) error {
	file, err := b.root.OpenFile(b.Name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() <= size {
		return err
	}
	rest := &expected{bufio.NewReader(io.NewSectionReader(file, size, info.Size()-size))}
	err = write(rest, article)
	switch _, more := rest.Peek(1); {
	case errors.Is(err, errUnlike), err == nil && more != io.EOF:
		return nil
	case err == nil, errors.Is(err, io.EOF):
		return file.Truncate(size)
	}
	return err
}

var errUnlike = errors.New("the end of the mbox is not the beginning of the article")

// An expected compares what is written with what a reader has. Octets that a loss of power has made
// NUL count as the same.
type expected struct{ *bufio.Reader }

// Write implements io.Writer. The error is errUnlike, or io.EOF where the reader ends.
func (e *expected) Write(p []byte) (int, error) {
	for i, want := range p {
		got, err := e.ReadByte()
		if err != nil {
			return i, err
		}
		if got != want && got != 0 {
			return i, errUnlike
		}
	}
	return len(p), nil
}

// Add adds an article, whose path is that of File. begin is called before an article is added to an
// mbox, with its size, and end when the mailbox has the article. No other article is added meanwhile.
func (b *Box) Add(file string, article io.ReadSeeker, begin func(size int64) error, end func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	add := b.addFile
	if !b.IsDir {
		add = func(_ string, article io.ReadSeeker) error { return b.append(article, begin) }
	}
	if err := add(file, article); err != nil {
		return err
	}
	return end()
}

// append adds an article to the mbox.
func (b *Box) append(article io.ReadSeeker, begin func(size int64) error) error {
	box, err := b.root.OpenFile(b.Name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer box.Close()
	size, err := box.Seek(0, io.SeekEnd)
	if last := []byte("\n"); err == nil && size > 0 { // another program or a loss of power may have cut it
		if _, err = box.ReadAt(last, size-1); err == nil && last[0] != '\n' {
			_, err = box.Write([]byte("\n\n"))
			size += 2
		}
	}
	if err == nil {
		err = begin(size)
	}
	if err != nil {
		return err
	}
	if err := cmp.Or(write(box, article), box.Sync()); err != nil {
		return errors.Join(err, box.Truncate(size))
	}
	if size == 0 {
		disk.SyncNames(b.root, ".")
	}
	return box.Close()
}

// write writes an article as an mbox has it.
func write(w io.Writer, article io.ReadSeeker) error {
	separator := mbox.SeparatorOf(article)
	if _, err := article.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return mbox.Write(w, separator, article)
}

// addFile writes an article, and then gives it its name. An article that a run has added before it
// was interrupted stays as it is.
func (b *Box) addFile(name string, article io.ReadSeeker) error {
	unique := path.Base(name)
	if b.names[unique] {
		return nil
	}
	temporary := b.Name + "/tmp/" + unique
	file, err := b.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err := cmp.Or(err, mbox.WriteLF(file, article), file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("%s: %w", temporary, err)
	}
	if err := disk.Rename(b.root, temporary, name, info); err != nil {
		return err
	}
	b.names[unique] = true
	disk.SyncNames(b.root, path.Dir(name))
	return nil
}
