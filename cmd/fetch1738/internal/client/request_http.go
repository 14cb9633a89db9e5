package client

import (
	"bytes"
	"cmp"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/formdata"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
)

// httpOptions returns the options of HTTP requests.
func httpOptions(o *plan.Operation) (*fetchhttp.Options, error) {
	options := &fetchhttp.Options{
		Verb: o.Ask.Method, Target: o.HTTP.Target, Header: http.Header{}, AnyStatus: true,
		Jar: o.HTTP.Cookies.Jar, IgnoreLength: o.HTTP.IgnoreLength, Compressed: o.HTTP.Compressed, HTTP10: o.HTTPSession.Version == plan.HTTPVersion10, LocationTrusted: o.HTTP.LocationTrusted, AutoReferer: o.HTTP.AutoReferer, KeepPost: o.HTTP.KeepPost,
	}
	if !o.HTTP.Compressed {
		options.Header["Accept-Encoding"] = []string{} // as curl, which sends none
	}
	if o.HTTPSession.UserAgent != nil {
		options.Header["User-Agent"] = plan.NonEmpty(*o.HTTPSession.UserAgent)
	}
	if o.HTTP.Referer != nil {
		options.Header["Referer"] = plan.NonEmpty(*o.HTTP.Referer)
	}
	if o.HTTP.Cookies.Given != nil {
		options.Header["Cookie"] = []string{strings.Join(o.HTTP.Cookies.Given, "; ")}
	}
	if o.Ask.Ranges != "" || o.Ask.Head && o.Ask.Span != nil {
		options.Header["Range"] = []string{"bytes=" + cmp.Or(o.Ask.Ranges, o.Ask.SpanText)}
	}
	if data := o.Posted(); data != nil {
		options.Body = bytes.NewReader(data)
		options.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if len(o.Form) > 0 {
		body, mediaType, err := formdata.New(o.Form, o.HTTP.EscapeForm)
		if err != nil {
			return nil, err
		}
		options.Body = body
		options.Header.Set("Content-Type", mediaType)
	}
	switch {
	case o.Ask.Head:
		options.Method = http.MethodHead
	case o.HTTP.Follow:
		options.Method, options.Verb = o.Ask.Method, ""
	}
	return options, replaceHeaders(o, options.Header)
}

// protocols returns the versions of HTTP that a Fetcher may use; nil for its default.
func protocols(v plan.HTTPVersion) *http.Protocols {
	p := new(http.Protocols)
	switch v {
	case plan.HTTPOffered:
		return nil
	case plan.HTTPVersion2:
		p.SetUnencryptedHTTP2(true)
		p.SetHTTP2(true)
	default:
		p.SetHTTP1(true)
	}
	return p
}

// replaceHeaders puts the lines of -H into h, where they replace fields of other
// options.
func replaceHeaders(o *plan.Operation, h http.Header) error {
	spelled := make(map[string]string) // the first spelling, by canonical name
	for _, line := range o.HTTP.Headers {
		name, values, err := plan.HeaderLine(line)
		if err != nil {
			return err
		}
		canonical := http.CanonicalHeaderKey(name)
		first, again := spelled[canonical]
		if again && canonical == "Host" {
			continue // the first one is used, as in curl
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
