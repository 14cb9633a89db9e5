package ftp

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// A download is what is known of a download that has been started.
type download struct {
	size     int64 // of the whole file; -1 if not known
	asked    bool  // SIZE was sent
	byReply  bool  // only the reply to RETR has told the size
	modTime  time.Time
	offset   int64
	nothing  bool  // there is no data to fetch, so no transfer was started
	unwanted bool  // Options.Wanted returned false
	missing  error // from SIZE; the reply to RETR decides
}

// startDownload starts the download of an access.
func (r runner) startDownload(a *access) (s *session, b download, err error) {
	list := func(s commands) []command { return s.download(&b) }
	s, err = r.do(a, list, func(s *session) error {
		if b.offset == 0 && !b.nothing && !a.ascii() {
			b.compareSize(s)
		}
		return nil
	})
	return s, b, err
}

// download returns the commands that start a download, which b then describes.
func (s commands) download(b *download) []command {
	a := s.access
	b.size = -1
	list := s.enter()
	if a.verb == "RETR" && a.opt.ModTime {
		list = append(list, s.named("MDTM", a.name, func() (err error) {
			b.modTime, err = s.modTime(a.name)
			return unlessRefused(err)
		}))
	}
	if a.verb == "RETR" && a.opt.Wanted != nil {
		list = append(list, command{alone: true, do: func() error {
			if !a.opt.Wanted(fetch.Attributes{Size: -1, ModTime: b.modTime}) {
				b.nothing, b.unwanted = true, true
				return errEnough
			}
			return nil
		}})
	}
	list = s.prepare(list)
	if b.asked = a.wantsSize(s.session); b.asked {
		list = append(list, s.named("SIZE", a.name, func() (err error) {
			b.size, err = a.sizeOf(s.session, b)
			return unlessRefused(err)
		}))
	}
	sized := a.req.Offset != 0 && a.req.Length == 0 || a.limits.Body > 0 // whether there is a transfer depends on the size
	list = append(list, command{alone: sized, do: func() error { return a.locateIn(b) }})
	list = s.askPort(list)
	start := command{
		line: a.transferLine(a.name), alone: true, with: s.transfers().withTransfer, explain: a.transferSteps,
		do: func() error { return a.retrieve(s.session, b) },
	}
	if s.data.isReady() && a.req.Offset == 0 && a.verb == "RETR" && s.isPrepared() {
		start.alone = !s.sendsAsIs(a.name)
	}
	return append(list, start)
}

// wantsSize reports whether SIZE is sent before the transfer. Without a size, a truncated transfer
// that ends with 226 looks complete. In type A, servers count differently, so SIZE is sent only if
// the offset is relative to the end. A whole file needs no SIZE if the reply to RETR states the
// size. That reply repeats the name, in which a parenthesis could look like a size.
func (a *access) wantsSize(s *session) bool {
	switch {
	case a.verb != "RETR":
		return false
	case a.req.Offset < 0:
		return true
	case a.typ != 'I' || a.exact:
		return false
	}
	whole := a.req.Offset == 0 && a.req.Length == 0
	return !whole || a.limits.Body > 0 || a.opt.EndAtSize || strings.Contains(a.name, "(") || !s.retrStatesSize
}

// sizeOf asks for the size before a download. If the server says that there is no such file, the reply
// to RETR decides.
func (a *access) sizeOf(s *session, b *download) (int64, error) {
	n, err := s.size(a.name)
	if err != nil {
		n = -1
	}
	if a.typ == 'I' && refusal(err) && errors.Is(err, fetch.ErrNotFound) {
		b.missing = err
	}
	return n, err
}

// locateIn finds out which part of a file of that size is to be sent.
func (a *access) locateIn(b *download) error {
	if b.missing != nil && a.req.Offset < 0 {
		return b.missing
	}
	if whole := a.req.Offset == 0 && a.req.Length == 0; whole && a.limits.Body > 0 && b.size > a.limits.Body {
		return a.fail(fetch.OpRead, &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("the file has %d bytes; the limit is %d", b.size, a.limits.Body)})
	}
	if err := a.seek(b); err != nil {
		return a.fail(fetch.OpSeek, err)
	}
	if b.nothing {
		return errEnough
	}
	return nil
}

// seek computes the offset from the start of the file from Request.Offset.
func (a *access) seek(b *download) error {
	b.offset = a.req.Offset
	switch {
	case b.offset == 0:
	case a.isListing():
		return &fetch.Error{Kind: fetch.ErrBadRange, Err: errors.New("cannot fetch part of a directory listing")}
	case b.offset < 0 && b.size < 0:
		return &fetch.Error{Kind: fetch.ErrBadRange, Err: errors.New("the server did not send the size; an offset from the end requires it")}
	case b.offset < 0:
		b.offset = max(0, b.size+b.offset)
	case b.size >= 0 && b.offset+a.lead > b.size:
		return &fetch.Error{Kind: fetch.ErrBadRange, Err: fmt.Errorf("offset %d is beyond the end of the file (%d bytes)", b.offset+a.lead, b.size)}
	}
	b.nothing = b.offset > 0 && b.offset+a.lead == b.size
	return nil
}

// retrieve starts the transfer of a download.
func (a *access) retrieve(s *session, b *download) error {
	err := s.transfers().download(b.offset)
	// Servers refuse a missing file with codes of other meanings, too, which SIZE tells apart.
	if e, ok := errors.AsType[*fetch.Error](err); ok && e.Op == "RETR" && e.Code/100 == 5 && e.Kind != fetch.ErrNotFound {
		if !b.asked && a.wantsSize(s) {
			_, b.missing = s.size(a.name)
		}
		if errors.Is(b.missing, fetch.ErrNotFound) {
			e.Kind = fetch.ErrNotFound
		}
	}
	if a.isListing() && a.name == "" && noFiles(err) {
		b.nothing, err = true, nil
	}
	return err
}

// compareSize compares the size in the reply to RETR, if any, with that of SIZE. If SIZE was not sent,
// it sets the size of b.
func (b *download) compareSize(s *session) {
	stated := s.ctl.announced
	if b.size >= 0 {
		s.retrStatesSize = stated == b.size
		return
	}
	b.size, b.byReply, s.retrStatesSize = stated, true, s.retrStatesSize && stated >= 0
}
