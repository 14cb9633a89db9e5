package article

import "strings"

// A Block is a part of the text of an article: text, a quote of blocks, or the signature.
type Block struct {
	Text      string
	Quote     []*Block
	Signature bool
	// Mark is what stands before each line of a quote, such as ">> ". Browsers that know style
	// sheets show a bar instead.
	Mark string
}

// maxQuotes is the number of quotes within each other. In deeper ones the ">" are text.
const maxQuotes = 8

// A Line is a line of an article, without the ">" before it.
type Line struct {
	depth int // number of these ">"
	text  string
}

// Blocks splits the text of an article into what its author wrote, quotes, and the signature,
// which follows the last line "-- ". Quotes are lines that begin with ">".
func Blocks(lines []Line) []*Block {
	sign := len(lines)
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i] == (Line{0, "-- "}) {
			sign = i
			break
		}
	}
	blocks := nest(lines[:sign], 0)
	if sign < len(lines) {
		var b strings.Builder
		b.WriteString("--")
		for _, l := range lines[sign+1:] {
			b.WriteString("\n" + strings.Repeat(">", l.depth) + l.text)
		}
		blocks = append(blocks, &Block{Text: strings.TrimRight(b.String(), "\n"), Signature: true})
	}
	return blocks
}

// nest makes blocks of lines that are within depth quotes or more.
func nest(lines []Line, depth int) []*Block {
	var blocks []*Block
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && (lines[n].depth > depth) == (lines[0].depth > depth) {
			n++
		}
		if lines[0].depth > depth {
			blocks = append(blocks, &Block{Quote: nest(lines[:n], depth+1)})
		} else if text := joined(lines[:n]); text != "" {
			mark := ""
			if depth > 0 {
				mark = strings.Repeat(">", depth) + " "
			}
			blocks = append(blocks, &Block{Text: text, Mark: mark})
		}
		lines = lines[n:]
	}
	return blocks
}

// joined is the text of lines, without empty ones before and after it.
func joined(lines []Line) string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.text
	}
	for len(texts) > 0 && strings.TrimSpace(texts[0]) == "" {
		texts = texts[1:]
	}
	for len(texts) > 0 && strings.TrimSpace(texts[len(texts)-1]) == "" {
		texts = texts[:len(texts)-1]
	}
	return strings.Join(texts, "\n")
}

// Quoted splits a text into lines. The ">" of a quote may be separated by a space each.
func Quoted(text string) []Line {
	var lines []Line
	for line := range strings.Lines(text) {
		l := Line{text: strings.TrimRight(line, "\r\n")}
		for l.depth < maxQuotes {
			rest, quoted := strings.CutPrefix(l.text, ">")
			if !quoted && l.depth > 0 {
				rest, quoted = strings.CutPrefix(l.text, " >")
			}
			if !quoted {
				break
			}
			l.depth, l.text = l.depth+1, rest
		}
		if l.depth > 0 {
			l.text = strings.TrimPrefix(l.text, " ")
		}
		lines = append(lines, l)
	}
	return lines
}

// Flowed is Quoted for a text of format=flowed (RFC 3676), where a line that ends in a
// space goes on in the next one. delsp means that this space is not a part of the text.
func Flowed(text string, delsp bool) []Line {
	var lines []Line
	var open strings.Builder // the text of the last line, if it goes on
	depth, continued := 0, false
	finish := func() {
		if continued {
			lines = append(lines, Line{depth, open.String()})
		}
		open.Reset()
		continued = false
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		rest := strings.TrimLeft(line, ">")
		n := min(len(line)-len(rest), maxQuotes)
		rest = line[n:]
		rest = strings.TrimPrefix(rest, " ")
		if n != depth || rest == "-- " {
			finish()
		}
		flows := strings.HasSuffix(rest, " ") && rest != "-- "
		if flows && delsp {
			rest = rest[:len(rest)-1]
		}
		depth = n
		open.WriteString(rest)
		continued = true
		if !flows {
			finish()
		}
	}
	finish()
	return lines
}
