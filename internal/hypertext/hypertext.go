// Package hypertext finds tags and links in HTML. It needs no tree: a tag that is not closed, or of
// another kind, has no effect on the others.
package hypertext

import (
	"html"
	"iter"
	"regexp"
	"strings"

	"github.com/fetch1738/fetch1738/internal/relative"
	"github.com/fetch1738/fetch1738/locator"
)

// Tags yields the names and attributes of the tags that begin an element. Comments and what is inside
// of scripts and styles is skipped.
func Tags(text string) iter.Seq2[string, string] {
	return func(yield func(name, attributes string) bool) {
		for {
			at := strings.IndexByte(text, '<')
			if at < 0 {
				return
			}
			text = text[at:]
			if strings.HasPrefix(text, "<!--") {
				_, text, _ = strings.Cut(text, "-->")
				continue
			}
			name, closes, attributes, rest := CutTag(text)
			if name == "" {
				text = text[1:]
				continue
			}
			text = rest
			if closes {
				continue
			}
			if !yield(name, attributes) {
				return
			}
			if name == "script" || name == "style" {
				text = After(text, "</"+name)
			}
		}
	}
}

// maxTag is the length of the longest tag that is read as one, so that the time is linear.
const maxTag = 2 << 10

// CutTag cuts a tag from the beginning of text. The name is in lower case, and "" if there is no tag.
// A ">" in quotation marks does not end it.
func CutTag(text string) (name string, closes bool, attributes, rest string) {
	text, rest = text[:min(len(text), maxTag)], text
	if strings.IndexByte(text, '>') < 0 {
		return "", false, "", ""
	}
	from, quote := 1, byte(0)
	if closes = strings.HasPrefix(text, "</"); closes {
		from = 2
	}
	to := from
	for to < len(text) && strings.IndexByte(alphanumeric, text[to]) >= 0 {
		to++
	}
	if to == from || text[from] <= '9' { // a digit
		return "", false, "", ""
	}
	for i := to; i < len(text); i++ {
		switch c := text[i]; {
		case quote == c:
			quote = 0
		case quote != 0:
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return strings.ToLower(text[from:to]), closes, text[to:i], rest[i+1:]
		}
	}
	return "", false, "", ""
}

const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// After returns text from the end tag of an invisible element. If it has none, nothing is visible.
func After(text, end string) string {
	for {
		i := strings.Index(text, "</")
		if i < 0 {
			return ""
		}
		text = text[i:]
		if len(text) >= len(end) && strings.EqualFold(text[:len(end)], end) {
			return text
		}
		text = text[2:]
	}
}

// Resolve returns the URL that ref is at base, which may be nil.
func Resolve(base locator.Locator, ref string) (locator.Locator, error) {
	ref = strings.TrimSpace(ref)
	if base != nil {
		ref = relative.Resolve(base, ref)
	}
	found, err := locator.Parser{Tolerate: locator.TolerateUsual}.Parse(ref)
	return found.Locator, err
}

var attribute = regexp.MustCompile(`(?s)([a-zA-Z-]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"']+)`)

// ValueOf returns the value of an attribute, or "".
func ValueOf(attributes, name string) string {
	for _, m := range attribute.FindAllStringSubmatch(attributes, -1) {
		if strings.EqualFold(m[1], name) {
			return html.UnescapeString(strings.Trim(m[2], `"'`))
		}
	}
	return ""
}
