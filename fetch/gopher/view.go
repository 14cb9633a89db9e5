package gopher

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
)

// A View is one of the forms that a Gopher+ item is to be had in (RFC 1738
// §3.4.8).
type View struct {
	// Label is the view as a request names it: the type and the language, if any.
	Label string
	// Type is a media type, in the server's own letter case.
	Type string
	// Language is such as "De_DE": a language of ISO 639 and a country of ISO
	// 3166; empty when the server does not say.
	Language string
	// Size is the length in octets, -1 when the server does not say. It is Exact
	// where the server counts in octets; most count in tenths of a kilobyte.
	Size  int64
	Exact bool
}

// parseView reads a line of the block "+VIEWS": "type[ language]: [<size>]".
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

// parseSize reads a size such as "10k", ".3k", "45K", "2M", "512b" or "512".
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

// chooseView finds the view of a media type and language, either of which may
// be empty. A language without a country matches all of its countries; letter
// case does not matter. It is the server's first among those that match.
func chooseView(views []View, media, language string) (View, error) {
	var labels []string
	for _, v := range views {
		if (media == "" || strings.EqualFold(v.Type, media)) && sameLanguage(v.Language, language) {
			return v, nil
		}
		labels = append(labels, v.Label)
	}
	if labels == nil {
		return View{}, fetch.Fail(fetch.OpChoose, nil, fetch.ErrNotFound, fmt.Errorf("the server names no views of the item"))
	}
	return View{}, fetch.Fail(fetch.OpChoose, nil, fetch.ErrNotFound, fmt.Errorf("there is no such view; there are: %s", strings.Join(labels, ", ")))
}

// sameLanguage reports whether a view in language has is one that is wanted.
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
