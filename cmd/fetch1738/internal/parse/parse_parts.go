package parse

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/render"
	"github.com/fetch1738/fetch1738/locator"
)

// A urlPart is one named component of a URL. Its value is a string, a []string, a [][2]string,
// true, or nil if the component is absent. Strings may hold any bytes.
type urlPart struct {
	name  string
	value any
}

// urlParts holds components in the order of the URL. As JSON it is an object whose strings are
// encoded by [render.Chars].
type urlParts []urlPart

// partsOf returns the components of l other than login, host and port.
func partsOf(l locator.Locator) urlParts {
	switch l := l.(type) {
	case *locator.FTP:
		return urlParts{{"cwd", l.CWD}, {"name", given(l.Name, l.HasPath)}, {"type", given(string(rune(l.Type)), l.Type != 0)}}
	case *locator.HTTP:
		return urlParts{
			{"path", given(plan.Decoded(l.Path), l.HasPath)}, {"search", given(plan.Decoded(l.Search), l.HasSearch)},
			{"path_raw", given(l.Path, l.HasPath)}, {"search_raw", given(l.Search, l.HasSearch)},
		}
	case *locator.Gopher:
		return urlParts{
			{"gtype", string([]byte{l.Type})}, {"selector", l.Selector},
			{"search", given(l.Search, l.Fields >= 1)}, {"plus", given(l.Plus, l.Fields >= 2)},
		}
	case *locator.Mailto:
		parts := urlParts{{"addr", l.Address}}
		if len(l.Headers) > 0 {
			parts = append(parts, urlPart{"headers", pairs(l.Headers)})
		}
		return parts
	case *locator.News:
		switch {
		case l.All:
			return urlParts{{"all", true}}
		case l.MessageID != "":
			return urlParts{{"message_id", l.MessageID}}
		}
		return urlParts{{"group", l.Group}}
	case *locator.NNTP:
		if l.Group == "" {
			return urlParts{{"all", true}}
		}
		return urlParts{{"group", l.Group}, {"article", given(l.Article, l.Article != "")}}
	case *locator.WAIS:
		doc := l.Form == locator.WAISDocument
		return urlParts{
			{"database", l.Database}, {"search", given(l.Search, l.Form == locator.WAISSearch)},
			{"wtype", given(l.WType, doc)}, {"wpath", given(l.WPath, doc)},
		}
	case *locator.File:
		return urlParts{{"host", l.Host}, {"path_segments", l.Segments}}
	case *locator.Prospero:
		return urlParts{{"hsoname", l.HSOName}, {"fields", pairs(l.Fields)}}
	case *locator.Opaque:
		return urlParts{{"schemepart", l.Rest}}
	}
	return nil // telnet URLs have no other components
}

// pairs returns fields as pairs of name and value, for JSON.
func pairs(fields []locator.Field) [][2]string {
	list := make([][2]string, len(fields))
	for i, f := range fields {
		list[i] = [2]string{f.Name, f.Value}
	}
	return list
}

// given returns s, or nil if it is not present.
func given(s string, present bool) any {
	if !present {
		return nil
	}
	return s
}

// MarshalJSON implements [json.Marshaler].
func (ps urlParts) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, p := range ps {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:", p.name)
		if err := enc.Encode(allChars(p.value)); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// allChars returns the value of a part with its strings encoded by [render.Chars].
func allChars(value any) any {
	switch v := value.(type) {
	case string:
		return render.Chars(v)
	case []string:
		list := make([]string, len(v))
		for i, s := range v {
			list[i] = render.Chars(s)
		}
		return list
	case [][2]string:
		list := make([][2]string, len(v))
		for i, f := range v {
			list[i] = [2]string{render.Chars(f[0]), render.Chars(f[1])}
		}
		return list
	}
	return value
}
