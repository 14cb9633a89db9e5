package main

import (
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// variables are the values that -w can show: int, int64, float64 (seconds), a
// string, or nil for one that there is none of.
func (t *transfer) variables() map[string]any {
	v := t.timings()
	maps.Copy(v, t.connection())
	maps.Copy(v, t.answerVariables())
	v["errormsg"], v["exitcode"] = nil, t.code
	if t.err != nil {
		v["errormsg"] = t.message()
	}
	v["filename_effective"] = nil
	if t.sink != nil && t.sink.file != nil {
		v["filename_effective"] = t.sink.path
	}
	v["method"], v["num_retries"] = t.methodUsed(), max(0, t.tries-1)
	v["url"], v["url_effective"] = maskedURL(t.op, t.url).typed(), maskedURL(t.op, t.effectiveURL()).typed()
	v["urlnum"], v["xfer_id"] = t.number, t.serial
	v["scheme"] = nil
	if t.result.effective != nil {
		v["scheme"] = strings.ToUpper(t.result.effective.Scheme())
	}
	v["referer"] = t.referer()
	return v
}

// timings are when things happened, how much was moved, and how fast.
func (t *transfer) timings() map[string]any {
	a := &t.account
	a.mu.Lock()
	defer a.mu.Unlock()
	seconds := a.since(a.end)
	perSecond := func(n int64) int64 {
		if seconds <= 0 {
			return 0
		}
		return int64(float64(n) / seconds)
	}
	return map[string]any{
		"size_download":      t.downloaded(),
		"size_request":       a.sent,
		"size_upload":        t.uploaded(),
		"speed_download":     perSecond(t.downloaded()),
		"speed_upload":       perSecond(t.uploaded()),
		"time_appconnect":    a.since(a.secured),
		"time_connect":       a.since(a.connected),
		"time_namelookup":    a.since(a.lookedUp),
		"time_pretransfer":   a.since(a.asked),
		"time_redirect":      a.since(t.redirectedAt()),
		"time_starttransfer": a.since(a.firstOctet),
		"time_total":         seconds,
	}
}

// redirectedAt is when the last redirect had come; the zero Time without one.
func (t *transfer) redirectedAt() time.Time {
	t.heads.mu.Lock()
	defer t.heads.mu.Unlock()
	if n := len(t.heads.ends); t.result.redirects > 0 && n > 1 {
		return t.heads.ends[n-2]
	}
	return time.Time{}
}

// connection is who spoke with whom.
func (t *transfer) connection() map[string]any {
	a := &t.account
	a.mu.Lock()
	defer a.mu.Unlock()
	v := map[string]any{
		"certs":                   "",
		"http_connect":            t.heads.connect(),
		"local_ip":                "",
		"local_port":              int(a.local.Port()),
		"num_certs":               len(a.certificates),
		"num_connects":            a.connects,
		"proxy_ssl_verify_result": 0,
		"proxy_used":              0,
		"remote_ip":               "",
		"remote_port":             int(a.remote.Port()),
		"ssl_verify_result":       0,
	}
	if a.remote.IsValid() {
		v["local_ip"], v["remote_ip"] = a.local.Addr().String(), a.remote.Addr().String()
	}
	if t.locator != nil && t.proxyFor(t.locator) != nil {
		v["proxy_used"] = 1
	}
	if _, bad := errors.AsType[*tls.CertificateVerificationError](t.err); bad {
		v["ssl_verify_result"] = 1 // curl has OpenSSL's number for the reason
	}
	var certs strings.Builder
	for _, c := range a.certificates {
		_ = pem.Encode(&certs, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}) // to memory
	}
	v["certs"] = certs.String()
	return v
}

// answerVariables are what the server said.
func (t *transfer) answerVariables() map[string]any {
	r := &t.result
	t.account.mu.Lock()
	status := t.account.reply
	t.account.mu.Unlock()
	if r.status != 0 {
		status = r.status
	}
	v := map[string]any{
		"content_type":   orNone(r.contentType),
		"ftp_entry_path": orNone(r.entryPath),
		"http_code":      status,
		"http_version":   "0",
		"num_headers":    0,
		"num_redirects":  r.redirects,
		"redirect_url":   nil,
		"response_code":  status,
		"size_header":    t.heads.octets(),
	}
	if r.web == nil && t.code == exitHops { // there was no last answer
		v["http_code"], v["num_redirects"] = t.heads.status()
		v["response_code"] = v["http_code"]
	}
	if r.web != nil {
		v["http_version"] = strings.TrimSuffix(strings.TrimPrefix(r.web.Proto, "HTTP/"), ".0")
		v["num_headers"] = len(r.header)
		if r.web.Location != nil {
			v["redirect_url"] = withSlash(r.web.Location).Redacted()
		}
	}
	return v
}

