package gophertest

import (
	"bufio"
	"bytes"
	"fmt"
	"html"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// itemTypes are item types by suffix. Other files are binaries ('9').
var itemTypes = map[string]byte{
	"": '0', ".txt": '0', ".md": '0', ".text": '0', ".asc": '0', ".go": '0', ".c": '0', ".h": '0',
	".htm": 'h', ".html": 'h',
	".gif": 'g', ".jpg": 'I', ".jpeg": 'I', ".png": 'I', ".bmp": 'I',
	".wav": 's', ".mp3": 's',
	".hqx": '4', ".zip": '5', ".uu": '6',
}

// itemType returns the item type of a file, by its name.
func itemType(name string) byte {
	if t, ok := itemTypes[strings.ToLower(path.Ext(strings.TrimLeft(name, ".")))]; ok {
		return t
	}
	return '9'
}

// menu returns an answer that ends in a dot.
func menu(stage string, text string) answer {
	return answer{stage: stage, text: true, body: io.NopCloser(strings.NewReader(text))}
}

// binary returns an answer that ends with the connection.
func binary(stage string, text string) answer {
	return answer{stage: stage, body: io.NopCloser(strings.NewReader(text))}
}

// failure returns the menu that servers answer with in case of an error: one item of type 3.
func (s *Server) failure(selector, what string) answer {
	return s.failureIn('3', fmt.Sprintf("'%s' %s", selector, what))
}

// failureIn returns an error as an item of a type. gopherd answers the request for a text with type
// 0.
func (s *Server) failureIn(typ byte, what string) answer {
	return menu("ERROR", s.line(MenuLine{Type: typ, Display: what, Host: "error.host", Port: 1}))
}

// directory returns the menu of a directory.
func (s *Server) directory(name string) answer {
	if m, _, err := s.m.Tree.Open(path.Join(name, "gophermap")); err == nil {
		defer m.Close()
		return menu("MENU", s.fromMap(name, m))
	}
	entries, err := s.m.Tree.List(name)
	if err != nil {
		return s.failure("/"+name, "cannot be listed")
	}
	m := Menu{Dir: name}
	for _, e := range entries {
		m.Items = append(m.Items, s.item(path.Join(name, e.Name), e))
		m.Files = append(m.Files, e.Info())
	}
	if s.Menu != nil {
		m.Items = s.Menu(m)
	}
	var text strings.Builder
	for _, item := range m.Items {
		text.WriteString(s.line(item))
	}
	return menu("MENU", text.String())
}

// item returns the menu line of a file or directory.
func (s *Server) item(name string, e tree.Entry) MenuLine {
	item := MenuLine{Type: '1', Display: e.Name, Selector: "/" + name}
	if !e.Dir {
		item.Type = itemType(e.Name)
	}
	if s.Dialect != PlainGopher && s.Dialect != StubGopher && s.Dialect != DeafGopher {
		item.Plus = '+'
		if s.Dialect != PyGopher && len(s.Plus[name].Ask) > 0 {
			item.Plus = '?'
		}
	}
	return item
}

// line formats an item of a menu. A character that would break the line becomes a "?".
func (s *Server) line(item MenuLine) string {
	host, port := item.Host, item.Port
	if host == "" {
		host, port = s.hostPort()
	}
	safe := func(field string) string { return core.OneLine.Replace(strings.ReplaceAll(field, "\t", "?")) }
	tag := ""
	if item.Plus != 0 {
		tag = "\t" + string(rune(item.Plus))
	}
	return fmt.Sprintf("%c%s\t%s\t%s\t%d%s\r\n", item.Type, safe(item.Display), safe(item.Selector), safe(host), port, tag)
}

// hostPort returns the host and port of the server as menus show them.
func (s *Server) hostPort() (string, int) { return s.m.Shown(s.Host, s.Port) }

// fromMap builds a menu from a gophermap in the format of Bucktooth. A line without a tab is for
// information, a selector without a slash is a name in the directory, and a missing host and port
// are the server's.
func (s *Server) fromMap(dir string, m io.Reader) string {
	var text strings.Builder
	lines := bufio.NewScanner(io.LimitReader(m, 1<<20))
	for lines.Scan() {
		fields := strings.Split(strings.TrimSuffix(lines.Text(), "\r"), "\t")
		if len(fields) == 1 || fields[0] == "" {
			text.WriteString(s.line(MenuLine{Type: 'i', Display: fields[0], Host: "null.host", Port: 1}))
			continue
		}
		text.WriteString(s.line(mapItem(dir, fields)))
	}
	return text.String()
}

// mapItem returns the item of a line of a gophermap.
func mapItem(dir string, fields []string) MenuLine {
	item := MenuLine{Type: fields[0][0], Display: fields[0][1:], Selector: fields[1]}
	if item.Selector == "" {
		item.Selector = item.Display
	}
	if len(fields) > 2 {
		item.Host, item.Port = fields[2], 70
	}
	if len(fields) > 3 {
		item.Port, _ = strconv.Atoi(fields[3])
	}
	local := item.Host == "" && !strings.HasPrefix(item.Selector, "/") && !strings.Contains(item.Selector, ":")
	if local {
		item.Selector = "/" + path.Join(dir, item.Selector)
	}
	return item
}

// linkPage is the answer to clients that do not understand "URL:" selectors.
func linkPage(target string) string {
	t := html.EscapeString(target)
	return fmt.Sprintf("<html><head><meta http-equiv=\"refresh\" content=\"5;URL=%s\"></head>\n<body><a href=\"%s\">%s</a></body></html>\n", t, t, t)
}

// Limits of the built-in search.
const (
	maxSearched = 1 << 20 // bytes of a file
	maxFound    = 1000
	maxDepth    = 32
)

// search answers a search request with a menu.
func (s *Server) search(req request) answer {
	var items []MenuLine
	if s.Search != nil {
		items = s.Search(req.selector, req.words)
	} else {
		_, dir := s.resolve(req.selector)
		if e, err := s.m.Tree.Stat(dir); err != nil || !e.Dir {
			dir = "" // any selector may be that of a search of everything
		}
		items = s.find(dir, strings.Fields(strings.ToLower(req.words)), nil, 0)
	}
	var text strings.Builder
	for _, item := range items {
		text.WriteString(s.line(item))
	}
	return menu("SEARCH", text.String())
}

// find adds the items below dir whose name or text contains all the words.
func (s *Server) find(dir string, words []string, found []MenuLine, depth int) []MenuLine {
	entries, err := s.m.Tree.List(dir)
	if err != nil || depth > maxDepth {
		return found
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		if len(found) < maxFound && matches(&s.m.Tree, name, e, words) {
			found = append(found, s.item(name, e))
		}
		if e.Dir {
			found = s.find(name, words, found, depth+1)
		}
	}
	return found
}

// matches reports whether the name or the text of a file has all the words.
func matches(files *tree.Tree, name string, e tree.Entry, words []string) bool {
	text := strings.ToLower(e.Name)
	if !e.Dir && itemType(e.Name) == '0' {
		text += "\n" + strings.ToLower(beginning(files, name))
	}
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// beginning returns the text of a file, up to a limit.
func beginning(files *tree.Tree, name string) string {
	file, _, err := files.Open(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	var text bytes.Buffer
	_, _ = io.CopyN(&text, file, maxSearched)
	return text.String()
}
