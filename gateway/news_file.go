package gateway

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"

	"github.com/fetch1738/fetch1738/gateway/internal/article"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/plaintext"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/file/filename"
)

// Limits of the pictures in the page of an article. Others are links alone.
const (
	maxPictures     = 12
	maxPictureBytes = 4 << 20
	maxPictureSide  = 20_000
)

// SizeText is the size for people.
func (f articleFile) SizeText() string { return visible.Size(f.Size) }

// file describes a part for downloading. A picture is shown if its own bytes say that it is one.
func (v articlePages) file(p *article.Part, mediaType string, pictures *int) articleFile {
	f := articleFile{Name: visible.Name(p.FileName()), Link: v.req.linkTo(v.req.loc).With("part=" + strconv.Itoa(p.Number))}
	if f.Name == "" {
		f.Name = "part " + strconv.Itoa(p.Number)
	}
	in := bufio.NewReaderSize(p.Decoded(), plaintext.Sniffed)
	start, _ := in.Peek(plaintext.Sniffed)
	sent := partType(p, mediaType, start)
	f.Type = visible.Name(sent)
	var width, height int
	f.Size, width, height = article.Measure(in)
	if e := p.Embedded; e != nil {
		f.Damaged = e.Damaged
		switch {
		case e.Part > 0 && e.Total > 0:
			f.Of = fmt.Sprintf("part %d of %d", e.Part, e.Total)
		case e.Part > 0:
			f.Of = fmt.Sprintf("part %d", e.Part)
		}
	}
	fits := width > 0 && width <= maxPictureSide && height <= maxPictureSide && f.Size <= maxPictureBytes
	if fits && place.KindOfType(sent) == "image" && *pictures < maxPictures {
		*pictures++
		f.Width, f.Height = width, height
	}
	return f
}

// partType is the media type of a part by its declaration, its name and its first bytes. Only bytes that
// look like a picture, a sound or a video make one of a part that declares nothing else.
func partType(p *article.Part, declared string, start []byte) string {
	if declared != "application/octet-stream" && place.KindOfType(declared) != "image" {
		return declared
	}
	if found := http.DetectContentType(start[:min(len(start), 512)]); place.KindOfType(found) != "" {
		return found
	}
	if bySuffix := filename.MediaType(p.FileName()); place.KindOfType(bySuffix) == "" {
		declared = cmp.Or(bySuffix, declared)
	}
	return declared
}

// partName is a safe name for a part that is downloaded.
func partName(p *article.Part) string {
	name, _ := filename.Safe(p.FileName())
	if name == "" {
		name = "part" + strconv.Itoa(p.Number)
	}
	if p.Embedded != nil && p.Embedded.Part > 0 { // the file is in several articles
		name += fmt.Sprintf(".part%d", p.Embedded.Part)
	}
	return name
}

// part sends one part of an article as a download.
func (v articlePages) part(whole *article.Part, broken *article.Reader) error {
	v.out.kind = "part"
	number, _ := strconv.Atoi(v.req.query.Get("part"))
	found := false
	var broke error // while the part was sent
	err := article.Walk(whole, func(p *article.Part) bool {
		if p.Number != number {
			return true
		}
		found = true
		mediaType, _ := p.MediaType()
		in := bufio.NewReaderSize(p.Decoded(), plaintext.Sniffed)
		start, _ := in.Peek(plaintext.Sniffed)
		v.out.secureOctets(v.req, partType(p, mediaType, bytes.Clone(start)))
		v.out.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": partName(p)}))
		v.out.WriteHeader(http.StatusOK)
		if v.req.r.Method != http.MethodHead {
			_, broke = io.Copy(v.out, in)
		}
		return false
	})
	if found {
		return broke
	}
	if _, _ = io.Copy(io.Discard, broken); broken.Err != nil {
		return broken.Err
	}
	f := &failure{Status: http.StatusNotFound, Text: "The article has no such part."}
	if err != nil {
		f.Detail = err.Error()
	}
	return f
}

// An articleFile is a part that can be downloaded.
type articleFile struct {
	Name, Type    string
	Size          int64
	Link          place.Link
	Of            string // "part 2 of 5", if the file is in several articles
	Damaged       string // why the file is not as it was sent; else empty
	Width, Height int    // of a picture that is shown; else 0
}
