package nntp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
)

// groupInfo holds the numbers of the reply "211 number low high group".
type groupInfo struct{ count, low, high int64 }

// parseGroup parses the text of "211 number low high group". Missing numbers are errors.
func parseGroup(text string) (g groupInfo, err error) {
	fields := append(strings.Fields(text), "", "", "")
	for i, to := range []*int64{&g.count, &g.low, &g.high} {
		if *to, err = number(fields[i]); err != nil {
			return g, err
		}
	}
	return g, nil
}

// empty reports whether the group has no articles. Servers say so in several ways (RFC 3977
// §6.1.1.2).
func (g groupInfo) empty() bool { return g.count == 0 || g.high < g.low }

// fields describes a group in a Header.
func (g groupInfo) fields() []fetch.Field {
	return []fetch.Field{
		{Name: "Articles", Value: fmt.Sprint(g.count)}, {Name: "First", Value: fmt.Sprint(g.low)}, {Name: "Last", Value: fmt.Sprint(g.high)},
	}
}

// number parses an article number. It may have at most 16 digits, so that the sum of two numbers
// cannot overflow.
func number(s string) (int64, error) {
	if len(s) > maxDigits {
		return 0, strconv.ErrRange
	}
	n, err := strconv.ParseUint(s, 10, 63)
	return int64(n), err
}

// parseArticle parses the text of "220 number <message-id>". A missing number is 0 and a missing
// message-id is "".
func parseArticle(text string) (n int64, id string) {
	first, rest, _ := strings.Cut(text, " ")
	n, err := number(first)
	if err != nil {
		return 0, ""
	}
	id, _, _ = strings.Cut(strings.TrimSpace(rest), " ")
	if !strings.HasPrefix(id, "<") || !strings.HasSuffix(id, ">") {
		id = ""
	}
	return n, id
}
