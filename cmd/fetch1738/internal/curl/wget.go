package curl

import (
	_ "embed"
	"strings"

	"github.com/fetch1738/fetch1738/internal/urls/typed"
)

// wgetRows has the long options of wget that neither curl nor this program has, each with the option
// or the verb to use. "-" means that no option does the same.
//
//go:embed wget.txt
var wgetRows string

// FromWget returns the error text for a long option of wget that is not one of curl: what to use. It
// returns "" for all other names.
func FromWget(long string) string {
	for row := range strings.Lines(wgetRows) {
		switch name, use, _ := strings.Cut(strings.TrimSpace(row), ": "); {
		case name != long || name == "":
		case use == "-":
			return "option --" + long + ": belongs to wget; there is no such option here"
		default:
			return "option --" + long + ": belongs to wget; use " + use
		}
	}
	return ""
}

// asInWget returns what to use if a letter of curl's that has a wrong value is probably meant as that of
// wget. It returns "" for all others.
func asInWget(letter, value string) string {
	scheme, _, hasServer := strings.Cut(value, "://")
	isURL := hasServer && typed.HasScheme(value)
	switch {
	case isURL && (letter == "r" || letter == "m") && strings.HasPrefix(scheme, "http"):
		return "; to copy a web site, similar to wget -" + letter + ": fetch1738 crawl --http --same-host --dir DIR URL"
	case isURL && (letter == "r" || letter == "m"):
		return "; to copy a folder, as wget -" + letter + " does: fetch1738 mirror URL DIR"
	}
	return ""
}
