package cli

import (
	"fmt"
	"os"
	"strings"
)

// minToken is the minimum length of a token, in bytes.
const minToken = 16

// ReadToken returns the token in a file, which requests must have.
func ReadToken(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if len(token) < minToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s: the token must be %d or more printable ASCII characters without spaces", file, minToken)
	}
	return token, nil
}
