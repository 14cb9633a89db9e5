package gateway

import (
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/transport"
)

// A mediaPage is the data of the page of a picture, a sound or a video.
type mediaPage struct {
	Kind      string     // "image", "audio" or "video"
	Label     string     // what it is called, for those who cannot see it
	Raw       place.Link // the octets
	Size      int64      // in bytes; -1 if not known
	MediaType string     // empty if not known

	flush func()
	find  func() *beside // nil if there is nothing beside it
}

// Short is the size as on the page of a folder.
func (m *mediaPage) Short() string { return sizeText(m.Size) }

// Beside finds the pictures before and after this one, while the browser fetches it.
func (m *mediaPage) Beside() *beside {
	if m.find == nil {
		return nil
	}
	m.flush()
	return m.find()
}

// knowsMedia reports whether the URL of a document says that it is no text: the gateway has a page
// of a picture, a sound or a video, for which the browser fetches the octets. What browsers do not
// show is a download, and a file of unknown type may be one.
func (v *visit) knowsMedia() bool {
	if v.native || !isDocument(v.loc) || v.query.Has("q") {
		return false
	}
	mediaType := typeOfURL(v.loc)
	return mediaKind(v.loc, mediaType) != "" || mediaType != "" && !isText(mediaType) || v.showsUnknown()
}

// media answers a request for a document of which knowsMedia is true.
func (v documentPages) media() error {
	mediaType := typeOfURL(v.loc)
	kind := mediaKind(v.loc, mediaType)
	if kind == "" {
		return v.raw()
	}
	size := int64(-1)
	if isA[*locator.FTP](v.visit) { // the size, and whether it exists
		req := v.request(v.loc)
		v.prepare(req)
		attributes, err := v.h.resolver().FindAttributes(v.context(), req)
		if err != nil {
			return err
		}
		size = attributes.Size
	}
	return v.showMedia(&mediaPage{Kind: kind, Label: lastPart(v.loc), Size: size, MediaType: mediaType, find: v.picturesBeside})
}

// showMedia shows the page of a picture, a sound or a video.
func (v documentPages) showMedia(m *mediaPage) error {
	m.Label, m.Raw, m.flush = visible(m.Label), here(v.visit).With("raw"), func() { v.flush() }
	if m.Kind != "image" {
		m.find = nil
	}
	return v.render("media", http.StatusOK, &page{Main: m})
}

// typeOfURL is the media type of a document as far as its URL says, or empty.
func typeOfURL(l locator.Locator) string {
	switch l := l.(type) {
	case *locator.FTP:
		if l.Type|0x20 == 'a' {
			return "text/plain"
		}
		return transport.MediaType(l.Name)
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

// lastPart is the last component of the path of a URL, or all of it.
func lastPart(l locator.Locator) string {
	path := strings.TrimRight(heading(l), "/")
	if last := path[strings.LastIndexByte(path, '/')+1:]; last != "" {
		return last
	}
	return path
}
