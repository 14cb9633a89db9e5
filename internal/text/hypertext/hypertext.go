// Package hypertext reads HTML as the tags and texts that a browser finds in it. The tokenizer of
// x/net/html finds them: it follows the standard of browsers in what a comment, a script, an attribute
// or an entity is. Its parser is not used: nothing here needs a tree, and a document can make it slow.
package hypertext

import (
	"io"
	"iter"
	"strings"

	"golang.org/x/net/html"

	"github.com/fetch1738/fetch1738/internal/urls/relative"
	"github.com/fetch1738/fetch1738/locator"
)

// A Token is a tag, or a text between tags.
type Token struct {
	Name       string // of the element, in lower case; "" for a text
	End        bool   // the tag ends the element
	Empty      bool   // the tag is all of the element: "<svg/>"
	Text       string // with its entities decoded
	attributes []html.Attribute
}

// Value returns the value of an attribute, or "".
func (t *Token) Value(name string) string {
	for _, a := range t.attributes {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// manyAttributes is how many attributes a tag has in hostile documents only.
const manyAttributes = 1000

// Tokens yields the tags and texts of a document, without comments. What is inside of scripts, styles
// and titles is text. The time is linear, and a document of any size is in memory anyway, so no tag is
// too long.
func Tokens(document string) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		z := html.NewTokenizer(strings.NewReader(document))
		for rest := document; ; {
			kind := z.Next()
			raw := rest[:len(z.Raw())]
			rest = rest[len(raw):]
			var t Token
			switch kind {
			case html.ErrorToken: // the end, perhaps within a tag, which a browser does not show
				if raw != "" {
					yield(Token{Text: raw})
				}
				return
			case html.TextToken:
				t.Text = string(z.Text())
			case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
				tag := z.Token()
				t = Token{Name: tag.Data, End: kind == html.EndTagToken, attributes: tag.Attr}
				// The "/" means nothing in the tags of HTML itself, such as "<script/>".
				t.Empty = kind == html.SelfClosingTagToken && (t.Name == "svg" || t.Name == "math")
			default:
				continue
			}
			if len(t.attributes) > manyAttributes {
				// The table of their names would be cleared for each tag that follows. A new Tokenizer
				// reads the tag without them first, because it may be that of a script.
				z = html.NewTokenizer(io.MultiReader(strings.NewReader("<"+t.Name+">"), strings.NewReader(rest)))
				z.Next()
			}
			switch t.Name {
			case "iframe", "noembed", "noframes", "noscript":
				z.NextIsNotRawText() // it is for programs without frames and scripts
			}
			if !yield(t) {
				return
			}
		}
	}
}

// Title returns the text of the first title in one line, or "".
func Title(document string) string {
	var title strings.Builder
	in := false
	for t := range Tokens(document) {
		switch {
		case t.Name == "title" && t.End:
			return strings.Join(strings.Fields(title.String()), " ")
		case t.Name == "title":
			in = true
		case in:
			title.WriteString(t.Text)
		}
	}
	return ""
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
