package mirror

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror/internal/local"
	"github.com/fetch1738/fetch1738/mirror/internal/mailbox"
)

// A Mailbox is a form in which programs for mail and news read many articles. Articles have LF for
// CR LF there; all other octets stay.
type Mailbox string

// The mailboxes. The zero value means a file for each article.
const (
	// MBox is one file, GROUP.mbox, in the format mboxrd: a line of an article that begins with
	// "From ", or with that after any number of ">", has one more ">".
	MBox Mailbox = "mbox"
	// Maildir is a directory GROUP with a file for each article (https://cr.yp.to/proto/maildir.html).
	// The name of the file begins with the number of the article.
	Maildir Mailbox = "maildir"
)

// newBox returns the mailbox of a copy of start, whose tree is t; nil if it has none. deletes says that
// Mirror.Delete is set.
func newBox(form Mailbox, start locator.Locator, t tree, deletes bool) (*mailbox.Box, error) {
	if form == "" {
		return nil, nil
	}
	n, ok := t.(*newsTree)
	switch {
	case !ok:
		return nil, driver.Fail(fetch.OpMirror, start, fetch.ErrUnsupported, errors.New("only a newsgroup can be kept in a mailbox"))
	case deletes:
		return nil, driver.Fail(fetch.OpMirror, start, fetch.ErrUnsupported, errors.New("nothing is deleted from a mailbox"))
	}
	group := ""
	switch l := n.at.(type) {
	case *locator.NNTP:
		group = l.Group
	case *locator.News:
		group = l.Group
	}
	if form == MBox {
		return &mailbox.Box{Name: filename.Component(group) + ".mbox"}, nil
	}
	return &mailbox.Box{Name: filename.Component(group), IsDir: true}, nil
}

// openBox prepares the mailbox, and removes the beginning of an article after an interruption.
func openBox(box *mailbox.Box, dir *local.Dir, m *manifest) error {
	if err := box.Open(dir.Root); err != nil {
		return err
	}
	disk.SyncNames(dir.Root, ".") // of the folder with the manifest
	for line := range m.unfinished() {
		if line.MBox == nil {
			continue
		}
		part, err := dir.Inner.OpenFile(partName(line.URL), os.O_RDONLY, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = cmp.Or(box.Cut(*line.MBox, part), part.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// deliver adds a complete part to the mailbox, and line to the manifest. The lines are on the disk
// before what they are about changes, so that a loss of power leaves no half article that nothing
// tells of.
func deliver(box *mailbox.Box, dir *local.Dir, m *manifest, line ManifestLine, p *part) error {
	if err := cmp.Or(disk.Verify(p.file, dir.Inner, p.name), p.file.Sync()); err != nil {
		return err
	}
	disk.SyncNames(dir.Inner, ".") // openBox needs the part
	err := box.Add(line.File, io.NewSectionReader(p.file, 0, p.size), func(size int64) error {
		begun := line
		begun.SHA256, begun.MBox = "", &size
		return cmp.Or(m.add(begun), m.file.Sync())
	}, func() error { return cmp.Or(m.add(line), m.file.Sync()) })
	if err = cmp.Or(err, p.close()); err == nil {
		err = dir.Inner.Remove(p.name)
	}
	return err
}
