package curl

import (
	"bytes"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

// addHeader adds a header line. As in curl, a malformed one is ignored.
func addHeader(c *CommandLine, line string) {
	name, values, err := plan.HeaderLine(line)
	switch {
	case err != nil:
		c.warn("%v; ignored", err)
		return
	case strings.EqualFold(name, "Proxy-Connection"):
		c.op.Proxy.Persist = values
	}
	c.op.HTTP.Headers = append(c.op.HTTP.Headers, line)
}

// addCookie adds cookies in the form in which they are sent or, without a "=", the name of a file.
func addCookie(c *CommandLine, value string) error {
	switch {
	case !strings.Contains(value, "="):
		c.op.HTTP.Cookies.Files = append(c.op.HTTP.Cookies.Files, value)
		return nil
	case strings.ContainsAny(value, "\r\n\x00"):
		return errors.New("a cookie cannot contain CR, LF or NUL")
	}
	c.op.HTTP.Cookies.Given = append(c.op.HTTP.Cookies.Given, value)
	return nil
}

// setReferer parses "URL", "URL;auto" or ";auto".
func setReferer(c *CommandLine, value string) error {
	value, c.op.HTTP.AutoReferer = strings.CutSuffix(value, ";auto")
	c.op.HTTP.Referer = nil
	if value != "" || !c.op.HTTP.AutoReferer {
		c.op.HTTP.Referer = &value
	}
	return nil
}

// setVersion is for the versions of HTTP, of which the last one given is used, as in curl.
func setVersion(v plan.HTTPVersion) Setter {
	return func(c *CommandLine, value string) error {
		if value != "true" {
			return errors.New("cannot be switched off; give another version")
		}
		c.op.HTTPSession.Version = v
		return nil
	}
}

// setLocation is --location. As in curl, it undoes --follow.
func setLocation(c *CommandLine, value string) (err error) {
	c.op.HTTPSession.Location, err = strconv.ParseBool(value)
	c.op.HTTP.Follow = false
	return err
}

func setFollow(c *CommandLine, value string) (err error) {
	c.op.HTTP.Follow, err = strconv.ParseBool(value)
	c.op.HTTPSession.Location = c.op.HTTP.Follow
	return err
}

// trustLocations is --location-trusted. As in curl, it includes --location.
func trustLocations(c *CommandLine, value string) (err error) {
	c.op.HTTP.LocationTrusted, err = strconv.ParseBool(value)
	return errors.Join(err, setLocation(c, value))
}

// keepPost is --post301, --post302 or --post303: a POST stays a POST after a redirect with status.
func keepPost(status int) Setter {
	return func(c *CommandLine, value string) error {
		on, err := strconv.ParseBool(value)
		c.op.HTTP.KeepPost = slices.DeleteFunc(c.op.HTTP.KeepPost, func(s int) bool { return s == status })
		if on {
			c.op.HTTP.KeepPost = append(c.op.HTTP.KeepPost, status)
		}
		return err
	}
}

// headerLines parses LINE or, for @FILE, reads the lines of FILE.
func headerLines(add func(*CommandLine, string)) Setter {
	return func(c *CommandLine, value string) error {
		lines := []byte(value)
		if name, isFile := strings.CutPrefix(value, "@"); isFile {
			b, err := c.readFile(name)
			if err != nil {
				return err
			}
			lines = b
		} else if strings.ContainsAny(value, "\r\n") {
			return errLineEnd
		}
		for line := range bytes.Lines(lines) {
			if line = bytes.TrimRight(line, "\r\n"); bytes.ContainsAny(line, "\r\x00") {
				return errLineEnd
			}
			if len(line) > 0 {
				add(c, string(line))
			}
		}
		return nil
	}
}

var errLineEnd = errors.New("a header line cannot contain CR, LF or NUL")

func setMaxRedirects(c *CommandLine, value string) error {
	n, err := strconv.Atoi(value)
	switch {
	case err != nil:
		return ErrNotNumeric
	case n < -1:
		return errNotPositive
	case n == -1:
		n = 1000
	}
	c.op.HTTPSession.MaxRedirects = n
	return nil
}

// A dataFile converts the content of the file in --data @FILE.
type dataFile func([]byte) []byte

func unchanged(b []byte) []byte { return b }

// withoutLineEnds returns b without CR, LF and NUL.
func withoutLineEnds(b []byte) []byte {
	return slices.DeleteFunc(b, func(c byte) bool { return c == '\r' || c == '\n' || c == 0 })
}

// postData adds to the data to post. If read is nil, "@" has no special meaning.
func postData(read dataFile) Setter {
	return func(c *CommandLine, value string) error {
		part := []byte(value)
		if name, isFile := strings.CutPrefix(value, "@"); isFile && read != nil {
			b, err := c.readFile(name)
			if err != nil {
				return err
			}
			part = read(b)
		}
		addData(c.op, part)
		return nil
	}
}

// postEncoded adds the result of urlEncoded to the data to post.
func postEncoded(c *CommandLine, value string) error {
	part, err := c.urlEncoded(value)
	if err == nil {
		addData(c.op, []byte(part))
	}
	return err
}

// addData appends part to the data to post, after a "&".
func addData(o *plan.Operation, part []byte) {
	if o.HTTP.Data != nil {
		part = bytes.Join([][]byte{o.HTTP.Data, part}, []byte("&"))
	}
	o.HTTP.Data = append([]byte{}, part...)
}

// addQuery adds to the query part of the URL: after a "+" the rest of the value, which is already
// encoded; else the result of urlEncoded.
func addQuery(c *CommandLine, value string) error {
	part, encoded := strings.CutPrefix(value, "+")
	if !encoded {
		var err error
		if part, err = c.urlEncoded(value); err != nil {
			return err
		}
	}
	c.op.HTTP.Query = append(c.op.HTTP.Query, part)
	return nil
}

// urlEncoded parses "CONTENT", "=CONTENT", "NAME=CONTENT", "@FILE" or "NAME@FILE", and encodes the
// content but not the name.
func (c *CommandLine) urlEncoded(value string) (string, error) {
	at := strings.IndexAny(value, "=@")
	if at < 0 {
		return url.QueryEscape(value), nil
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
	return name + url.QueryEscape(content), nil
}
