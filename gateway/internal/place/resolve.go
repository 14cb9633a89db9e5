package place

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/internal/urls/percent"
	"github.com/fetch1738/fetch1738/locator"
)

// Resolve returns what a link of a document leads to: a URL, or a path from the document's folder. It
// is nil if that has no page. The fragment is the part of the document, decoded.
func Resolve(document locator.Locator, link string) (to locator.Locator, fragment string) {
	if ref, err := Parser.Parse(link); err == nil {
		return ref.Locator, percent.Decode(ref.Fragment)
	}
	link, fragment, _ = strings.Cut(link, "#")
	fragment = percent.Decode(fragment)
	if link == "" || strings.Contains(link, ":") || strings.HasPrefix(link, "//") {
		return nil, fragment
	}
	switch l := document.(type) {
	case *locator.FTP:
		to = resolveFTP(l, link)
	case *locator.Gopher:
		to = resolveGopher(l, link)
	}
	return to, fragment
}

// Name is the last component of the path of a URL, or empty.
func Name(l locator.Locator) string {
	name := ""
	switch l := l.(type) {
	case *locator.FTP:
		name = l.Name
	case *locator.Gopher:
		name = l.Selector
	case *locator.Prospero:
		name = l.HSOName
	}
	return name[strings.LastIndexByte(name, '/')+1:]
}

// resolveFTP is a path from the folder of a file.
func resolveFTP(l *locator.FTP, link string) locator.Locator {
	at := *l
	at.Type, at.HasPath = 0, true
	dirs, name, ok := walk(l.CWD, link)
	if !ok {
		return nil
	}
	at.CWD, at.Name = dirs, name
	return &at
}

// resolveGopher is a path from the folder of an item, whose selector must look like a path. Its type
// is that of the suffix.
func resolveGopher(l *locator.Gopher, link string) locator.Locator {
	folder, isPath := strings.CutPrefix(path.Dir(l.Selector), "/")
	if !isPath || l.Search != "" || l.Plus != "" {
		return nil
	}
	dirs, name, ok := walk(strings.FieldsFunc(folder, func(r rune) bool { return r == '/' }), link)
	if !ok {
		return nil
	}
	at := &locator.Gopher{HostPort: l.HostPort, Secure: l.Secure, HasPath: true, Type: gopherType(name)}
	at.Selector = "/" + strings.Join(append(dirs, name), "/")
	if strings.ContainsAny(at.Selector, "\t\r\n\x00") {
		return nil
	}
	return at
}

// gopherType is the type that an item of a name usually has. One without a suffix is a menu.
func gopherType(name string) byte {
	switch strings.ToLower(path.Ext(name)) {
	case "":
		return '1'
	case ".txt", ".md", ".gmi", ".text", ".asc":
		return '0'
	case ".gif":
		return 'g'
	case ".jpg", ".jpeg", ".png", ".webp", ".bmp":
		return 'I'
	case ".wav", ".mp3", ".ogg", ".flac", ".au":
		return 's'
	case ".html", ".htm":
		return 'h'
	}
	return '9'
}

// walk follows a path from folders. It is not ok if that leads out of them all.
func walk(from []string, link string) (dirs []string, name string, ok bool) {
	dirs = slices.Clone(from)
	if strings.HasPrefix(link, "/") {
		dirs = nil
	}
	parts := strings.Split(link, "/")
	for i, part := range parts {
		decoded, err := url.PathUnescape(part)
		switch {
		case err != nil, part == ".." && len(dirs) == 0:
			return nil, "", false
		case part == "..":
			dirs = dirs[:len(dirs)-1]
		case part == "", part == ".":
		case i == len(parts)-1:
			name = decoded
		default:
			dirs = append(dirs, decoded)
		}
	}
	return dirs, name, true
}
