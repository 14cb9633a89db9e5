package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/fetch1738/fetch1738/download"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/packed"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/locator"
)

// packedPages show what is in zip and tar archives: ?in=PATH of the URL of an archive. A path that is
// empty or ends in a slash is that of a folder, any other one is that of a file.
type packedPages pages

const (
	heldArchive = 16 << 20 // bytes of a zip archive whose server sends no parts of it
)

// show shows a folder or a file of an archive.
func (v packedPages) show() error {
	if packed.FormatOf(place.LastPart(v.req.loc)) == packed.None || !place.IsDocument(v.req.loc) {
		return &failure{Status: http.StatusBadRequest, Text: "The gateway cannot open this as an archive.", Do: "It opens zip and tar archives, by the suffix of the name: .zip, .tar, .tar.gz, .tgz, .tar.bz2 and others."}
	}
	ctx, cancel := context.WithCancel(v.up.ctx)
	defer cancel()
	archive, end, err := v.open(ctx)
	if err != nil {
		return v.failure(err)
	}
	defer end()
	within := v.req.query.Get("in")
	if within == "" || strings.HasSuffix(within, "/") {
		return v.folder(archive, strings.TrimSuffix(within, "/"), cancel)
	}
	return v.file(archive, within)
}

// open opens the archive. A zip archive is read by parts, if the server sends parts. Otherwise it is
// held in memory, if it is small. end must be called.
func (v packedPages) open(ctx context.Context) (a packed.Archive, end func(), err error) {
	req := v.up.request(v.req.loc)
	limits := packed.Usual()
	format := packed.FormatOf(place.LastPart(v.req.loc))
	if format == packed.Zip {
		doc, err := download.ReaderAt(ctx, v.up.resolver, req.Locator.String())
		if err == nil {
			end = func() { _ = doc.Close() }
			a, err := packed.OpenZip(doc, doc.Size(), limits)
			if err != nil {
				end()
			}
			return a, end, err
		}
		if fetch.KindOf(err) != fetch.ErrUnsupported {
			return nil, nil, err
		}
		select {
		case v.req.h.heldArchives <- struct{}{}:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	release := func() {
		if format == packed.Zip {
			<-v.req.h.heldArchives
		}
	}
	res, err := v.up.resolver.Fetch(ctx, req)
	if err != nil {
		release()
		return nil, nil, err
	}
	end = func() {
		_ = res.Close()
		release()
	}
	if format != packed.Zip {
		return packed.OpenTar(res.Body, format, limits), end, nil
	}
	if a, err = held(res, limits); err != nil {
		end()
	}
	return a, end, err
}

// held reads a small zip archive into memory.
func held(res *fetch.Resource, limits packed.Limits) (packed.Archive, error) {
	data, err := io.ReadAll(io.LimitReader(res.Body, heldArchive+1))
	if err != nil {
		return nil, err
	}
	if len(data) > heldArchive {
		return nil, &packed.LimitError{Text: fmt.Sprintf("it is larger than %d MiB, and the server sends no parts of it", heldArchive>>20)}
	}
	return packed.OpenZip(bytes.NewReader(data), int64(len(data)), limits)
}

// failure is the error of reading an archive for a person.
func (v packedPages) failure(err error) error {
	limit, exceeded := errors.AsType[*packed.LimitError](err)
	_, damaged := errors.AsType[*packed.DamagedError](err)
	f := &failure{Detail: visible.Name(err.Error()), Links: []crumb{{"Download the archive", v.req.linkTo(v.req.loc).With("raw"), true}}, err: err}
	switch {
	case exceeded:
		f.Status, f.Text, f.Detail = http.StatusRequestEntityTooLarge, "The archive exceeds a limit of the gateway: "+limit.Text+".", ""
		f.Do = "Download the archive, and open it on your computer."
	case damaged:
		f.Status, f.Text, f.Do = http.StatusBadGateway, "The archive is damaged, or it is not what its name says.", "Download it to see what it is."
	case errors.Is(err, packed.ErrNotFound):
		f.Status, f.Text, f.Do, f.Detail = http.StatusNotFound, "The archive has no such file.", "Look for it in the archive.", ""
		f.Links = []crumb{{"Contents of the archive", v.req.linkTo(v.req.loc).With("in="), true}}
	case errors.Is(err, packed.ErrEncrypted):
		f.Status, f.Text, f.Do = http.StatusForbidden, "This file is encrypted.", "Download the archive, and open it with its password."
	case errors.Is(err, packed.ErrMethod):
		f.Status, f.Text, f.Do = http.StatusBadRequest, "The gateway does not know how this file is compressed.", "Download the archive, and open it on your computer."
	case errors.Is(err, packed.ErrNotFile):
		f.Status, f.Text = http.StatusBadRequest, "This is a link or a special file, which the gateway does not follow."
		f.Do = "Download the archive, and open it on your computer."
	default:
		return err
	}
	return f
}

// folder shows a folder of an archive.
func (v packedPages) folder(archive packed.Archive, folder string, cancel func()) error {
	items := v.items(archive, folder)
	res := &fetch.Resource{Locator: v.req.loc, Kind: fetch.KindDirectory, Body: http.NoBody, Items: items}
	if format := formatOf(v.req); format != nil {
		return v.out.formatted(v.req, res, format)
	}
	if v.req.r.Method == http.MethodHead {
		for _, err := range items { // the first one says whether the folder is there
			if err != nil {
				return v.failure(err)
			}
			break
		}
		return v.out.render(v.req, "directory", http.StatusOK, &page{})
	}
	d := &directory{
		res: res, Unread: new(unread), Archive: archive,
		UTC: packed.FormatOf(place.LastPart(v.req.loc)) != packed.Zip, listing: listing{cancel: cancel, entries: v.entries(folder, items)},
	}
	if err := directoryPages(v).list(d); err != nil {
		return v.failure(err)
	}
	return nil
}

// items are the members that are directly in a folder of an archive.
func (v packedPages) items(archive packed.Archive, folder string) iter.Seq2[fetch.Item, error] {
	return func(yield func(fetch.Item, error) bool) {
		for m, err := range packed.In(archive, folder) {
			if !yield(v.item(&m), err) {
				return
			}
		}
	}
}

// item is a member of an archive as an item of a listing.
func (v packedPages) item(m *packed.Member) fetch.Item {
	item := fetch.Item{Name: path.Base(m.Path), Kind: fetch.KindDocument, Attributes: fetch.Attributes{Size: m.Size, ModTime: m.ModTime}}
	switch m.Kind {
	case packed.Folder:
		item.Kind = fetch.KindDirectory
	case packed.Link:
		item.Header = []fetch.Field{{Name: fetch.HeaderLink, Value: m.Target}}
	case packed.Special:
		item.Header = []fetch.Field{{Name: fetch.HeaderSpecial}}
	case packed.Encrypted:
		item.Header = []fetch.Field{{Name: headerEncrypted}}
	}
	return item
}

// headerEncrypted is the header field of a file of an archive that needs a password.
const headerEncrypted = "Encrypted"

// entries are the items of a folder of an archive as entries. Links are not followed.
func (v packedPages) entries(folder string, items iter.Seq2[fetch.Item, error]) iter.Seq2[dirEntry, error] {
	within := ""
	if folder != "" {
		within = folder + "/"
	}
	return func(yield func(dirEntry, error) bool) {
		for item, err := range items {
			if err != nil {
				yield(dirEntry{}, err)
				return
			}
			e := entryOf(v.req, "", "", &item)
			for _, field := range item.Header {
				if field.Name == headerEncrypted {
					e.kind = kindEncrypted
				}
			}
			switch e.kind {
			case kindFolder:
				e.more = &entryMore{link: v.req.linkTo(v.req.loc).With("in=" + url.QueryEscape(within+item.Name+"/"))}
			case kindFile:
				e.more = &entryMore{link: v.req.linkTo(v.req.loc).With("in=" + url.QueryEscape(within+item.Name))}
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// file shows a file of an archive, by the rules for documents.
func (v packedPages) file(archive packed.Archive, within string) error {
	m, body, err := archive.Open(within)
	if err != nil {
		return v.failure(err)
	}
	name := path.Base(m.Path)
	mediaType := filename.MediaType(name)
	res := &fetch.Resource{
		Locator: &locator.FTP{Name: name}, Kind: fetch.KindDocument, Body: io.NopCloser(body),
		Attributes: fetch.Attributes{Size: m.Size, ModTime: m.ModTime, MediaType: mediaType},
	}
	page := !v.req.wants("raw") && v.req.accepts("text/html") && v.req.r.Header.Get("Range") == ""
	kind := place.KindOfType(mediaType)
	switch {
	case page && kind != "":
		return documentPages(v).showMedia(&mediaPage{
			Kind: kind, Label: name, Size: m.Size, MediaType: mediaType, find: func() *beside { return v.picturesBeside(archive) },
		})
	case page:
		err = documentPages(v).document(res)
	default:
		err = documentPages(v).octetsOf(res)
	}
	if err != nil {
		return v.failure(err)
	}
	return nil
}

// picturesBeside are the neighbours of a picture in a zip archive, whose directory has been read. A tar
// archive would have to be read once more.
func (v packedPages) picturesBeside(archive packed.Archive) *beside {
	if packed.FormatOf(place.LastPart(v.req.loc)) != packed.Zip {
		return nil
	}
	in := v.req.query.Get("in")
	folder := in[:max(0, strings.LastIndexByte(in, '/'))]
	var pictures []picture
	for e, err := range v.entries(folder, v.items(archive, folder)) {
		if err != nil {
			return nil
		}
		if e.isPicture() && e.kind == kindFile {
			pictures = append(pictures, picture{e.name, e.more.link})
		}
	}
	sortPictures(pictures)
	return besideOf(pictures, v.req.here())
}
