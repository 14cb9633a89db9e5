package gateway

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/gateway/internal/natural"
	"github.com/fetch1738/fetch1738/gateway/internal/packed"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
)

// besideTime is how long the page of a picture waits for the listing of its folder.
const besideTime = 5 * time.Second

// beside are the pictures of a folder before and after one of them, in the order of the folder's page.
type beside struct {
	Position, Count int
	Previous, Next  place.Link
}

// A picture is one of a folder.
type picture struct {
	name string
	link place.Link
}

// besideOf finds the neighbours of a picture; nil if it is alone, or not among the pictures.
func besideOf(pictures []picture, this place.Link) *beside {
	slices.SortStableFunc(pictures, func(a, b picture) int {
		dot := func(p picture) int {
			if strings.HasPrefix(p.name, ".") {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(dot(a), dot(b)), natural.Compare(a.name, b.name))
	})
	i := slices.IndexFunc(pictures, func(p picture) bool { return p.link.Path == this.Path })
	if i < 0 || len(pictures) < 2 {
		return nil
	}
	b := &beside{Position: i + 1, Count: len(pictures)}
	if i > 0 {
		b.Previous = pictures[i-1].link
	}
	if i+1 < len(pictures) {
		b.Next = pictures[i+1].link
	}
	return b
}

// picturesBeside lists the folder of a picture on an FTP server, once. Without a listing that is
// complete and short, the picture has no neighbours.
func (v documentPages) picturesBeside() *beside {
	l, ok := v.loc.(*locator.FTP)
	if !ok {
		return nil
	}
	folder := *l
	folder.Name, folder.Type = "", 0
	req := v.request(&folder)
	v.prepare(req)
	req.Options = &ftp.Options{Facts: true}
	ctx, cancel := context.WithTimeout(v.context(), besideTime)
	defer cancel()
	res, err := v.h.resolver().Fetch(ctx, req)
	if err != nil || res.Items == nil {
		return nil
	}
	defer res.Close()
	var pictures []picture
	n := 0
	for item, err := range res.Items {
		if n++; err != nil || n > heldRows {
			return nil
		}
		e := directoryPages(v).entry("", "", &item)
		if e.isPicture() && e.more != nil {
			pictures = append(pictures, picture{strings.Clone(e.name), e.more.link})
		}
	}
	return besideOf(pictures, v.linkTo(v.loc))
}

// picturesBeside are the neighbours of a picture in a zip archive, whose directory has been read. A tar
// archive would have to be read once more.
func (v packedPages) picturesBeside(archive packed.Archive) *beside {
	if packed.FormatOf(lastPart(v.loc)) != packed.Zip {
		return nil
	}
	folder := ""
	if i := strings.LastIndexByte(v.query.Get("in"), '/'); i >= 0 {
		folder = v.query.Get("in")[:i]
	}
	items := func(yield func(fetch.Item, error) bool) {
		for m, err := range packed.In(archive, folder) {
			if !yield(v.item(&m), err) {
				return
			}
		}
	}
	var pictures []picture
	for e, err := range v.entries(folder, items) {
		if err != nil {
			return nil
		}
		if e.isPicture() && e.kind == kindFile {
			pictures = append(pictures, picture{e.name, e.more.link})
		}
	}
	return besideOf(pictures, here(v.visit))
}
