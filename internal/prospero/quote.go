// Package prospero is the text of the Prospero protocol, version 5: lines of
// tokens, quoted where need be, shared by client and test server. It also reads
// and writes what servers of version 1 answer, which knows no quoting.
//
// The transport below it is package ardp. The protocol is described in "The
// Prospero Protocol" (B. C. Neuman, S. Augart, draft of June 1993); what that
// leaves open is as the server dirsrv of 1994 does it.
package prospero

import (
	"slices"
	"strings"
)

// quoted are the octets at the first of which dirsrv opens quotes.
const quoted = " \t\f\v\n\r/'+,"

// AppendToken appends a token, quoted as dirsrv does it: from the first octet
// that needs it to the end. Quotes may stand anywhere in a token; within them
// two are one, and every other octet is itself.
func AppendToken(b []byte, token string) []byte {
	if token == "" {
		return append(b, "''"...)
	}
	i := strings.IndexAny(token, quoted)
	if i < 0 {
		return append(b, token...)
	}
	b = slices.Grow(b, len(token)+strings.Count(token, "'")+2)
	b = append(b, token[:i]...)
	b = append(b, '\'')
	for {
		quote := strings.IndexByte(token[i:], '\'')
		if quote < 0 {
			break
		}
		b = append(b, token[i:i+quote+1]...)
		b = append(b, '\'')
		i += quote + 1
	}
	b = append(b, token[i:]...)
	return append(b, '\'')
}

// Token is token as AppendToken writes it.
func Token(token string) string { return string(AppendToken(nil, token)) }

// appendTokens appends tokens, each behind a space.
func appendTokens(b []byte, tokens []string) []byte {
	for _, t := range tokens {
		b = AppendToken(append(b, ' '), t)
	}
	return b
}

// appendWord appends a type word or the like, which dirsrv never quotes; one
// that would not be read as the same word is quoted all the same.
func appendWord(b []byte, word string) []byte {
	if word == "" || strings.ContainsAny(word, " \t\r\n'") {
		return AppendToken(b, word)
	}
	return append(b, word...)
}

// appendWords appends words, each behind a space.
func appendWords(b []byte, words ...string) []byte {
	for _, w := range words {
		b = appendWord(append(b, ' '), w)
	}
	return b
}
