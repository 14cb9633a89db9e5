package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
)

// httpOptions are what the command line says of HTTP requests.
func (o *operation) httpOptions() (*fetchhttp.Options, error) {
	options := &fetchhttp.Options{
		Verb: o.method, Target: o.requestTarget, Header: http.Header{}, AnyStatus: true,
		Compressed: o.compressed, LocationTrusted: o.locationTrusted, AutoReferer: o.autoReferer, KeepPost: o.keepPost,
	}
	if !o.compressed {
		options.Header["Accept-Encoding"] = []string{} // as curl, which sends none
	}
	if o.userAgent != nil {
		options.Header["User-Agent"] = nonEmpty(*o.userAgent)
	}
	if o.referer != nil {
		options.Header["Referer"] = nonEmpty(*o.referer)
	}
	if o.cookies != nil {
		options.Header["Cookie"] = []string{strings.Join(o.cookies, "; ")}
	}
	if o.ranges != "" || o.head && o.span != nil {
		options.Header["Range"] = []string{"bytes=" + cmp.Or(o.ranges, o.spanText)}
	}
	if data := o.posted(); data != nil {
		options.Body = bytes.NewReader(data)
		options.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	switch {
	case o.head:
		options.Method = http.MethodHead
	case o.follow:
		options.Method, options.Verb = o.method, ""
	}
	return options, o.replaceHeaders(options.Header)
}

// replaceHeaders puts the lines of -H into h, in place of what other options have
// put there.
func (o *operation) replaceHeaders(h http.Header) error {
	spelled := make(map[string]string) // by canonical name, as it was at first
	for _, line := range o.headers {
		name, values, err := headerLine(line)
		if err != nil {
			return err
		}
		canonical := http.CanonicalHeaderKey(name)
		first, again := spelled[canonical]
		if again && canonical == "Host" {
			continue // the first counts, as in curl
		}
		if !again {
			delete(h, canonical)
			spelled[canonical], first = name, name
			h[first] = []string{}
		}
		h[first] = append(h[first], values...)
	}
	return nil
}

func nonEmpty(value string) []string {
	if value == "" {
		return []string{}
	}
	return []string{value}
}

// headerLine reads "Name: value", "Name:" to send no such field, or "Name;" to
// send an empty one.
func headerLine(line string) (name string, values []string, err error) {
	if name, ok := strings.CutSuffix(line, ";"); ok && !strings.Contains(name, ":") {
		return name, []string{""}, nil
	}
	name, value, found := strings.Cut(line, ":")
	if !found || name == "" {
		word, _, _ := strings.Cut(line, " ") // behind it there may be a secret
		return "", nil, &usageError{fmt.Sprintf("-H, --header: %s is no header line", fetch.Printable(word))}
	}
	return name, nonEmpty(strings.TrimSpace(value)), nil
}

// addHeader passes over what is no header line, as curl does.
func addHeader(c *commandLine, line string) {
	if _, _, err := headerLine(line); err != nil {
		c.warn("%v; it is not sent", err)
		return
	}
	c.op.headers = append(c.op.headers, line)
}

// addCookie takes cookies as they are sent. curl reads a file of them, or starts
// to keep them, where there is no "=".
func addCookie(c *commandLine, value string) error {
	switch {
	case !strings.Contains(value, "="):
		return errors.New("NAME=VALUE only; cookies out of a file are beyond this program: use curl for this")
	case strings.ContainsAny(value, "\r\n\x00"):
		return errors.New("a cookie cannot hold CR, LF or NUL")
	}
	c.op.cookies = append(c.op.cookies, value)
	return nil
}

// setReferer reads "URL", "URL;auto" or ";auto".
func setReferer(c *commandLine, value string) error {
	value, c.op.autoReferer = strings.CutSuffix(value, ";auto")
	c.op.referer = nil
	if value != "" || !c.op.autoReferer {
		c.op.referer = &value
	}
	return nil
}

// setLocation is --follow undone, as in curl.
func setLocation(c *commandLine, value string) (err error) {
	c.op.location, err = strconv.ParseBool(value)
	c.op.follow = false
	return err
}

func setFollow(c *commandLine, value string) (err error) {
	c.op.follow, err = strconv.ParseBool(value)
	c.op.location = c.op.follow
	return err
}

// trustLocations is -L besides, as in curl.
func trustLocations(c *commandLine, value string) (err error) {
	c.op.locationTrusted, err = strconv.ParseBool(value)
	return errors.Join(err, setLocation(c, value))
}

// keepPost makes a POST stay one after a redirect of that status.
func keepPost(status int) setter {
	return func(c *commandLine, value string) error {
		on, err := strconv.ParseBool(value)
		c.op.keepPost = slices.DeleteFunc(c.op.keepPost, func(s int) bool { return s == status })
		if on {
			c.op.keepPost = append(c.op.keepPost, status)
		}
		return err
	}
}

// setRanges reads several ranges, which HTTP alone knows (RFC 9110 §14.1.1).
func (o *operation) setRanges(value string) error {
	if strings.Trim(value, "0123456789-,") != "" {
		return errors.New("expected ranges, such as 0-499,700-")
	}
	o.ranges, o.span = value, nil
	return nil
}

// headerLines reads LINE, or with @FILE the lines of FILE.
func headerLines(add func(*commandLine, string)) setter {
	return func(c *commandLine, value string) error {
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

var errLineEnd = errors.New("a header line cannot hold CR, LF or NUL")

func setMaxRedirects(c *commandLine, value string) error {
	n, err := strconv.Atoi(value)
	switch {
	case err != nil:
		return errNotNumeric
	case n < -1:
		return errNotPositive
	case n == -1:
		n = 1000
	}
	c.op.maxRedirects = n
	return nil
}
