package manual

import (
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
)

// page shows the manual page on the terminal of standard output: with man and its pager, which no
// shell starts, or as plain text.
func page(text string, width int) string {
	man, err := exec.LookPath("man")
	if err != nil {
		return plain(text, width)
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt) // Ctrl-C is the pager's
	defer signal.Stop(interrupts)
	c := exec.Command(man, "-l", "-")
	c.Stdin, c.Stdout = strings.NewReader(text), os.Stdout
	if c.Run() != nil { // a man without -l
		return plain(text, width)
	}
	return ""
}

// The indentation of the manual page as plain text.
const (
	bodyIndent = 7
	itemIndent = 14
)

// plain returns the manual page as plain text, width columns wide. It knows the requests of roff that
// the template has.
func plain(text string, width int) string {
	p := &formatter{width: width, indent: bodyIndent, fill: true}
	for line := range strings.Lines(text) {
		p.line(strings.TrimSuffix(line, "\n"))
	}
	p.flush()
	return strings.TrimLeft(p.out.String(), "\n")
}

// A formatter is the state of plain.
type formatter struct {
	out    strings.Builder
	width  int
	indent int
	headed bool     // nothing has followed a heading
	fill   bool     // lines are joined to paragraphs
	tagged bool     // the next text is the heading of an item
	tag    string   // the heading of the paragraph, or ""
	words  []string // of the paragraph
}

func (p *formatter) line(line string) {
	request, rest, _ := strings.Cut(line, " ")
	switch request {
	case `.\"`, ".TH":
	case ".SH", ".SS":
		p.flush()
		p.indent, p.headed = bodyIndent, true
		p.out.WriteString("\n" + strings.Repeat(" ", map[string]int{".SS": 3}[request]) + unescaped(rest) + "\n")
	case ".PP", ".TP", ".br":
		p.flush()
		if request != ".br" && !p.headed {
			p.out.WriteString("\n")
		}
		if request != ".br" {
			p.indent = bodyIndent
		}
		p.tagged = request == ".TP"
	case ".nf", ".fi":
		p.flush()
		p.fill = request == ".fi"
	case ".B", ".I":
		p.text(unescaped(rest))
	case ".BR", ".RB", ".RI", ".IR":
		p.text(unescaped(joined(rest)))
	default:
		p.text(unescaped(line))
	}
}

// text adds a line of text.
func (p *formatter) text(text string) {
	p.headed = false
	switch {
	case p.tagged:
		p.tagged, p.tag, p.indent = false, text, itemIndent
	case !p.fill:
		p.out.WriteString(strings.Repeat(" ", p.indent) + text + "\n")
	default:
		p.words = append(p.words, text)
	}
}

// flush writes the paragraph.
func (p *formatter) flush() {
	lead := strings.Repeat(" ", p.indent)
	if p.tag != "" {
		lead = strings.Repeat(" ", bodyIndent) + p.tag
		if len(lead)+2 > p.indent {
			p.out.WriteString(lead + "\n")
			lead = ""
		}
		lead += strings.Repeat(" ", p.indent-len(lead))
	}
	if len(p.words) > 0 {
		p.out.WriteString(cli.Fold(lead, strings.Join(p.words, " "), p.indent, p.width))
	}
	p.tag, p.words = "", nil
}

// joined returns the arguments of a request, whose fonts alternate, as one word each.
func joined(arguments string) string {
	var b strings.Builder
	quoted := false
	for _, r := range arguments {
		switch {
		case r == '"':
			quoted = !quoted
		case r != ' ' || quoted:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unescaped returns text without the escapes of roff.
func unescaped(text string) string {
	return strings.NewReplacer(`\e`, `\`, `\-`, "-", `\&`, "", `\(ha`, "^", `\(ti`, "~", `\(ga`, "`", `\(aq`, "'", `\fB`, "", `\fI`, "", `\fR`, "").Replace(text)
}
