package curl

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
	maxName     = 127        // bytes in a variable name
	maxExpanded = 10_000_000 // bytes in an expanded text
)

// variables are those of --variable, for the values of --expand-NAME options. The zero value is
// empty and ready to use.
type variables struct {
	contents map[string]string
}

// variableSources provides the content of variables.
type variableSources struct {
	// getenv looks up an environment variable.
	getenv func(name string) (value string, ok bool)
	// readFile reads a file; "-" means standard input.
	readFile func(name string) ([]byte, error)
}

// errIgnored is wrapped by the error for a text that curl ignores with a warning.
var errIgnored = errors.New("ignored")

// set sets a variable as --variable does:
//
//	NAME=CONTENT      or NAME@FILE
//	NAME[2-10]=…      bytes 2 to 10 of the content; [2-] means up to the end
//	%NAME             the environment variable NAME, which must exist
//	%NAME=CONTENT     the environment variable, or else CONTENT; also %NAME@FILE
//
// Errors never contain the content of a variable.
func (v *variables) set(text string, from variableSources) error {
	rest, imported := strings.CutPrefix(text, "%")
	name := rest[:len(rest)-len(strings.TrimLeftFunc(rest, inName))]
	if name == "" || len(name) > maxName {
		return fmt.Errorf("a variable name must have 1 to %d letters, digits or underscores: %w", maxName, errIgnored)
	}
	rest = rest[len(name):]
	if imported {
		value, ok := from.getenv(name)
		switch {
		case ok:
			v.put(name, value)
			return nil
		case rest == "":
			return fmt.Errorf("environment variable %s is not set; use %%%s=CONTENT to set a default", name, name)
		}
	}
	part, rest, err := cutRange(rest)
	if err != nil {
		return err
	}
	content, given := strings.CutPrefix(rest, "=")
	if file, named := strings.CutPrefix(rest, "@"); named {
		b, err := from.readFile(file)
		if err != nil {
			return err
		}
		content, given = string(b), true
	}
	if !given {
		return fmt.Errorf("variable %s: expected =CONTENT or @FILE after the name: %w", name, errIgnored)
	}
	v.put(name, part.of(content))
	return nil
}

func (v *variables) put(name, content string) {
	if v.contents == nil {
		v.contents = make(map[string]string)
	}
	v.contents[name] = content
}

func inName(r rune) bool {
	return '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' || r == '_'
}

// span is a range of bytes, including last.
type span struct{ first, last int64 }

// cutRange parses and removes "[first-last]" or "[first-]" at the start of s.
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
		return part, "", errors.New("expected a byte range such as [2-10] or [2-]")
	}
	return part, rest, nil
}

func number(s string, n *int64) bool {
	u, err := strconv.ParseUint(s, 10, 63)
	*n = int64(u)
	return err == nil
}

// of returns the bytes of content in the span, as far as there are any.
func (p span) of(content string) string {
	size := int64(len(content))
	if p.first >= size {
		return ""
	}
	return content[p.first : min(p.last, size-1)+1]
}

// expand replaces each {{NAME}} in text with the content of the variable, or with nothing if the
// variable is not set. "{{NAME:FUNCTION:FUNCTION}}" applies functions to the content. "\{{" is a
// literal "{{". An invalid name is not replaced, and warn is called. A text without a variable is
// not changed. Errors never contain the content of a variable.
func (v *variables) expand(text string, warn func(string)) (string, error) {
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
			warn("{{ without }} is not expanded")
			break
		}
		b.WriteString(before)
		name, functions, _ := strings.Cut(inside, ":")
		if name == "" || len(name) > maxName || strings.TrimFunc(name, inName) != "" {
			warn("invalid variable name between {{ and }}; not expanded")
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
			return "", fmt.Errorf("the expanded value is longer than %d bytes", maxExpanded)
		}
		rest = behind
	}
	if !expanded {
		return text, nil
	}
	return b.String() + rest, nil
}

// apply returns the content of a variable after applying functions, if any.
func (v *variables) apply(name, functions string, any bool) (string, error) {
	content := v.contents[name]
	if any {
		for function := range strings.SplitSeq(functions, ":") {
			var known bool
			if content, known = call(function, content); !known {
				return "", fmt.Errorf("variable %s: unknown function %q; expected trim, json, url, b64 or 64dec", name, function)
			}
		}
	}
	if strings.IndexByte(content, 0) >= 0 {
		return "", fmt.Errorf("variable %s: the content has a NUL byte; encode it, for example with {{%s:b64}}", name, name)
	}
	return content, nil
}

// call applies function to s. known reports whether there is such a function.
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

// quoteJSON escapes s for a JSON string. As in curl, bytes from 0x80 are not changed.
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

// decodeBase64 decodes s. As in curl, the result is "[64dec-fail]" if s is not valid.
func decodeBase64(s string) string {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil || strings.ContainsAny(s, "\r\n") {
		return "[64dec-fail]"
	}
	return string(b)
}
