package gateway

import (
	"net/http"

	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/plaintext"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/locator"
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
func (m *mediaPage) Short() string { return visible.Size(m.Size) }

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
func (v documentPages) knowsMedia() bool {
	if v.req.native || !place.IsDocument(v.req.loc) || v.req.query.Has("q") {
		return false
	}
	mediaType := place.MediaType(v.req.loc)
	return place.MediaKind(v.req.loc, mediaType) != "" || mediaType != "" && !plaintext.IsText(mediaType) || v.showsUnknown()
}

// media answers a request for a document of which knowsMedia is true.
func (v documentPages) media() error {
	mediaType := place.MediaType(v.req.loc)
	kind := place.MediaKind(v.req.loc, mediaType)
	if kind == "" {
		return v.raw()
	}
	size := int64(-1)
	if isA[*locator.FTP](v.req) { // the size, and whether it exists
		req := v.up.request(v.req.loc)
		attributes, err := v.up.attributes(req)
		if err != nil {
			return err
		}
		size = attributes.Size
	}
	return v.showMedia(&mediaPage{Kind: kind, Label: place.LastPart(v.req.loc), Size: size, MediaType: mediaType, find: v.picturesBeside})
}

// showMedia shows the page of a picture, a sound or a video.
func (v documentPages) showMedia(m *mediaPage) error {
	m.Label, m.Raw, m.flush = visible.Name(m.Label), v.req.here().With("raw"), v.out.flush
	if m.Kind != "image" {
		m.find = nil
	}
	return v.out.render(v.req, "media", http.StatusOK, &page{Main: m})
}
