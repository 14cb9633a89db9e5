package gopher

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
)

// A View is one representation of a Gopher+ item (RFC 1738 §3.4.8).
type View struct {
	// Label is the name of the view in a request: the type and the language, if any.
	Label string
	// Type is a media type, spelled as the server does.
	Type string
	// Language is a language of ISO 639 and a country of ISO 3166, such as "De_DE". It is empty if
	// the server does not send it.
	Language string
	// Size is the length in bytes, -1 if the server does not send it. Exact is set if the server
	// sends it in bytes; most servers round to tenths of a kilobyte.
	Size  int64
	Exact bool
}

// parseView parses a line of the block "+VIEWS": "type[ language]: [<size>]".
func parseView(line string) (v View, ok bool) {
	label, size := strings.TrimSpace(line), ""
	if i := strings.LastIndexByte(label, '<'); i > 0 && strings.HasSuffix(label, ">") {
		label, size = strings.TrimSpace(label[:i]), label[i+1:len(label)-1]
	}
	v.Label = strings.TrimSpace(strings.TrimSuffix(label, ":"))
	v.Type, v.Language, _ = strings.Cut(v.Label, " ")
	v.Language = strings.TrimSpace(v.Language)
	v.Size, v.Exact = parseSize(size)
	return v, v.Type != "" && !strings.ContainsAny(v.Label, "\t\x00\r")
}

// parseSize parses a size such as "10k", ".3k", "45K", "2M", "512b" or "512".
func parseSize(s string) (size int64, exact bool) {
	unit := 1.0
	if s != "" {
		switch last := s[len(s)-1]; last {
		case 'b', 'B':
			s = s[:len(s)-1]
		case 'k', 'K':
			s, unit = s[:len(s)-1], 1<<10
		case 'm', 'M':
			s, unit = s[:len(s)-1], 1<<20
		}
	}
	if strings.Trim(s, ".0123456789") != "" {
		return -1, false
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n*unit > 1<<53 {
		return -1, false
	}
	return int64(math.Round(n * unit)), unit == 1 && !strings.Contains(s, ".")
}

// chooseView returns the first view with the given media type and language, either of which may be
// empty. A language without a country matches all of its countries. Letter case is ignored.
func chooseView(views []View, media, language string) (View, error) {
	var labels []string
	for _, v := range views {
		if (media == "" || strings.EqualFold(v.Type, media)) && sameLanguage(v.Language, language) {
			return v, nil
		}
		labels = append(labels, v.Label)
	}
	if labels == nil {
		return View{}, driver.Fail("choose", nil, fetch.ErrNotFound, fmt.Errorf("the server lists no views of the item"))
	}
	return View{}, driver.Fail("choose", nil, fetch.ErrNotFound, fmt.Errorf("no such view; available: %s", strings.Join(labels, ", ")))
}

// sameLanguage reports whether a view in language has matches the language wanted.
func sameLanguage(has, wanted string) bool {
	if wanted == "" {
		return true
	}
	has, wanted = strings.ReplaceAll(has, "-", "_"), strings.ReplaceAll(wanted, "-", "_")
	if !strings.Contains(wanted, "_") {
		has, _, _ = strings.Cut(has, "_")
	}
	return strings.EqualFold(has, wanted)
}
