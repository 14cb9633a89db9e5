package main

import (
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
)

// nameByServer gives the file of -O -J the name that an HTTP answer has for it, if
// it has one. Such a name never replaces a file.
func (t *transfer) nameByServer(res *fetch.Resource) error {
	if !t.op.remoteHeaderName || !t.dest.remote {
		return nil
	}
	given := ""
	if info, ok := res.Info.(*fetchhttp.Info); ok {
		given = dispositionName(info.Header.Get("Content-Disposition"))
	}
	if given == "" {
		return t.sink.nameless
	}
	name, err := safeName(given)
	if err != nil {
		return err
	}
	t.sink.path, t.sink.exclusive, t.sink.nameless = t.inOutputDir(name), true, nil
	return nil
}

// dispositionName finds the parameter filename of a Content-Disposition field, as
// curl does: quoted by " or ' or up to the next semicolon, and never decoded.
func dispositionName(field string) string {
	for {
		_, rest, found := strings.Cut(field, ";")
		if !found {
			return ""
		}
		field = strings.TrimLeft(rest, " \t")
		value, isName := cutPrefixFold(field, "filename=")
		if !isName {
			continue
		}
		end := ";"
		if value != "" && (value[0] == '"' || value[0] == '\'') {
			end, value = value[:1], value[1:]
		}
		value, _, _ = strings.Cut(value, end)
		return strings.TrimRight(value, " \t")
	}
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if !hasPrefixFold(s, prefix) {
		return s, false
	}
	return s[len(prefix):], true
}
