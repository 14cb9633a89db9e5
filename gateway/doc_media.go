package gateway

import (
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/internal/filename"
	"github.com/fetch1738/fetch1738/locator"
)

// A mediaPage is the data of the page of a picture, a sound or a video.
type mediaPage struct {
	Kind      string     // "image", "audio" or "video"
	Label     string     // what it is called, for those who cannot see it
	Raw       place.Link // the octets
	Size      int64      // in bytes; -1 if not known
	MediaType string     // empty if not known
}

// showsWithout answers a request for a document whose URL says what it is: a picture, a sound or a
// video has a page, for which the browser fetches the octets; what browsers do not show is a
// download, and a file of unknown type may be one. It reports false for everything else.
func (v documentPages) showsWithout() bool {
	if v.native || !isDocument(v.loc) || v.query.Has("q") {
		return false
	}
	mediaType := typeOfURL(v.loc)
	kind := mediaKind(v.loc, mediaType)
	if kind == "" {
		if (mediaType == "" || isText(mediaType)) && !v.showsUnknown() {
			return false
		}
		v.raw()
		return true
	}
	size := int64(-1)
	if _, ok := v.loc.(*locator.FTP); ok { // the size, and whether it exists
		req := v.request(v.loc)
		v.prepare(req)
		attributes, err := v.h.resolver().FindAttributes(v.context(), req)
		if err != nil {
			v.failToFetch(err)
			return true
		}
		size = attributes.Size
	}
	v.render("media", http.StatusOK, &page{Data: &mediaPage{Kind: kind, Label: visible(lastPart(v.loc)), Raw: v.linkTo(v.loc).With("raw"), Size: size, MediaType: mediaType}})
	return true
}

// typeOfURL is the media type of a document as far as its URL says, or empty.
func typeOfURL(l locator.Locator) string {
	switch l := l.(type) {
	case *locator.FTP:
		if l.Type|0x20 == 'a' {
			return "text/plain"
		}
		return fetch1738.MediaType(l.Name)
	case *locator.Gopher:
		bySuffix := filename.MediaType(l.Selector)
		switch l.Type {
		case 'g':
			return "image/gif"
		case 'I', 'p', ':', 's', '<', ';', '9', '5':
			if bySuffix != "" && (mediaKind(l, "") == "" || mediaKind(l, "") == mediaKindOf(bySuffix)) {
				return bySuffix
			}
			if l.Type == '9' || l.Type == '5' {
				return "application/octet-stream"
			}
		case 'P', 'd':
			return "application/pdf"
		}
	}
	return ""
}

// mediaKind is the element for a document of a media type: "image", "audio", "video" or none. The
// item types of gopher say it without a media type.
func mediaKind(l locator.Locator, mediaType string) string {
	if mediaType == "" {
		if g, ok := l.(*locator.Gopher); ok {
			switch g.Type {
			case 'g', 'I', 'p', ':':
				return "image"
			case 's', '<':
				return "audio"
			case ';':
				return "video"
			}
		}
	}
	return mediaKindOf(mediaType)
}

// mediaKindOf is the element for a media type, or empty. SVG is text, because it can contain a
// program; for other types missing here, browsers have no decoder.
func mediaKindOf(mediaType string) string {
	switch mediaType {
	case "image/svg+xml", "image/tiff", "audio/basic", "video/x-msvideo", "video/mpeg":
		return ""
	}
	kind, _, _ := strings.Cut(mediaType, "/")
	switch kind {
	case "image", "audio", "video":
		return kind
	}
	return ""
}

// lastPart is the last component of the path of a URL, or all of it.
func lastPart(l locator.Locator) string {
	path := strings.TrimRight(heading(l), "/")
	if last := path[strings.LastIndexByte(path, '/')+1:]; last != "" {
		return last
	}
	return path
}
