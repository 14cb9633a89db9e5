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
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/locator"
)

// packedPages show what is in zip and tar archives: ?in=PATH of the URL of an archive. A path that is
// empty or ends in a slash is that of a folder, any other one is that of a file.
type packedPages struct{ *visit }

const (
	heldArchive  = 16 << 20 // bytes of a zip archive whose server sends no parts of it
	heldArchives = 4        // at once
)

// show shows a folder or a file of an archive.
func (v packedPages) show() error {
	if packed.FormatOf(lastPart(v.loc)) == packed.None || !isDocument(v.loc) {
		return &failure{Status: http.StatusBadRequest, Text: "The gateway cannot open this as an archive.", Do: "It opens zip and tar archives, by the suffix of the name: .zip, .tar, .tar.gz, .tgz, .tar.bz2 and others."}
	}
	ctx, cancel := context.WithCancel(v.context())
	defer cancel()
	archive, end, err := v.open(ctx)
	if err != nil {
		return v.failure(err)
	}
	defer end()
	within := v.query.Get("in")
	if within == "" || strings.HasSuffix(within, "/") {
		return v.folder(archive, strings.TrimSuffix(within, "/"), cancel)
	}
	return v.file(archive, within)
}

// open opens the archive. A zip archive is read by parts, if the server sends parts. Otherwise it is
// held in memory, if it is small. end must be called.
func (v packedPages) open(ctx context.Context) (a packed.Archive, end func(), err error) {
	req := v.request(v.loc)
	v.prepare(req)
	limits := packed.Usual()
	format := packed.FormatOf(lastPart(v.loc))
	if format == packed.Zip {
		doc, err := download.ReaderAt(ctx, v.h.resolver(), req.Locator.String())
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
		case v.h.heldArchives <- struct{}{}:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	release := func() {
		if format == packed.Zip {
			<-v.h.heldArchives
		}
	}
	res, err := v.h.resolver().Fetch(ctx, req)
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
	f := &failure{Detail: visible(err.Error()), Links: []crumb{{"Download the archive", v.linkTo(v.loc).With("raw"), true}}, err: err}
	switch {
	case exceeded:
		f.Status, f.Text, f.Detail = http.StatusRequestEntityTooLarge, "The archive exceeds a limit of the gateway: "+limit.Text+".", ""
		f.Do = "Download the archive, and open it on your computer."
	case damaged:
		f.Status, f.Text, f.Do = http.StatusBadGateway, "The archive is damaged, or it is not what its name says.", "Download it to see what it is."
	case errors.Is(err, packed.ErrNotFound):
		f.Status, f.Text, f.Do, f.Detail = http.StatusNotFound, "The archive has no such file.", "Look for it in the archive.", ""
		f.Links = []crumb{{"Contents of the archive", v.linkTo(v.loc).With("in="), true}}
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
	res := &fetch.Resource{Locator: v.loc, Kind: fetch.KindDirectory, Body: http.NoBody, Items: items}
	if format := directoryPages(v).format(); format != nil {
		return directoryPages(v).formatted(res, format)
	}
	if v.r.Method == http.MethodHead {
		for _, err := range items { // the first one says whether the folder is there
			if err != nil {
				return v.failure(err)
			}
			break
		}
		return v.render("directory", http.StatusOK, &page{})
	}
	d := &directory{
		res: res, cancel: cancel, Unread: new(unread), Archive: archive,
		UTC: packed.FormatOf(lastPart(v.loc)) != packed.Zip, entries: v.entries(folder, items),
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
			e := directoryPages(v).entry("", "", &item)
			for _, field := range item.Header {
				if field.Name == headerEncrypted {
					e.kind = kindEncrypted
				}
			}
			switch e.kind {
			case kindFolder:
				e.more = &entryMore{link: v.linkTo(v.loc).With("in=" + url.QueryEscape(within+item.Name+"/"))}
			case kindFile:
				e.more = &entryMore{link: v.linkTo(v.loc).With("in=" + url.QueryEscape(within+item.Name))}
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
	page := !v.wants("raw") && v.accepts("text/html") && v.r.Header.Get("Range") == ""
	kind := mediaKindOf(mediaType)
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

// way is the way to a page about an archive and on to what is in it.
func (v packedPages) way(way []crumb) []crumb {
	within := v.query.Get("in")
	if len(way) == 0 || within == "" {
		return way
	}
	way[len(way)-1].Link = v.linkTo(v.loc).With("in=")
	parts := strings.SplitAfter(strings.TrimSuffix(within, "/"), "/")
	at := ""
	for i, part := range parts {
		at += part
		c := crumb{Text: visible(strings.TrimSuffix(part, "/"))}
		if i < len(parts)-1 {
			c.Link = v.linkTo(v.loc).With("in=" + url.QueryEscape(at))
		}
		way = append(way, c)
	}
	return way
}

// heading is the name of what is in the archive, or of the archive itself.
func (v packedPages) heading() string {
	if within := strings.Trim(v.query.Get("in"), "/"); within != "" {
		return visible(path.Base(within))
	}
	return visible(lastPart(v.loc))
}

// parent is the link to the folder that has this one: in the archive, or that of the archive.
func (v packedPages) parent() place.Link {
	within := strings.TrimSuffix(v.query.Get("in"), "/")
	if within != "" {
		dir, _ := path.Split(within)
		return v.linkTo(v.loc).With("in=" + url.QueryEscape(dir))
	}
	l, ok := v.loc.(*locator.FTP)
	if !ok {
		return place.Link{}
	}
	folder := *l
	folder.Name, folder.Type = "", 0
	return v.linkTo(&folder)
}
