package formdata

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

// A Parser parses the values of --form, as curl does.
type Parser struct {
	ReadFile func(name string) ([]byte, error) // the name "-" is standard input
	Warn     func(format string, args ...any)
}

// Field parses "NAME=CONTENT", "NAME=<FILE" or "NAME=@FILE,FILE", each with parameters after a ";". A form
// of Gopher takes the value as it is.
func (p Parser) Field(text string) (plan.Field, error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return plan.Field{}, errNoValue
	}
	v := valueParser{Parser: p, rest: value}
	field := plan.Field{Name: name, Text: value}
	var err error
	switch {
	case strings.HasPrefix(value, "@"):
		v.rest = value[1:]
		field.Files, err = v.files()
	case strings.HasPrefix(value, "<"):
		v.rest = value[1:]
		if field.Part, err = v.part(""); err == nil {
			var content []byte
			content, err = p.ReadFile(field.Part.Content)
			field.Part.Content, field.Text = string(content), string(content)
		}
	default:
		field.Part, err = v.part("")
	}
	return field, err
}

// String parses "NAME=CONTENT", in which no character is special.
func String(text string) (plan.Field, error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return plan.Field{}, errNoValue
	}
	return plan.Field{Name: name, Text: value, Part: plan.Part{Content: value}}, nil
}

var errNoValue = errors.New("expected NAME=VALUE")

// A valueParser parses the value of a field.
type valueParser struct {
	Parser
	rest string
}

// files parses names of files that are separated by commas, each with its parameters.
func (p *valueParser) files() ([]plan.Part, error) {
	var all []plan.Part
	for {
		part, err := p.part(",")
		if err != nil {
			return nil, err
		}
		if err := p.setFile(&part, part.Content); err != nil {
			return nil, err
		}
		all = append(all, part)
		if !strings.HasPrefix(p.rest, ",") {
			return all, nil
		}
		p.rest = p.rest[1:]
	}
}

// setFile makes a file the content of a part. Standard input and pipes are read at once, because that is
// possible only once, and a form may have to be sent again.
func (p *valueParser) setFile(part *plan.Part, name string) error {
	part.Content, part.File = "", name
	if info, err := os.Stat(name); name != "-" && (err != nil || info.Mode().IsRegular()) {
		return nil
	}
	text, err := p.ReadFile(name)
	if err != nil {
		return err
	}
	part.Content, part.File, part.Type = string(text), "", cmp.Or(part.Type, typeOf(name))
	if part.Filename == nil {
		base := filepath.Base(name)
		part.Filename = &base
	}
	return nil
}

// part parses a content, or the name of a file, and its parameters. It ends at one of the characters in
// end.
func (p *valueParser) part(end string) (part plan.Part, err error) {
	part.Content = p.word(end)
	for strings.HasPrefix(p.rest, ";") {
		p.rest = strings.TrimLeft(p.rest[1:], " \t")
		name, _, _ := strings.Cut(p.rest, "=")
		switch name {
		case "type":
			p.rest = p.rest[len("type="):]
			part.Type = p.mediaType(end)
		case "filename":
			p.rest = p.rest[len("filename="):]
			named := p.word(end)
			part.Filename = &named
		case "encoder":
			p.rest = p.rest[len("encoder="):]
			part.Encoder = p.word(end)
		case "headers":
			p.rest = p.rest[len("headers="):]
			lines, err := p.headers(end)
			if err != nil {
				return part, err
			}
			part.Headers = append(part.Headers, lines...)
		default:
			if unknown := p.word(end); unknown != "" {
				p.Warn("--form: the parameter %q is not known; ignored", unknown)
			}
		}
	}
	return part, nil
}

// word parses up to a ";" or one of the characters in end. In quotes these have no special meaning, and a
// backslash makes the next quote or backslash a part of the word.
func (p *valueParser) word(end string) string {
	p.rest = strings.TrimLeft(p.rest, " \t")
	if quoted, ok := strings.CutPrefix(p.rest, `"`); ok {
		var word strings.Builder
		for i := 0; i < len(quoted); i++ {
			switch c := quoted[i]; {
			case c == '\\' && i+1 < len(quoted) && (quoted[i+1] == '"' || quoted[i+1] == '\\'):
				i++
				word.WriteByte(quoted[i])
			case c == '"':
				p.rest = strings.TrimLeft(quoted[i+1:], " \t")
				if after := strings.IndexAny(p.rest, ";"+end); after > 0 { // as curl, which says nothing
					p.rest = p.rest[after:]
				}
				return word.String()
			default:
				word.WriteByte(c)
			}
		}
	}
	at := strings.IndexAny(p.rest, ";"+end)
	if at < 0 {
		at = len(p.rest)
	}
	word := strings.TrimRight(p.rest[:at], " \t")
	p.rest = p.rest[at:]
	return word
}

// mediaType parses a media type with its own parameters: a ";" ends it only before a known parameter.
func (p *valueParser) mediaType(end string) string {
	typ := p.word(end)
	for strings.HasPrefix(p.rest, ";") {
		name, _, _ := strings.Cut(strings.TrimLeft(p.rest[1:], " \t"), "=")
		switch name {
		case "type", "filename", "encoder", "headers":
			return typ
		}
		p.rest = p.rest[1:]
		typ += "; " + p.word(end)
	}
	return typ
}

// headers parses a header line, or the name of a file of header lines after "@" or "<".
func (p *valueParser) headers(end string) (lines []string, err error) {
	if !strings.HasPrefix(p.rest, "@") && !strings.HasPrefix(p.rest, "<") {
		lines = []string{p.word(end)}
	} else {
		p.rest = p.rest[1:]
		text, err := p.ReadFile(p.word(end))
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimRight(line, "\r\n"); line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
	}
	for _, line := range lines {
		if name, _, ok := strings.Cut(line, ":"); !ok || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("%q is not a header line", line)
		}
	}
	return lines, nil
}
