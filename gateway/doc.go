package gateway

import (
	"bufio"
	"io"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/plaintext"
	"github.com/fetch1738/fetch1738/gateway/internal/screen"
)

// document shows a document that is not a picture, a sound or a video: text as a page, anything else
// as a download.
func (v documentPages) document(res *fetch.Resource) error {
	if v.req.native || !v.req.accepts("text/html") {
		return v.octetsOf(res)
	}
	body := bufio.NewReaderSize(res.Body, plaintext.Sniffed)
	start, err := body.Peek(plaintext.Sniffed)
	if err != nil && err != io.EOF && len(start) == 0 {
		return err
	}
	mediaType := mediaTypeOf(res)
	start = screen.TextStart(v.req.loc, start)
	c, _, _ := v.charset(res.Charset, start)
	if mediaType == "" && !plaintext.LooksLikeText(start) || mediaType != "" && !plaintext.IsText(mediaType) || strings.Contains(c.Decode(string(start)), "\x00") {
		if v.req.r.Method == http.MethodPost || v.req.wants("in") { // the answer to a form, or a part of an archive, which raw would not get
			res.Body = struct {
				io.Reader
				io.Closer
			}{body, res.Body}
			return v.octetsOf(res)
		}
		_ = res.Close() // raw has what downloads need: the length, ranges and the like
		return v.raw()
	}
	return v.text(mediaType, res.Charset, body)
}
