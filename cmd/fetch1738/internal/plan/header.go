package plan

import (
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/fetch"
)

// HeaderLine parses "Name: value", "Name:" (do not send this field) or "Name;" (send the field
// without a value). White space before the colon is dropped, because servers must refuse it (RFC 9112
// §5.1).
func HeaderLine(line string) (name string, values []string, err error) {
	if name, ok := strings.CutSuffix(line, ";"); ok && !strings.Contains(name, ":") {
		return name, []string{""}, nil
	}
	name, value, found := strings.Cut(line, ":")
	if !found || name == "" {
		word, _, _ := strings.Cut(line, " ") // a secret may follow the first word
		return "", nil, localerr.Usagef("-H, --header: %s is not a header line", fetch.Printable(word))
	}
	return strings.TrimRight(name, " \t"), NonEmpty(strings.TrimSpace(value)), nil
}

// NonEmpty returns a list with value, or an empty list if value is empty.
func NonEmpty(value string) []string {
	if value == "" {
		return []string{}
	}
	return []string{value}
}
