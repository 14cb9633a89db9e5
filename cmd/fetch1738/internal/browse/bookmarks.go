package browse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// bookmark adds a page or a link to the file of bookmarks: a line with its URL, without a password,
// and its name.
func bookmark(_ context.Context, s *session, args []string) error {
	l, _, err := s.target(args)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.bookmarkFile), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(s.bookmarkFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	line := withoutPassword(l.to).String()
	if l.name != l.to.Redacted() {
		line += " " + l.name
	}
	_, err = fmt.Fprintln(f, stdio.Line(line))
	if err = errors.Join(err, f.Close()); err == nil {
		fmt.Fprintln(s.out, stdio.Line("added to "+s.bookmarkFile+": "+line))
	}
	return err
}

func withoutPassword(l locator.Locator) locator.Locator {
	server, _ := locator.ServerOf(l)
	if server.Login == nil || !server.Login.HasPassword {
		return l
	}
	plain, _ := locator.WithLogin(l, &locator.Login{User: server.Login.User})
	return plain
}

// bookmarks shows the file of bookmarks. Lines that begin with # are shown as text.
func bookmarks(_ context.Context, s *session, _ []string) error {
	p := &page{kind: "bookmarks in " + s.bookmarkFile, origin: fetch.Provenance{Kind: fetch.OriginConfig}, items: []fetch.Item{}}
	content, err := stdio.ReadFile(s.bookmarkFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		url, title, _ := strings.Cut(line, " ")
		it := fetch.Item{Name: strings.TrimSpace(title), Attributes: fetch.Attributes{Size: -1}}
		ref, err := s.op.Reading.Parse(url)
		switch {
		case line == "":
			continue
		case strings.HasPrefix(line, "#") || err != nil:
			it.Name = line
		default:
			it.Locator = ref.Locator
			it.Header = []fetch.Field{{Name: fetch.HeaderLink, Value: ref.Redacted()}}
		}
		p.items = append(p.items, it)
	}
	return s.navigate(p)
}
