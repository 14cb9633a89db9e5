// Package newssearch searches articles for words. A server finds candidates by a pattern (XPAT, RFC
// 2980), and the client compares the words of these.
package newssearch

import "strings"

// The lengths of patterns, in characters: shorter words match too much, and a command has 512 bytes.
const (
	minPattern = 2
	maxPattern = 60
)

// Encoded is the pattern of encoded words (RFC 2047), which may hold any word.
const Encoded = "*=[?]*"

// Pattern returns a wildmat (RFC 3977 §4.1) for values that contain one of the words: the one of which
// it can have most. It is "" if every value is a candidate.
func Pattern(words []string) string {
	best, most := "", minPattern-1
	for _, word := range words {
		if pattern, known := wildmat(word); known > most {
			best, most = pattern, known
		}
	}
	return best
}

// wildmat returns a pattern for values that contain word in lower or upper case, and how many letters
// and digits of it the pattern has.
func wildmat(word string) (pattern string, known int) {
	pattern = "*"
	for _, r := range word {
		switch lower, upper := strings.ToLower(string(r)), strings.ToUpper(string(r)); {
		case known == maxPattern:
		case r >= '0' && r <= '9':
			pattern += string(r)
			known++
		case r <= '~' && lower != upper:
			pattern += "[" + lower + upper + "]"
			known++
		case !strings.HasSuffix(pattern, "*"):
			pattern += "*"
		}
	}
	if !strings.HasSuffix(pattern, "*") {
		pattern += "*"
	}
	return pattern, known
}

// HasAll reports whether each word is in one of the texts, in lower or upper case. The spaces of a word
// of several words stand for any white space.
func HasAll(words []string, texts ...string) bool {
	all := ""
	for _, text := range texts {
		all += folded(text) + "\n"
	}
	for _, word := range words {
		if !strings.Contains(all, folded(word)) {
			return false
		}
	}
	return true
}

func folded(text string) string { return strings.Join(strings.Fields(strings.ToLower(text)), " ") }
