package replay

import (
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/cdx"
	"github.com/fetch1738/fetch1738/locator"
)

const (
	maxGroups = 100    // of a site that Pages returns
	maxSought = 10_000 // lines of the index that Pages reads for them
)

// Pages returns the URLs where reading a site begins, as far as the archive has them: the first menu
// or directory, the databases of a WAIS server, or the groups of a news server, at most 100. There are
// none if the archive has only other documents of the site.
func (r *Replay) Pages(s archive.Site) ([]string, error) {
	root := s.String()
	if r.sites[s] == nil {
		return nil, nil
	}
	switch s.Scheme {
	case "ftp", "ftps": // a directory without a listing is made from what is below it
		return []string{root}, nil
	case "nntp", "nntps", "news", "snews":
		return r.groups(s)
	}
	firsts := []string{root}
	if strings.HasPrefix(s.Scheme, "gopher") { // how some menus write the link to it
		firsts = append(firsts, root+"1/")
	}
	for _, url := range firsts {
		ref, err := locator.Parser{Tolerate: locator.TolerateUsual}.Parse(url)
		if err != nil {
			continue
		}
		for _, err := range r.Times(ref.Locator) {
			return []string{url}, err
		}
	}
	return nil, nil
}

// groups returns the URLs of the groups of a news site, after that of the list of all, if it was
// recorded.
func (r *Replay) groups(s archive.Site) ([]string, error) {
	if s.Host == "" {
		return r.groupsBelow(s.Scheme + ":")
	}
	var found []string
	for _, at := range r.sites[s].spellings {
		below, err := r.groupsBelow(s.Scheme + "://" + at.String() + "/")
		if found = append(found, below...); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// groupsBelow returns those that begin with root.
func (r *Replay) groupsBelow(root string) ([]string, error) {
	var found []string
	// A search of the index continues behind the articles of each group.
	for from, sought, more := root, 0, true; more && sought < maxSought && len(found) < maxGroups; {
		more = false
		for l, err := range r.archive.Lines(from) {
			if err != nil {
				return nil, err
			}
			rest, inSite := strings.CutPrefix(l.Key, root)
			if sought++; !inSite || sought > maxSought || len(found) == maxGroups {
				break
			}
			group, _, article := strings.Cut(rest, "/")
			if group != "" && !slices.Contains(found, root+group) && !strings.Contains(rest, "@") {
				found = append(found, root+group)
			}
			if article {
				from, more = cdx.After(root+group+"/"), true
				break
			}
		}
	}
	return found, nil
}
