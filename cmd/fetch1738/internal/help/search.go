package help

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
)

// search returns the options, verbs and exit codes whose help has all words of a text, width columns
// wide, or "" if nothing has them.
func search(all []cli.Command, text string, width int) string {
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 0 {
		return ""
	}
	var b strings.Builder
	section := func(title, rows string) {
		if rows != "" {
			fmt.Fprintf(&b, "%s\n%s\n", title, rows)
		}
	}
	section("Options:", cli.Options(withWords(curl.Options(), words), width))
	var verbs, codes []cli.Row
	for _, c := range all {
		if hasWords(c.Name+" "+c.Summary+" "+c.Help(cli.MaxWidth), words) {
			verbs = append(verbs, cli.Row{Name: " " + c.Name, Text: c.Summary})
		}
	}
	section("Verbs:", cli.Rows(verbs, width))
	for _, c := range all {
		section("Options of fetch1738 "+c.Name+":", cli.Options(withWords(c.Options(), words), width))
	}
	for _, m := range exit.Meanings() {
		if hasWords(m.Text, words) {
			codes = append(codes, cli.Row{Name: fmt.Sprintf("%4d", m.Code), Text: m.Text})
		}
	}
	section("Exit codes:", cli.Rows(codes, width))
	return strings.TrimSuffix(b.String(), "\n")
}

// withWords returns the options whose names or help have all words.
func withWords(options []curl.Option, words []string) (found []curl.Option) {
	for _, o := range options {
		if hasWords(strings.Join([]string{o.Long, o.Arg, o.Groups, o.Help, o.Compared()}, " "), words) {
			found = append(found, o)
		}
	}
	return found
}

// hasWords reports whether each word is the beginning of a word of text, in lower or upper case. A
// plural finds the singular, too.
func hasWords(text string, words []string) bool {
	parts := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, word := range words {
		if len(word) > 3 {
			word = strings.TrimSuffix(word, "s")
		}
		found := false
		for _, part := range parts {
			found = found || strings.HasPrefix(part, word)
		}
		if !found {
			return false
		}
	}
	return true
}
