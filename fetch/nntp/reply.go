package nntp

import (
	"strconv"
	"strings"
)

// groupInfo is "211 number low high group".
type groupInfo struct{ count, low, high int64 }

func parseGroup(text string) (g groupInfo, err error) {
	fields := append(strings.Fields(text), "", "", "")
	for i, to := range []*int64{&g.count, &g.low, &g.high} {
		if *to, err = number(fields[i]); err != nil {
			return g, err
		}
	}
	return g, nil
}

// empty tells whether there is nothing in the group, for which servers have
// several ways (RFC 3977 §6.1.1.2).
func (g groupInfo) empty() bool { return g.count == 0 || g.high < g.low }

// number reads the number of an article: at most 16 digits, so that sums of two
// stay in range.
func number(s string) (int64, error) {
	if len(s) > maxDigits {
		return 0, strconv.ErrRange
	}
	n, err := strconv.ParseUint(s, 10, 63)
	return int64(n), err
}

// parseArticle reads "220 number <message-id>"; what is missing is 0 and "".
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
