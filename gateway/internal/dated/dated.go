// Package dated finds the dates that people write at the beginning or at the end of names, such as those
// of the entries of a journal.
package dated

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// The forms of a date. Each is followed by an optional time of day, which is not used.
const (
	day   = `(?P<d>\d{1,2})(?:st|nd|rd|th)?`
	month = `(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?`
	clock = `(?:[ t]\d{1,2}:\d{2}(?::\d{2})?z?)?`
	week  = `(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?,? +)?`
)

var forms = []string{
	`(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})`,
	`(?P<y>\d{4})/(?P<m>\d{1,2})/(?P<d>\d{1,2})`,
	`(?P<y>\d{4})[._](?P<m>\d{1,2})[._](?P<d>\d{1,2})`,
	`(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})`,
	`(?P<y>\d{4})[- ]` + month + `[- ]` + day,
	week + month + ` +` + day + `,? +(?P<y>\d{4})`,
	week + day + `\.?[- ]` + month + `[-, ] *(?P<y>\d{4})`,
}

// Brackets and marks stand between a date and a title.
const (
	marks  = " \t[](){}<>*:;|.,_/~–—-"
	around = `[\s\[\](){}<>*:;|.,_/~–—-]*`
)

// patterns are the forms at the beginning and at the end of a text. They are compiled when the first name
// is examined, because most runs of a program examine none.
var patterns = sync.OnceValue(func() (all struct{ first, last []*regexp.Regexp }) {
	for _, form := range forms {
		all.first = append(all.first, regexp.MustCompile(`(?i)^`+around+form+clock+`(?:[^\d\pL]`+around+`|$)`))
		all.last = append(all.last, regexp.MustCompile(`(?i)^`+form+clock+`$`))
	}
	return all
})

// enough is the number of bytes at an end of a name in which a date must be. Names may be long, and many.
const enough = 64

// atBegin finds the date at the beginning of a name. end is where what belongs to it ends.
func atBegin(name string) (date time.Time, end int, ok bool) {
	if !mayBegin(strings.TrimLeft(name, marks)) {
		return date, 0, false
	}
	part := name[:min(len(name), enough)]
	for _, p := range patterns().first {
		at := p.FindStringSubmatchIndex(part)
		if at == nil || at[1] == len(part) && len(part) < len(name) { // it may go on
			continue
		}
		if date, ok = dateOf(p, part, at); ok {
			return date, at[1], true
		}
	}
	return date, 0, false
}

// atEnd finds the date at the end of a name, which begins at a word.
func atEnd(name string) (date time.Time, begin int, ok bool) {
	name = strings.TrimRight(name, marks)
	for begin = max(0, len(name)-enough); begin < len(name); begin++ {
		if before, _ := utf8.DecodeLastRuneInString(name[:begin]); begin > 0 && isWord(before) || !mayBegin(name[begin:]) {
			continue
		}
		for _, p := range patterns().last {
			at := p.FindStringSubmatchIndex(name[begin:])
			if at == nil {
				continue
			}
			if date, ok = dateOf(p, name[begin:], at); ok {
				return date, begin, true
			}
		}
	}
	return date, 0, false
}

// mayBegin reports whether a text begins with a digit, or as the name of a month or a day of the week.
func mayBegin(text string) bool {
	if len(text) < 4 {
		return false
	}
	if text[0] >= '0' && text[0] <= '9' {
		return true
	}
	begin := strings.ToLower(text[:3])
	return months[begin] > 0 || strings.Contains("mon tue wed thu fri sat sun", begin)
}

func isWord(r rune) bool { return unicode.IsDigit(r) || unicode.IsLetter(r) }

// months are the numbers of the months by the first three letters of their names.
var months = map[string]int{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12}

// hasYear reports whether a name has a year. The patterns would need seconds for the names of a long menu
// without dates.
func hasYear(name string) bool {
	for i := 0; i+4 <= len(name); i++ {
		if century := name[i : i+2]; (century == "19" || century == "20") && name[i+2] >= '0' && name[i+2] <= '9' && name[i+3] >= '0' && name[i+3] <= '9' {
			return true
		}
	}
	return false
}

// A Finder finds dates in the names of a list. It gives up after maxMisses names that look as if they had
// a date and have none, because these take the most time. The zero value is ready for use.
type Finder struct{ misses int }

const maxMisses = 2000

// Find finds a date in a name, or else in a path. title is the name without the date.
func (f *Finder) Find(name, path string) (date time.Time, title string, ok bool) {
	inName, inPath := hasYear(name), len(path) <= maxPath && hasYear(path)
	if !inName && !inPath || f.misses == maxMisses {
		return date, name, false
	}
	if inName {
		if date, title, ok = fromName(name); ok {
			return date, title, true
		}
	}
	if inPath {
		if date, ok = fromPath(path); ok {
			return date, name, true
		}
	}
	f.misses++
	return date, name, false
}

// fromName finds the date at the beginning or at the end of a name. title is the rest, or the name if there
// is no rest.
func fromName(name string) (date time.Time, title string, ok bool) {
	date, end, ok := atBegin(name)
	title = name[end:]
	if !ok {
		var begin int
		if date, begin, ok = atEnd(name); !ok {
			return date, name, false
		}
		title = strings.TrimRight(name[:begin], marks)
	}
	if title = strings.TrimSpace(title); title == "" {
		title = strings.TrimSpace(name)
	}
	return date, title, true
}

// dateOf is the date that a pattern has found in a name; not ok if there is no such day.
func dateOf(pattern *regexp.Regexp, name string, at []int) (date time.Time, ok bool) {
	var year, month, day int
	for i, group := range pattern.SubexpNames() {
		if group == "" || at[2*i] < 0 {
			continue
		}
		text := name[at[2*i]:at[2*i+1]]
		n, _ := strconv.Atoi(text)
		switch group {
		case "y":
			year = n
		case "m":
			month = n
		case "name":
			month = months[strings.ToLower(text[:3])]
		case "d":
			day = n
		}
	}
	date = time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return date, year >= 1970 && year < 2100 && date.Day() == day && int(date.Month()) == month
}

// folders are a date as folders of a path.
var folders = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|/)(?P<y>\d{4})/(?P<m>\d{1,2})/(?P<d>\d{1,2})(?:[^\d].*)?$`)
})

// maxPath is the length of the longest path that is examined.
const maxPath = 512

// fromPath finds a date in a path: in its last name, without the ending of that, or as the folders of a
// year, a month and a day.
func fromPath(p string) (date time.Time, ok bool) {
	name := path.Base(p)
	if date, _, ok = fromName(name); ok {
		return date, true
	}
	if date, _, ok = fromName(strings.TrimSuffix(name, path.Ext(name))); ok {
		return date, true
	}
	if at := folders().FindStringSubmatchIndex(p); at != nil {
		return dateOf(folders(), p, at)
	}
	return date, false
}