// withSlash gives an http URL without a path the "/" that is asked for.
func withSlash(l locator.Locator) locator.Locator {
	bare, ok := l.(*locator.HTTP)
	if !ok || bare.HasPath {
		return l
	}
	with := *bare
	with.HasPath = true
	return &with
}

// effectiveURL is where the answer came from, as it was typed if it is that.
func (t *transfer) effectiveURL() string {
	r := &t.result
	if r.effective == nil || t.locator == nil {
		return t.url
	}
	if r.redirects > 0 || t.op.Ask.Numbers != nil || r.effective.Scheme() != t.locator.Scheme() || withQuery(t.op, r.effective) != r.effective {
		return r.effective.String()
	}
	return t.url
}

// referer is the one that was sent last, or nil.
func (t *transfer) referer() any {
	if web := t.result.web; web != nil && t.op.HTTP.AutoReferer && len(web.Redirects) > 0 {
		if to, ok := t.result.effective.(*locator.HTTP); ok {
			return orNone(fetchhttp.Referer(web.Redirects[len(web.Redirects)-1].Locator, to, t.op.HTTP.LocationTrusted))
		}
	}
	if t.op.HTTP.Referer != nil {
		return orNone(locator.Parser{Tolerate: locator.TolerateUsual}.Redact(*t.op.HTTP.Referer))
	}
	return nil
}

func orNone(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (t *transfer) downloaded() int64 {
	if t.sink == nil {
		return 0
	}
	return max(0, t.sink.count-int64(t.result.shownHead))
}

func (t *transfer) uploaded() int64 {
	if data := t.op.Posted(); data != nil && isHTTP(t.locator) {
		if t.methodUsed() == "GET" { // a redirect has dropped them
			return 0
		}
		return int64(len(data))
	}
	if !t.upload {
		return 0
	}
	return t.account.moved.Load()
}

// methodUsed is the HTTP method; curl calls every other download GET.
func (t *transfer) methodUsed() string {
	switch {
	case t.result.web != nil:
		return t.result.web.Method
	case t.op.Ask.Method != "":
		return t.op.Ask.Method
	case t.upload:
		return "PUT"
	case t.op.Ask.Head:
		return "HEAD"
	case t.op.Posted() != nil:
		return "POST"
	}
	return "GET"
}

func variableText(name string, value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case float64:
		return fmt.Sprintf("%.6f", v)
	case int:
		if name == "http_code" || name == "response_code" || name == "http_connect" {
			return fmt.Sprintf("%03d", v)
		}
	}
	return fmt.Sprint(value)
}

// asJSON is all variables in one object, by name.
func asJSON(variables map[string]any) string {
	var b strings.Builder
	b.WriteByte('{')
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		value := variableText(name, variables[name])
		switch v := variables[name].(type) {
		case string:
			value = jsonString(v)
		case nil:
			value = "null"
		case int:
			value = fmt.Sprint(v)
		}
		fmt.Fprintf(&b, "%q:%s,", name, value)
	}
	fmt.Fprintf(&b, `"curl_version":%s}`, jsonString("fetch1738 "+version()))
	return b.String()
}

// headerJSON is the header of the last HTTP answer: names in lower case, in the
// order in which they came first, each with all its values.
func (t *transfer) headerJSON() string {
	var names []string
	values := make(map[string][]string)
	for _, f := range t.result.header {
		name := strings.ToLower(f.Name)
		if values[name] == nil {
			names = append(names, name)
		}
		values[name] = append(values[name], jsonString(f.Value))
	}
	lines := make([]string, len(names))
	for i, name := range names {
		lines[i] = jsonString(name) + ":[" + strings.Join(values[name], ",") + "]"
	}
	return "{" + strings.Join(lines, ",\n") + "\n}"
}

func jsonString(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(asGiven(s)) // a string cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}
