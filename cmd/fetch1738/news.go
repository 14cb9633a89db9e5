package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/mime822"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/locator"
)

// isNews reports whether l is fetched by NNTP.
func isNews(l locator.Locator) bool {
	switch l.(type) {
	case *locator.News, *locator.NNTP:
		return true
	}
	return false
}

// newsServer is where news URLs are fetched from: given, or what the environment
// says.
func newsServer(given string) string { return cmp.Or(given, os.Getenv("NNTPSERVER")) }

// articleFiles writes the articles of a range to a file each, for -O. The
// transfer's own sink stays unused.
func (t *transfer) articleFiles(res *fetch.Resource) error {
	group := lastSegment(t.locator, t.url)
	for article, err := range res.Info.(*nntp.Info).Articles {
		if err != nil {
			return err
		}
		name, err := safeName(fmt.Sprintf("%s.%d", group, article.Number))
		if err != nil {
			return err
		}
		s := &sink{path: t.inOutputDir(name), served: name, clobber: clobberAlways, remote: true, named: true, mkdirs: t.op.createDirs}
		if err := s.take(t.incoming(article.Body)); err != nil {
			_ = s.close()
			return err
		}
		if err := s.close(); err != nil {
			return err
		}
	}
	return nil
}

// showNews shows an article or a listing to a person. It reports false where it
// has nothing better to show than the octets.
func (t *transfer) showNews(res *fetch.Resource) (bool, error) {
	if err := t.sink.open(); err != nil || t.sink.safe == nil {
		return false, err
	}
	switch {
	case res.MediaType == "message/rfc822":
		return true, t.sink.take(mime822.NewReader(t.incoming(res.Body)))
	case res.Items == nil:
		return false, nil
	}
	columns := term.Columns(t.sink.out)
	for item, err := range res.Items {
		if err != nil {
			return true, err
		}
		if err := t.sink.take(strings.NewReader(term.SafeLine(newsLine(item), columns) + "\n")); err != nil {
			return true, err
		}
	}
	return true, nil
}

// newsLine shows an article or a group in a listing.
func newsLine(item fetch.Item) string {
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

// newsLogin answers a news server that wants a login, which no URL has: from -u
// or the netrc file.
func (t *transfer) newsLogin(ctx context.Context, c fetch.Challenge) (locator.Login, error) {
	if given := t.op.login; given != nil {
		if given.HasPassword {
			return *given, nil
		}
		c.User = given.User
		return t.ask(ctx, c)
	}
	found, err := t.fromNetrc(c.Locator, nil)
	if err == nil && (found == nil || !found.HasPassword) {
		err = errors.New("a login is needed; give it with -u USER:PASSWORD")
	}
	return *orEmpty(found), err
}
