package fetchblob

import (
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

// sequence is a character as gocloud.dev/blob/fileblob writes it into the name of a file.
var sequence = regexp.MustCompile(`__0x([0-9a-f]{1,8})__`)

// escapeKey writes a key as fileblob does, so that it is a path: control characters, and each slash
// that follows another one or "..", or ends the key.
func escapeKey(key string) string {
	var b strings.Builder
	for i := range len(key) {
		c := key[i]
		at := sequence.FindStringIndex(key[i:min(i+len("__0x12345678__"), len(key))])
		switch {
		case c < ' ', at != nil && at[0] == 0,
			c == '/' && (i == len(key)-1 || i > 0 && key[i-1] == '/' || strings.HasSuffix(key[:i], "..")):
			fmt.Fprintf(&b, "__%#x__", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// keyOf is the key of a path: what escapeKey makes that path of, or else the path.
func keyOf(path string) string {
	if !strings.Contains(path, "__0x") {
		return path
	}
	key := sequence.ReplaceAllStringFunc(path, func(s string) string {
		r, _ := strconv.ParseUint(s[len("__0x"):len(s)-len("__")], 16, 32)
		return string(rune(r))
	})
	if escapeKey(key) != path {
		return path
	}
	return key
}

// paths are where the file of a key may be.
func paths(key string) []string {
	var list []string
	for _, path := range []string{key, escapeKey(key)} {
		if fs.ValidPath(path) && path != "." && (len(list) == 0 || list[0] != path) {
			list = append(list, path)
		}
	}
	return list
}

// root is the deepest directory that has all files whose keys begin with prefix.
func root(prefix string) string {
	plain, escaped := strings.Split(prefix, "/"), strings.Split(escapeKey(prefix+"x"), "/")
	n := 0
	for n < min(len(plain), len(escaped))-1 && plain[n] == escaped[n] && fs.ValidPath(plain[n]) && plain[n] != "." {
		n++
	}
	if n == 0 {
		return "."
	}
	return strings.Join(plain[:n], "/")
}
