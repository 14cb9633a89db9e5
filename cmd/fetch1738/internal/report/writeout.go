package report

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// writeOut writes the output of -w. It returns the first error.
func writeOut(t *told) error {
	p := &formatter{t: t, variables: variables(t)}
	p.redirect(nil)
	p.format()
	p.redirect(nil)
	return p.err
}

// format interprets the format.
func (p *formatter) format() {
	for rest := p.t.Op.Output.WriteOut; rest != "" && !p.ended; {
		text, directive, found := strings.Cut(rest, "%")
		p.write(unescapeFormat(text))
		if !found {
			return
		}
		rest = p.directive(directive)
	}
}

// A formatter interprets the format of -w.
type formatter struct {
	t         *told
	to        io.Writer
	file      disk.File // the file of %output, or nil
	variables map[string]any
	ended     bool
	err       error // of writing
}

// directive executes the directive after a "%" and returns the text after it. Other
// text is written as it is.
func (p *formatter) directive(s string) (rest string) {
	if rest, doubled := strings.CutPrefix(s, "%"); doubled {
		p.write("%")
		return rest
	}
	for _, d := range []struct {
		start string
		do    func(argument string)
	}{{"{", p.variable}, {"header{", p.header}, {"output{", p.output}} {
		after, ok := strings.CutPrefix(s, d.start)
		if argument, rest, closed := strings.Cut(after, "}"); ok && closed {
			d.do(argument)
			return rest
		}
	}
	p.write("%")
	return s
}

// variable writes the value of a variable, or executes it.
func (p *formatter) variable(name string) {
	switch value, known := p.variables[name]; {
	case name == "stdout":
		p.redirect(nil)
	case name == "stderr":
		p.redirect(nil)
		p.to = p.t.reporter.Err
	case name == "onerror":
		p.ended = p.t.code == exit.OK
	case name == "json":
		p.write(asJSON(p.variables))
	case name == "header_json":
		p.write(headerJSON(p.t))
	case known:
		p.write(variableText(name, value))
	case strings.HasPrefix(name, "url.") && isURLPart(name[len("url."):]):
		p.write(maskedURL(p.t.Op, p.t.URL).part(name[len("url."):]))
	case strings.HasPrefix(name, "urle.") && isURLPart(name[len("urle."):]):
		p.write(maskedURL(p.t.Op, effectiveURL(p.t)).part(name[len("urle."):]))
	default:
		fmt.Fprintf(p.t.reporter.Err, "fetch1738: unknown --write-out variable: '%s'\n", stdio.Line(name))
	}
}

// header writes the first header field with a name.
func (p *formatter) header(name string) {
	if web := p.t.Answer.Web; web != nil {
		p.write(web.Header.Get(name))
	}
}

// output redirects the following text to a file; ">>" appends.
func (p *formatter) output(name string) {
	p.redirect(nil)
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if behind, ok := strings.CutPrefix(name, ">>"); ok {
		name, flags = behind, os.O_WRONLY|os.O_CREATE|os.O_APPEND
	}
	if file, err := disk.Or(p.t.reporter.Disk).OpenFile(name, flags, 0o666); err != nil {
		p.t.Warn("--write-out: %v", err)
	} else {
		p.redirect(file)
	}
}

// redirect redirects the following text to a file, or, if file is nil, to standard
// output.
func (p *formatter) redirect(file disk.File) {
	if p.file != nil {
		p.fail(p.file.Close())
	}
	if p.file, p.to = file, p.t.Out; file != nil {
		p.to = file
	}
}

// fail records an error of writing to the current file or to standard output.
func (p *formatter) fail(err error) {
	switch {
	case err == nil || p.err != nil:
	case p.file != nil:
		p.err = localerr.New(localerr.Write, err)
	default:
		p.err = stdio.OutputError(err)
	}
}

// write writes text, part of which may come from a server.
func (p *formatter) write(s string) {
	if s == "" {
		return
	}
	if term.IsTerminal(p.to) {
		s = term.Safe(s)
	}
	_, err := io.WriteString(p.to, s)
	if p.to != p.t.reporter.Err {
		p.fail(err)
	}
}

// unescapeFormat replaces \n, \r and \t by the characters. As in curl, a doubled
// backslash stays doubled.
func unescapeFormat(s string) string {
	return strings.NewReplacer(`\\`, `\\`, `\n`, "\n", `\r`, "\r", `\t`, "\t").Replace(s)
}
