package plaintext

import (
	"iter"
	"regexp"
	"strconv"
	"strings"
)

// A Page is a page of an RFC or an Internet-Draft, without the lines at its top and bottom that all
// pages have.
type Page struct {
	Number int // 0 if it is not known
	Parts  []Part
}

// A Part is a part of a page.
type Part struct {
	Text    string
	ID      string // of the heading of a section: no other one has it
	Section string // the ID of the section that a line of the table of contents leads to
}

// A Document is an RFC or an Internet-Draft.
type Document struct {
	pages    []numbered
	sections map[string]bool // the IDs of those that it has
}

var (
	footer  = regexp.MustCompile(`\[[Pp]age (\d{1,4})\]\s*$`)
	header  = regexp.MustCompile(`^(?:RFC \d+|Internet[- ]Draft)\s.*\d{4}\s*$`)
	heading = regexp.MustCompile(`^ ?(?:[Aa]ppendix |APPENDIX )?(\d{1,3}\.|[A-Z]\.|(?:\d{1,3}|[A-Z])(?:\.\d{1,3})+\.?)\s+\S`)
	letter  = regexp.MustCompile(`^ ?(?:[Aa]ppendix |APPENDIX )([A-Z])\b`)
	listed  = regexp.MustCompile(`^\s*(?:[Aa]ppendix |APPENDIX )?((?:\d{1,3}|[A-Z])(?:\.\d{1,3})*)\.?\s.*(?:\.\.|\. \.|\s{3}).*\d+\s*$`)
)

// ReadRFC reads an RFC or an Internet-Draft, whose lines end in "\n".
func ReadRFC(text string) *Document {
	d := &Document{splitPages(text), make(map[string]bool)}
	for _, p := range d.pages {
		for line := range strings.Lines(p.text) {
			if id, listing := sectionOf(line); id != "" && !listing {
				d.sections[id] = true
			}
		}
	}
	return d
}

// Pages are the pages of the document. Each is made when it is used.
func (d *Document) Pages() iter.Seq[Page] {
	return func(yield func(Page) bool) {
		seen := make(map[string]bool)
		for _, p := range d.pages {
			if !yield(Page{p.number, d.parts(p.text, seen)}) {
				return
			}
		}
	}
}

// maxPart is the size from which on the text between two headings is more than one part.
const maxPart = 16 << 10

// parts splits the text of a page at headings and the lines of the table of contents. What is in seen
// is not the ID of another heading.
func (d *Document) parts(text string, seen map[string]bool) []Part {
	var parts []Part
	begin, at := 0, 0
	for line := range strings.Lines(text) {
		p := Part{Text: strings.TrimRight(line, "\n")}
		switch id, listing := sectionOf(line); {
		case listing && d.sections[id]:
			p.Section = id
		case !listing && !seen[id]:
			p.ID = id
		}
		apart := p.ID != "" || p.Section != ""
		if begin < at && (apart || at-begin > maxPart) {
			parts = append(parts, Part{Text: text[begin:at]})
			begin = at
		}
		if apart {
			seen[p.ID] = p.ID != ""
			parts = append(parts, p)
			begin = at + len(p.Text)
		}
		at += len(line)
	}
	if begin < len(text) {
		parts = append(parts, Part{Text: text[begin:]})
	}
	return parts
}

// sectionOf is the ID of the section that a line is about: as its heading, or in the table of contents.
// It is empty for other lines, most of which it does not look at.
func sectionOf(line string) (id string, listing bool) {
	const longest = 120 // octets of a line; an RFC has 72
	text := strings.Trim(line, " \t\r\n")
	if len(line) > longest || text == "" || !('0' <= text[0] && text[0] <= '9' || 'A' <= text[0] && text[0] <= 'Z') {
		return "", false
	}
	if last := text[len(text)-1]; '0' <= last && last <= '9' {
		if found := listed.FindStringSubmatch(line); found != nil {
			return SectionID(found[1]), true
		}
	}
	if strings.HasPrefix(line, "  ") {
		return "", false
	}
	found := heading.FindStringSubmatch(line)
	if found == nil {
		found = letter.FindStringSubmatch(line)
	}
	if found == nil {
		return "", false
	}
	return SectionID(found[1]), false
}

