package entry

import "github.com/fetch1738/fetch1738/locator"

// IsNews reports whether l is fetched by NNTP: a group, an article or the list of groups.
func IsNews(l locator.Locator) bool {
	switch l.(type) {
	case *locator.News, *locator.NNTP:
		return true
	}
	return false
}

// IsArticle reports whether l is an article of a newsgroup.
func IsArticle(l locator.Locator) bool {
	switch l := l.(type) {
	case *locator.News:
		return l.MessageID != ""
	case *locator.NNTP:
		return l.Article != ""
	}
	return false
}

// IsGroup reports whether l is a newsgroup.
func IsGroup(l locator.Locator) bool {
	switch l := l.(type) {
	case *locator.News:
		return l.Group != ""
	case *locator.NNTP:
		return l.Group != "" && l.Article == ""
	}
	return false
}

// IsGroups reports whether l is the list of all newsgroups of a server.
func IsGroups(l locator.Locator) bool {
	switch l := l.(type) {
	case *locator.News:
		return l.All
	case *locator.NNTP:
		return l.Group == ""
	}
	return false
}
