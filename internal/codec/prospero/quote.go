// Package prospero reads and writes the text of the Prospero protocol, version 5: lines of tokens,
// quoted if necessary. Client and test server share it. It also reads and writes the answers of
// version 1, which has no quoting.
//
// Package ardp is the transport. The protocol is described in "The Prospero Protocol" (B. C. Neuman,
// S. Augart, draft of June 1993). Where the document is unclear, this package does what the server
// dirsrv of 1994 does.
package prospero

import (
	"slices"
	"strings"
)

// quoted are the characters that dirsrv quotes.
const quoted = " \t\f\v\n\r/'+,"

// AppendToken appends a token, quoted in the way of dirsrv: from the first character that requires it
// to the end. Quotes may begin anywhere in a token. Inside quotes, two quotes mean one, and every
// other character means itself.
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

// Token returns a token in the form of AppendToken.
func Token(token string) string { return string(AppendToken(nil, token)) }

// appendTokens appends tokens, each after a space.
func appendTokens(b []byte, tokens []string) []byte {
	for _, t := range tokens {
		b = AppendToken(append(b, ' '), t)
	}
	return b
}

// appendWord appends a word, such as a type. dirsrv never quotes words. A word that would not be read
// back as the same word is quoted anyway.
func appendWord(b []byte, word string) []byte {
	if word == "" || strings.ContainsAny(word, " \t\r\n'") {
		return AppendToken(b, word)
	}
	return append(b, word...)
}

// appendWords appends words, each after a space.
func appendWords(b []byte, words ...string) []byte {
	for _, w := range words {
		b = appendWord(append(b, ' '), w)
	}
	return b
}
