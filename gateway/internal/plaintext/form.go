// Package plaintext finds out what texts without markup are, and what is in their lines: RFCs with
// sections and pages, manual pages with letters that are printed twice, source code.
package plaintext

import (
	"path"
	"regexp"
	"strings"
)

// A Form is what a text is, which decides how it is shown.
type Form string

// The forms of texts.
const (
	Flowing      Form = "flowing"      // its lines may be wrapped
	Preformatted Form = "preformatted" // tables and drawings of characters
	Source       Form = "source"       // code, whose lines have numbers
	RFC          Form = "rfc"          // of pages, with sections
	Manual       Form = "manual"       // letters are printed over others
	Markdown     Form = "markdown"
	Gemtext      Form = "gemtext"
)

// suffixes are those of source code. Tables of the system are not used, as they differ.
const suffixes = " .ada .adb .ads .as .asm .awk .bas .bat .c .cc .cfg .cgi .cl .clj .cmake .cob .conf .cpp .cs .csh .css" +
	" .cxx .d .dart .def .diff .dtd .el .erl .f .f77 .f90 .for .fs .go .gradle .groovy .h .hh .hpp .hs .htm .html .hxx .idl" +
	" .inc .ini .java .jl .js .json .kt .ksh .l .lisp .lsp .lua .m .m4 .mak .mib .mk .ml .mod .nim .nroff .pas .patch .php" +
	" .pl .pm .pod .pro .properties .proto .ps1 .py .r .rb .rs .s .scala .scm .sed .sh .sql .st .sty .svg .swift .tcl .tex" +
	" .toml .tr .troff .ts .vb .vhd .vim .xhtml .xml .xsl .y .yaml .yml .zig .zsh "

// names are those of source code without a suffix, in lower case.
const names = " makefile gnumakefile imakefile dockerfile configure jamfile rakefile gemfile "

var (
	rfcName    = regexp.MustCompile(`^(?i)(?:rfc\d{1,5}|draft-[-a-z0-9]+)\.txt$`)
	section    = regexp.MustCompile(`^\.[1-9][a-z]*$`)
	overstruck = regexp.MustCompile(`[^\s\x08]\x08[^\s\x08]`)
	roff       = regexp.MustCompile(`(?m)^[.'](?:\\"|[A-Za-z]{2}\b)`)
)

// FormOf returns the form of a text. Its name counts before its media type, which may be empty, and
// its first lines last.
func FormOf(name, mediaType, start string) Form {
	name = strings.ToLower(name)
	suffix := path.Ext(name)
	is := func(list, word string) bool { return word != "" && strings.Contains(list, " "+word+" ") }
	switch {
	case mediaType == "text/markdown", suffix == ".md", suffix == ".markdown":
		return Markdown
	case mediaType == "text/gemini", suffix == ".gmi", suffix == ".gemini":
		return Gemtext
	case rfcName.MatchString(name):
		return RFC
	case is(suffixes, suffix), is(names, name), section.MatchString(suffix) && roff.MatchString(start), isCode(mediaType):
		return Source
	case overstruck.MatchString(start):
		return Manual
	}
	return Flowing
}

// isCode reports whether documents of a media type are code.
func isCode(mediaType string) bool {
	switch mediaType {
	case "text/css", "text/javascript", "application/json":
		return true
	}
	return strings.HasSuffix(mediaType, "html") || strings.HasSuffix(mediaType, "xml") || strings.HasSuffix(mediaType, "+json")
}
