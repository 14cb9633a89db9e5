package waistest

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
)

// hit is a document that was found.
type hit struct {
	doc   int
	score int // the best hit has 1000
}

// Limits of a query.
const (
	maxQueryWords = 200
	maxQueryDepth = 16
)

var (
	errQuery     = errors.New("query syntax error")
	errField     = errors.New("unknown field in query")
	errManyWords = errors.New("too many words in query")
)

// search finds documents that match a query or contain words of like.
func (db *database) search(query string, like []string) ([]hit, error) {
	q := waisQuery{db: db, tokens: queryTokens(query)}
	if len(q.tokens) > maxQueryWords {
		return nil, errManyWords
	}
	found := make(map[int]int)
	if len(q.tokens) > 0 {
		var err error
		if found, err = q.parseOr(0); err != nil {
			return nil, err
		}
		if q.at < len(q.tokens) {
			return nil, errQuery
		}
	}
	for _, word := range like { // the number of different words, not of occurrences
		for _, p := range db.words[word] {
			found[p.doc] += headlineWeight
		}
	}
	return ranked(found), nil
}

// ranked returns the documents, the best first.
func ranked(weights map[int]int) []hit {
	best := 1
	for _, w := range weights {
		best = max(best, w)
	}
	hits := make([]hit, 0, len(weights))
	for doc, w := range weights {
		hits = append(hits, hit{doc, max(1, 1000*w/best)})
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc, b.doc)) })
	return hits
}

// queryTokens splits a query into words, parentheses and quoted phrases.
func queryTokens(query string) []string {
	var tokens []string
	for len(tokens) <= maxQueryWords {
		query = strings.TrimLeft(query, " \t\r\n,.;:!")
		if query == "" {
			break
		}
		end := strings.IndexAny(query, " \t\r\n,.;:!()\"")
		switch {
		case end == 0 && query[0] == '"':
			end = strings.IndexByte(query[1:], '"') + 2
			if end == 1 {
				end = len(query)
			}
		case end == 0:
			end = 1
		case end < 0:
			end = len(query)
		}
		tokens, query = append(tokens, query[:end]), query[end:]
	}
	return tokens
}

// waisQuery parses a query:
//
//	or   = and { ["or"] and }
//	and  = term { ("and" | "not") term }
//	term = "(" or ")" | word | word "*" | quoted
type waisQuery struct {
	db     *database
	tokens []string
	at     int
}

// next consumes the next token if it is one of words.
func (q *waisQuery) next(words ...string) string {
	if q.at < len(q.tokens) {
		if word := toLower(q.tokens[q.at]); slices.Contains(words, word) {
			q.at++
			return word
		}
	}
	return ""
}

// parseOr parses an alternative. Terms without an operator between them are one.
func (q *waisQuery) parseOr(depth int) (map[int]int, error) {
	if depth > maxQueryDepth {
		return nil, errQuery
	}
	found, err := q.parseAnd(depth)
	for err == nil && q.at < len(q.tokens) && q.tokens[q.at] != ")" {
		var more map[int]int
		q.next("or")
		more, err = q.parseAnd(depth)
		found = union(found, more)
	}
	return found, err
}

// parseAnd parses terms that are joined by "and" or "not".
func (q *waisQuery) parseAnd(depth int) (map[int]int, error) {
	found, err := q.parseTerm(depth)
	for err == nil {
		op := q.next("and", "not")
		if op == "" {
			break
		}
		var other map[int]int
		other, err = q.parseTerm(depth)
		maps.DeleteFunc(found, func(doc, _ int) bool {
			_, has := other[doc]
			return has != (op == "and")
		})
	}
	return found, err
}

// parseTerm parses a word, a phrase or an expression in parentheses.
func (q *waisQuery) parseTerm(depth int) (map[int]int, error) {
	if q.next("(") != "" {
		found, err := q.parseOr(depth + 1)
		if err == nil && q.next(")") == "" {
			err = errQuery
		}
		return found, err
	}
	if q.at == len(q.tokens) {
		return nil, errQuery
	}
	token := q.tokens[q.at]
	q.at++
	switch {
	case token == ")":
		return nil, errQuery
	case strings.Contains(token, "="):
		return nil, errField
	case strings.HasSuffix(token, "*"):
		return q.db.docsWithPrefix(toLower(strings.TrimSuffix(token, "*"))), nil
	}
	found := make(map[int]int)
	for word := range wordsOf(token) {
		found = union(found, q.db.docsWith(word))
	}
	return found, nil
}

// docsWith returns the documents that contain a word, with its weight in each.
func (db *database) docsWith(word string) map[int]int {
	found := make(map[int]int, len(db.words[word]))
	for _, p := range db.words[word] {
		found[p.doc] = p.count
	}
	return found
}

func (db *database) docsWithPrefix(prefix string) map[int]int {
	found := make(map[int]int)
	for word := range db.words {
		if strings.HasPrefix(word, prefix) {
			found = union(found, db.docsWith(word))
		}
	}
	return found
}

// union adds b to a; the result may reuse either map.
func union(a, b map[int]int) map[int]int {
	if len(b) > len(a) {
		a, b = b, a
	}
	for doc, weight := range b {
		a[doc] += weight
	}
	return a
}
