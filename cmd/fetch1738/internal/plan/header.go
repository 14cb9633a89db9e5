package plan

import (
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/fetch"
)

// HeaderLine reads "Name: value", "Name:" to send no such field, or "Name;" to
// send an empty one.
func HeaderLine(line string) (name string, values []string, err error) {
	if name, ok := strings.CutSuffix(line, ";"); ok && !strings.Contains(name, ":") {
		return name, []string{""}, nil
	}
	name, value, found := strings.Cut(line, ":")
	if !found || name == "" {
		word, _, _ := strings.Cut(line, " ") // behind it there may be a secret
		return "", nil, fault.Usagef("-H, --header: %s is no header line", fetch.Printable(word))
	}
	return name, NonEmpty(strings.TrimSpace(value)), nil
}

// NonEmpty is the value, or none for an empty one.
func NonEmpty(value string) []string {
	if value == "" {
		return []string{}
	}
	return []string{value}
}
