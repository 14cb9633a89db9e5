package gateway

import (
	"iter"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/gateway/internal/gophermenu"
	"github.com/fetch1738/fetch1738/gateway/internal/markup"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/textview"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/locator"
)

// view is what a text needs to know of the page that shows it. Relative links of a text within a zip
// or tar archive lead nowhere.
func view(q *request) *textview.Page {
	document := q.loc
	if q.wants("in") {
		document = nil
	}
	return &textview.Page{Document: document, LinkTo: q.linkTo, Linked: q.linked, Visible: visible.Text, IsPicture: func(l locator.Locator) bool { return place.MediaKind(l, place.MediaType(l)) == "image" }}
}

// markdown are the blocks of a text in Markdown, below a heading of a level. It is nil if the text is
// beyond the limits of package markup.
func markdown(q *request, text string, below int) iter.Seq[*textview.Block] {
	blocks, ok := markup.Markdown(text)
	if !ok {
		return nil
	}
	return view(q).Prose(slices.Values(blocks), below)
}

// hasColumns reports whether a text has a table or a drawing of characters.
func hasColumns(start string) bool {
	if strings.ContainsFunc(start, func(r rune) bool { return 0x2500 <= r && r < 0x25A0 }) { // lines and blocks
		return true
	}
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(start, "\r", ""), "\t", "        "), "\n")
	for len(lines) > 0 {
		n, kind := gophermenu.SameKind(lines)
		if kind != gophermenu.Prose {
			return true
		}
		lines = lines[n:]
	}
	return false
}
