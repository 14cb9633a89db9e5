package listing

import (
	"fmt"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/mime822"
)

// Article returns a line about an article or group of a listing, at most columns wide.
func Article(item fetch.Item, columns int) string {
	return term.SafeLine(article(item), columns)
}

func article(item fetch.Item) string {
	field := func(name string) string {
		for _, f := range item.Header {
			if f.Name == name {
				return mime822.Text(f.Value)
			}
		}
		return ""
	}
	if item.Kind == fetch.KindDirectory {
		return strings.TrimSpace(fmt.Sprintf("%-40s %s", item.Name, field("Description")))
	}
	date := "          "
	if !item.ModTime.IsZero() {
		date = item.ModTime.Format("2006-01-02")
	}
	return fmt.Sprintf("%6s  %s  %-24s  %s", item.Name, date, term.SafeLine(field("From"), 24), field("Subject"))
}
