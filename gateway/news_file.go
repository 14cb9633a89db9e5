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
	"github.com/fetch1738/fetch1738/internal/file/filename"
)

// Limits of the pictures in the page of an article. Others are links alone.
const (
	maxPictures     = 12
	maxPictureBytes = 4 << 20
	maxPictureSide  = 20_000
)

// SizeText is the size for people.
func (f articleFile) SizeText() string { return sizeText(f.Size) }

// file describes a part for downloading. A picture is shown if its own bytes say that it is one.
func (v articlePages) file(p *article.Part, mediaType string, pictures *int) articleFile {
	f := articleFile{Name: visible(p.FileName()), Link: v.linkTo(v.loc).With("part=" + strconv.Itoa(p.Number))}
	if f.Name == "" {
		f.Name = "part " + strconv.Itoa(p.Number)
	}
	in := bufio.NewReaderSize(p.Decoded(), sniffed)
	start, _ := in.Peek(sniffed)
	sent := partType(p, mediaType, start)
	f.Type = visible(sent)
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
	if fits && mediaKindOf(sent) == "image" && *pictures < maxPictures {
		*pictures++
		f.Width, f.Height = width, height
	}
	return f
}

// partType is the media type of a part by its declaration, its name and its first bytes. Only bytes that
// look like a picture, a sound or a video make one of a part that declares nothing else.
func partType(p *article.Part, declared string, start []byte) string {
	if declared != "application/octet-stream" && mediaKindOf(declared) != "image" {
		return declared
	}
	if found := http.DetectContentType(start[:min(len(start), 512)]); mediaKindOf(found) != "" {
		return found
	}
	if bySuffix := filename.MediaType(p.FileName()); mediaKindOf(bySuffix) == "" {
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
	v.page = "part"
	number, _ := strconv.Atoi(v.query.Get("part"))
	found := false
	var broke error // while the part was sent
	err := article.Walk(whole, func(p *article.Part) bool {
		if p.Number != number {
			return true
		}
		found = true
		mediaType, _ := p.MediaType()
		in := bufio.NewReaderSize(p.Decoded(), sniffed)
		start, _ := in.Peek(sniffed)
		v.secureOctets(partType(p, mediaType, bytes.Clone(start)))
		v.w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": partName(p)}))
		v.w.WriteHeader(http.StatusOK)
		if v.r.Method != http.MethodHead {
			_, broke = io.Copy(v.w, in)
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