// SectionID is the ID of a section, as on the pages of the RFC Editor: "section-3.2", "appendix-A".
func SectionID(number string) string {
	number = strings.TrimRight(number, ".")
	if number[0] >= 'A' {
		return "appendix-" + number
	}
	return "section-" + number
}

// A numbered is the text of a page with its number.
type numbered struct {
	number int
	text   string
}

// splitPages splits a text at form feeds and at the last line of a page, "[Page 12]".
func splitPages(text string) []numbered {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var pages []numbered
	var b strings.Builder
	number := 0
	begins := false // nothing but empty lines has been read of this page
	end := func(next int) {
		if !begins {
			pages = append(pages, numbered{number, strings.Trim(b.String(), "\n")})
			b.Reset()
		}
		begins, number = true, max(number, next)
	}
	for line := range strings.Lines(text) {
		if before, after, ok := strings.Cut(line, "\f"); ok && strings.TrimSpace(before) == "" {
			end(number)
			line = strings.TrimLeft(after, "\f")
		}
		switch found := footer.FindStringSubmatch(line); {
		case found != nil && line[0] != ' ':
			n, _ := strconv.Atoi(found[1])
			end(n + 1)
			continue
		case begins && (strings.TrimSpace(line) == "" || header.MatchString(line)):
			continue
		}
		begins = false
		b.WriteString(line)
	}
	if !begins {
		pages = append(pages, numbered{number, strings.Trim(b.String(), "\n")})
	}
	return pages
}

// A Reference is a mention of a section or an RFC.
type Reference struct {
	From, To int    // where it is in the text
	RFC      int    // 0 for the document itself
	Section  string // the ID of the section; empty for all of the RFC
}

var mention = regexp.MustCompile(`^(?:(?:[Ss]ection|SECTION|[Aa]ppendix|APPENDIX)\s+((?:\d{1,3}|[A-Z])(?:\.\d{1,3})*)\b(\s+(?:of|in)\s+(?:\[?RFC[ -]?0*(\d{1,5})\b\]?|\S+))?` +
	`|\[?RFC[ -]?0*(\d{1,5})\b\]?(?:,?\s+[Ss]ection\s+(\d{1,3}(?:\.\d{1,3})*)\b)?)`)

// begins reports whether a mention may begin at a place in a text. Most do not need the expression.
func begins(text string, at int) bool {
	switch text[at] {
	case 'S', 's', 'A', 'a', 'R', '[':
	default:
		return false
	}
	if at > 0 && (isLetter(text[at-1]) || '0' <= text[at-1] && text[at-1] <= '9') {
		return false
	}
	for _, word := range []string{"RFC", "[RFC", "Section", "section", "SECTION", "Appendix", "appendix", "APPENDIX"} {
		if strings.HasPrefix(text[at:], word) {
			return true
		}
	}
	return false
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// References are the mentions in a text that are known to be of a section of the document, or of
// another RFC.
func (d *Document) References(text string) []Reference {
	const longest = 200 // octets of a mention
	var found []Reference
	for from := 0; from < len(text); from++ {
		if !begins(text, from) {
			continue
		}
		m := mention.FindStringSubmatchIndex(text[from:min(len(text), from+longest)])
		if m == nil {
			continue
		}
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[from+m[2*i] : from+m[2*i+1]]
		}
		r := Reference{From: from, To: from + m[1]}
		switch number, of := part(1), strings.Fields(part(2)); {
		case number == "":
			r.RFC, _ = strconv.Atoi(part(4))
			if part(5) != "" {
				r.Section = SectionID(part(5))
			}
		case part(3) != "":
			r.RFC, _ = strconv.Atoi(part(3))
			r.Section = SectionID(number)
		default:
			r.To = from + m[3]
			ours := len(of) == 0 || of[1] == "this" || of[0] == "in" && of[1][0] != '['
			if id := SectionID(number); ours && d.sections[id] {
				r.Section = id
			}
		}
		if r.RFC != 0 || r.Section != "" {
			found = append(found, r)
		}
		from = r.To - 1
	}
	return found
}
