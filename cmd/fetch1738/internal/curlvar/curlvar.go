// Package curlvar keeps the variables of curl's --variable, and expands them in
// the values of --expand-NAME options.
package curlvar

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
)

const (
	maxName     = 127        // octets in a variable's name
	maxExpanded = 10_000_000 // octets in an expanded text
)

// Variables are set by name. The zero value has none and is ready.
type Variables struct {
	contents map[string]string
}

// Sources are where the content of a variable may come from.
type Sources struct {
	// Getenv looks up a variable of the environment.
	Getenv func(name string) (value string, ok bool)
	// ReadFile reads a file; "-" is standard input.
	ReadFile func(name string) ([]byte, error)
}

// ErrIgnored is in the error of a text that curl ignores with a warning.
var ErrIgnored = errors.New("ignored")

// Set does what --variable says:
//
//	NAME=CONTENT      or NAME@FILE
//	NAME[2-10]=…      octets 2 to 10 of it; [2-] up to the end
//	%NAME             that of the environment, which must have it
//	%NAME=CONTENT     that of the environment, or else this; also %NAME@FILE
//
// No error shows a content.
func (v *Variables) Set(text string, from Sources) error {
	rest, imported := strings.CutPrefix(text, "%")
	name := rest[:len(rest)-len(strings.TrimLeftFunc(rest, inName))]
	if name == "" || len(name) > maxName {
		return fmt.Errorf("a variable's name has 1 to %d letters, digits and underscores: %w", maxName, ErrIgnored)
	}
	rest = rest[len(name):]
	if imported {
		value, ok := from.Getenv(name)
		switch {
		case ok:
			v.set(name, value)
			return nil
		case rest == "":
			return fmt.Errorf("the environment has no variable %s; %%%s=CONTENT gives a default", name, name)
		}
	}
	part, rest, err := cutRange(rest)
	if err != nil {
		return err
	}
	content, given := strings.CutPrefix(rest, "=")
	if file, named := strings.CutPrefix(rest, "@"); named {
		b, err := from.ReadFile(file)
		if err != nil {
			return err
		}
		content, given = string(b), true
	}
	if !given {
		return fmt.Errorf("variable %s: expected =CONTENT or @FILE behind the name: %w", name, ErrIgnored)
	}
	v.set(name, part.of(content))
	return nil
}

func (v *Variables) set(name, content string) {
	if v.contents == nil {
		v.contents = make(map[string]string)
	}
	v.contents[name] = content
}

func inName(r rune) bool {
	return '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' || r == '_'
}

// span is the octets of a content that are wanted, the last one included.
type span struct{ first, last int64 }

// cutRange takes "[first-last]" or "[first-]" off the start of s.
func cutRange(s string) (part span, rest string, err error) {
	part.last = math.MaxInt64
	inside, isRange := strings.CutPrefix(s, "[")
	if !isRange || inside == "" || inside[0] < '0' || inside[0] > '9' {
		return part, s, nil
	}
	inside, rest, closed := strings.Cut(inside, "]")
	first, last, hyphen := strings.Cut(inside, "-")
	ok := closed && hyphen && number(first, &part.first) && (last == "" || number(last, &part.last))
	if !ok || part.first > part.last {
		return part, "", errors.New("expected a range of octets such as [2-10] or [2-]")
	}
	return part, rest, nil
}

func number(s string, n *int64) bool {
	u, err := strconv.ParseUint(s, 10, 63)
	*n = int64(u)
	return err == nil
}

func (p span) of(content string) string {
	size := int64(len(content))
	if p.first >= size {
		return ""
	}
	return content[p.first : min(p.last, size-1)+1]
}

// Expand replaces each {{NAME}} in text by the variable's content, which is empty
// for one that is not set. "{{NAME:FUNCTION:FUNCTION}}" applies functions to it.
// "\{{" is "{{" as it is. A name that cannot be one stays, and warn is told; so
// does a text without any variable. No error shows a content.
func (v *Variables) Expand(text string, warn func(string)) (string, error) {
	var b strings.Builder
	expanded := false
	rest := text
	for {
		before, after, found := strings.Cut(rest, "{{")
		if !found {
			break
		}
		if plain, escaped := strings.CutSuffix(before, `\`); escaped {
			b.WriteString(plain + "{{")
			rest = after
			continue
		}
		inside, behind, closed := strings.Cut(after, "}}")
		if !closed {
			warn("a {{ without its }} is left as it is")
			break
		}
		b.WriteString(before)
		name, functions, _ := strings.Cut(inside, ":")
		if name == "" || len(name) > maxName || strings.TrimFunc(name, inName) != "" {
			warn("what is between {{ and }} is no variable's name and is left as it is")
			b.WriteString("{{" + inside + "}}")
		} else {
			content, err := v.apply(name, functions, strings.Contains(inside, ":"))
			if err != nil {
				return "", err
			}
			b.WriteString(content)
			expanded = true
		}
		if b.Len() > maxExpanded {
			return "", fmt.Errorf("expanded to more than %d octets", maxExpanded)
		}
		rest = behind
	}
	if !expanded {
		return text, nil
	}
	return b.String() + rest, nil
}

// apply is the content of a variable after some functions.
func (v *Variables) apply(name, functions string, any bool) (string, error) {
	content := v.contents[name]
	if any {
		for function := range strings.SplitSeq(functions, ":") {
			var known bool
			if content, known = call(function, content); !known {
				return "", fmt.Errorf("variable %s: unknown function %q; there are trim, json, url, b64 and 64dec", name, function)
			}
		}
	}
	if strings.IndexByte(content, 0) >= 0 {
		return "", fmt.Errorf("variable %s: its content has a NUL, which no option can have; encode it by a function such as {{%s:b64}}", name, name)
	}
	return content, nil
}

// call is what a function makes of s; known is false for one that there is not.
func call(function, s string) (result string, known bool) {
	switch function {
	case "trim":
		return strings.Trim(s, " \t\n\v\f\r"), true
	case "json":
		return quoteJSON(s), true
	case "url":
		return strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), true
	case "b64":
		return base64.StdEncoding.EncodeToString([]byte(s)), true
	case "64dec":
		return decodeBase64(s), true
	}
	return "", false
}

// quoteJSON is s inside a JSON string. Octets from 80 on stay, as in curl.
func quoteJSON(s string) string {
	var b strings.Builder
	for _, octet := range []byte(s) {
		switch i := strings.IndexByte("\"\\\b\f\n\r\t", octet); {
		case i >= 0:
			b.WriteString(`\` + `"\bfnrt`[i:i+1])
		case octet < ' ':
			fmt.Fprintf(&b, `\u%04x`, octet)
		default:
			b.WriteByte(octet)
		}
	}
	return b.String()
}

func decodeBase64(s string) string {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil || strings.ContainsAny(s, "\r\n") {
		return "[64dec-fail]"
	}
	return string(b)
}
