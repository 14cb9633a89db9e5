package gateway

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/gateway/internal/natural"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
)

// besideTime is how long the page of a picture waits for the listing of its folder.
const besideTime = 5 * time.Second

// beside are the pictures of a folder or a menu before and after one of them, in the order of its page.
type beside struct {
	Position, Count int
	Previous, Next  place.Link
}

// A picture is one of a folder.
type picture struct {
	name string
	link place.Link
}

// sortPictures sorts the pictures of a folder as its page does.
func sortPictures(pictures []picture) {
	slices.SortStableFunc(pictures, func(a, b picture) int {
		dot := func(p picture) int {
			if strings.HasPrefix(p.name, ".") {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(dot(a), dot(b)), natural.Compare(a.name, b.name))
	})
}

// besideOf finds the neighbours of a picture; nil if it is alone, or not among the pictures.
func besideOf(pictures []picture, this place.Link) *beside {
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

// above is the folder of a document on an FTP server, or the menu that its selector is below. The
// latter is a guess, because selectors need not be paths. If nil, there is no such folder.
func (v documentPages) above() locator.Locator {
	switch l := v.req.loc.(type) {
	case *locator.FTP:
		at := *l
		at.Name, at.Type = "", 0
		return &at
	case *locator.Gopher:
		if way := place.Menus(l); len(way) > 1 && l.Plus == "" {
			return way[len(way)-2]
		}
	}
	return nil
}

// picturesBeside lists the folder or the menu of a picture, once. Without a listing that is complete
// and short, the picture has no neighbours.
func (v documentPages) picturesBeside() *beside {
	folder := v.above()
	if folder == nil {
		return nil
	}
	req := v.up.request(folder)
	if isA[*locator.FTP](v.req) {
		req.Options = &ftp.Options{Facts: true}
	}
	ctx, cancel := context.WithTimeout(v.up.ctx, besideTime)
	defer cancel()
	res, err := v.up.resolver.Fetch(ctx, req)
	if err != nil || res.Items == nil {
		return nil
	}
	defer res.Close()
	pictures, complete := v.pictures(res.Items)
	if !complete {
		return nil
	}
	if isA[*locator.FTP](v.req) { // a menu has an order of its own
		sortPictures(pictures)
	}
	return besideOf(pictures, v.req.linkTo(v.req.loc))
}

// pictures are those of a folder, or those of a menu that are on its server, each once. The second
// result reports whether these are all.
func (v documentPages) pictures(items iter.Seq2[fetch.Item, error]) (pictures []picture, complete bool) {
	n, names, seen := 0, 0, map[place.Link]bool{}
	for item, err := range items {
		if n++; err != nil || n > heldRows {
			return nil, false
		}
		var p picture
		if l, ok := item.Locator.(*locator.Gopher); ok {
			if place.MediaKind(l, place.MediaType(l)) == "image" && locator.SameServer(l, v.req.loc) {
				p.link = v.req.linkTo(l)
			}
		} else if e := entryOf(v.req, "", "", &item); e.isPicture() && e.more != nil {
			p = picture{strings.Clone(e.name), e.more.link}
		}
		if !p.link.Empty() && !seen[p.link] {
			if names += len(p.name) + len(p.link.Path); names > heldNames {
				return nil, false
			}
			seen[p.link] = true
			pictures = append(pictures, p)
		}
	}
	return pictures, true
}
