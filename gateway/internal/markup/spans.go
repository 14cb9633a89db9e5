package markup

import (
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
)

// text are the spans of a block.
func (r *reader) text(block ast.Node) []Span {
	s := spans{reader: r}
	_, s.inTable = block.(*extension.TableCell)
	s.children(block, "", Run{})
	s.flush()
	return s.done
}

// spans collects the text of a block.
type spans struct {
	*reader
	done    []Span
	inTable bool

	run    Run // the next one; without its text
	target string
	words  strings.Builder // the text
}

// add adds a run of the link to a target, or of other text.
func (s *spans) add(target string, run Run) {
	style := run
	style.Text = ""
	if target != s.target || style != s.run || run.Picture != "" || run.Break {
		s.flush()
		s.target, s.run = target, style
	}
	s.words.WriteString(run.Text)
}

// flush ends a run.
func (s *spans) flush() {
	run := s.run
	run.Text = s.words.String()
	s.words.Reset()
	s.run = Run{}
	if run == (Run{}) || run.Text == "" && run.Picture == "" && !run.Break {
		return
	}
	if n := len(s.done); n == 0 || s.done[n-1].Target != s.target {
		s.done = append(s.done, Span{Target: s.target})
	}
	last := &s.done[len(s.done)-1]
	last.Runs = append(last.Runs, run)
}

// children adds the children of a node, which are in a link to a target and in a style.
func (s *spans) children(parent ast.Node, target string, style Run) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		s.node(n, target, style)
	}
}

func (s *spans) node(n ast.Node, target string, style Run) {
	switch n := n.(type) {
	case *ast.Text:
		s.add(target, s.wordsOf(n, style))
		if n.HardLineBreak() {
			s.add(target, Run{Break: true})
		}
	case *ast.CodeSpan:
		style.Code = true
		s.children(n, target, style)
	case *ast.Emphasis:
		style.Strong = style.Strong || n.Level == 2
		style.Emph = style.Emph || n.Level == 1
		s.children(n, target, style)
	case *extension.Strikethrough:
		style.Strike = true
		s.children(n, target, style)
	case *ast.Link:
		if target == "" {
			target = unescape(string(n.Destination))
		}
		s.children(n, target, style)
	case *ast.Image:
		style.Text = plain(s.reader.text(n))
		style.Picture = unescape(string(n.Destination))
		s.add(target, style)
	case *ast.AutoLink:
		style.Text = string(n.Label(s.source))
		if target == "" {
			target = style.Text
			if n.AutoLinkType == ast.AutoLinkEmail {
				target = "mailto:" + target
			}
		}
		s.add(target, style)
	}
}

// wordsOf is the text of a node.
func (s *spans) wordsOf(n *ast.Text, style Run) Run {
	style.Text = string(n.Segment.Value(s.source))
	switch {
	case !n.IsRaw():
		style.Text = unescape(style.Text)
	case s.inTable:
		style.Text = strings.ReplaceAll(style.Text, `\|`, "|")
	}
	if style.Code {
		style.Text = strings.ReplaceAll(style.Text, "\n", " ")
	}
	if n.SoftLineBreak() {
		style.Text += "\n"
	}
	return style
}

// plain is the text of spans.
func plain(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		for _, run := range s.Runs {
			b.WriteString(run.Text)
		}
	}
	return b.String()
}

// maxEntity is the length of the longest reference to a character.
const maxEntity = 34

// unescape is a text without the backslashes before marks, and with the characters that references
// such as "&amp;" stand for.
func unescape(text string) string {
	if !strings.ContainsAny(text, `\&`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && isMark(text[i+1]):
			i++
			b.WriteByte(text[i])
		case text[i] == '&':
			entity := text[i:min(len(text), i+maxEntity)]
			if end := strings.IndexByte(entity, ';'); end > 0 && strings.IndexByte(entity[1:end], '&') < 0 {
				b.WriteString(html.UnescapeString(entity[:end+1]))
				i += end
				continue
			}
			b.WriteByte('&')
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// isMark reports whether a backslash before an octet means the octet itself.
func isMark(c byte) bool {
	return c > ' ' && c < 0x7f && !('0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z')
}
