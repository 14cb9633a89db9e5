package main

import (
	"bytes"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/locator"
)

// A dataFile says how the octets of --data @FILE are taken.
type dataFile func([]byte) []byte

func asItIs(b []byte) []byte { return b }

func withoutLineEnds(b []byte) []byte {
	return slices.DeleteFunc(b, func(c byte) bool { return c == '\r' || c == '\n' || c == 0 })
}

// postData adds to what is posted; read is nil where "@" has no meaning.
func postData(read dataFile) setter {
	return func(c *commandLine, value string) error {
		part := []byte(value)
		if name, isFile := strings.CutPrefix(value, "@"); isFile && read != nil {
			b, err := c.readFile(name)
			if err != nil {
				return err
			}
			part = read(b)
		}
		c.op.addData(part)
		return nil
	}
}

// postEncoded adds to what is posted what urlEncoded makes of the value.
func postEncoded(c *commandLine, value string) error {
	part, err := c.urlEncoded(value)
	if err == nil {
		c.op.addData([]byte(part))
	}
	return err
}

func (o *operation) addData(part []byte) {
	if o.data != nil {
		part = bytes.Join([][]byte{o.data, part}, []byte("&"))
	}
	o.data = append([]byte{}, part...)
}

// addQuery adds to what is searched for: behind "+" what is encoded already, else
// what urlEncoded makes of the value.
func addQuery(c *commandLine, value string) error {
	part, encoded := strings.CutPrefix(value, "+")
	if !encoded {
		var err error
		if part, err = c.urlEncoded(value); err != nil {
			return err
		}
	}
	c.op.query = append(c.op.query, part)
	return nil
}

// urlEncoded reads "CONTENT", "=CONTENT", "NAME=CONTENT", "@FILE" or "NAME@FILE",
// and encodes the content but not the name.
func (c *commandLine) urlEncoded(value string) (string, error) {
	at := strings.IndexAny(value, "=@")
	if at < 0 {
		return encodeForm(value), nil
	}
	name, content := value[:at], value[at+1:]
	if value[at] == '@' {
		b, err := c.readFile(content)
		if err != nil {
			return "", err
		}
		content = string(b)
	}
	if name != "" {
		name += "="
	}
	return name + encodeForm(content), nil
}

// encodeForm encodes all but letters, digits and "-._~"; a space becomes "+".
func encodeForm(s string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9', strings.IndexByte("-._~", c) >= 0:
			b.WriteByte(c)
		case c == ' ':
			b.WriteByte('+')
		default:
			b.Write([]byte{'%', digits[c>>4], digits[c&0x0F]})
		}
	}
	return b.String()
}

// withQuery is l with what --url-query and, with -G, --data add to its search.
func (o *operation) withQuery(l locator.Locator) locator.Locator {
	parts := slices.Clone(o.query)
	if o.get && o.data != nil {
		parts = append(parts, string(o.data))
	}
	web, ok := l.(*locator.HTTP)
	if !ok || len(parts) == 0 {
		return l
	}
	longer := *web
	if web.Search != "" {
		parts = slices.Insert(parts, 0, web.Search)
	}
	longer.HasPath, longer.HasSearch, longer.Search = true, true, strings.Join(parts, "&")
	return &longer
}

// posted is what goes into the body of an HTTP request; nil is nothing.
func (o *operation) posted() []byte {
	if o.get {
		return nil
	}
	return o.data
}
