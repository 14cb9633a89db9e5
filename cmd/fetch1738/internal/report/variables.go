package report

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

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/formdata"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/render"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/version"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// variables returns the values of the variables of -w: int, int64, float64 (seconds),
// string, or nil if there is no value.
func variables(t *told) map[string]any {
	v := timings(t)
	maps.Copy(v, connection(t))
	maps.Copy(v, answerVariables(t))
	v["errormsg"], v["exitcode"] = nil, t.code
	if t.Err != nil {
		v["errormsg"] = message(t.Err)
	}
	v["filename_effective"] = nil
	if t.Sink != nil && t.Sink.File() {
		v["filename_effective"] = t.Sink.Path
	}
	v["method"], v["num_retries"] = t.Method(), max(0, t.Tries-1)
	v["url"], v["url_effective"] = maskedURL(t.Op, t.URL).typed(), maskedURL(t.Op, effectiveURL(t)).typed()
	v["urlnum"], v["xfer_id"] = t.Number, t.Serial
	v["scheme"] = nil
	if t.Answer.Effective != nil {
		v["scheme"] = strings.ToUpper(t.Answer.Effective.Scheme())
	}
	v["referer"] = referer(t)
	return v
}

// timings returns times, byte counts and speeds.
func timings(t *told) map[string]any {
	a := t.Account.Facts()
	seconds := a.Since(a.End)
	perSecond := func(n int64) int64 {
		if seconds <= 0 {
			return 0
		}
		return int64(float64(n) / seconds)
	}
	return map[string]any{
		"size_download":      downloaded(t),
		"size_request":       a.Sent,
		"size_upload":        uploaded(t),
		"speed_download":     perSecond(downloaded(t)),
		"speed_upload":       perSecond(uploaded(t)),
		"time_appconnect":    a.Since(a.Secured),
		"time_connect":       a.Since(a.Connected),
		"time_namelookup":    a.Since(a.LookedUp),
		"time_pretransfer":   a.Since(a.Asked),
		"time_redirect":      a.Since(redirectedAt(t)),
		"time_starttransfer": a.Since(a.FirstOctet),
		"time_total":         seconds,
	}
}

// redirectedAt returns when the last redirect was received, or the zero Time.
func redirectedAt(t *told) time.Time {
	if t.Answer.Redirects == 0 {
		return time.Time{}
	}
	return t.Heads.Redirected()
}

// connection returns the variables of the connection.
func connection(t *told) map[string]any {
	a := t.Account.Facts()
	v := map[string]any{
		"certs":                   "",
		"http_connect":            t.Heads.Connect(),
		"local_ip":                "",
		"local_port":              int(a.Local.Port()),
		"num_certs":               len(a.Certificates),
		"num_connects":            a.Connects,
		"proxy_ssl_verify_result": 0,
		"proxy_used":              0,
		"remote_ip":               "",
		"remote_port":             int(a.Remote.Port()),
		"ssl_verify_result":       0,
	}
	if a.Remote.IsValid() {
		v["local_ip"], v["remote_ip"] = a.Local.Addr().String(), a.Remote.Addr().String()
	}
	if t.Locator != nil && t.ProxyFor(t.Locator) != nil {
		v["proxy_used"] = 1
	}
	if _, bad := errors.AsType[*tls.CertificateVerificationError](t.Err); bad {
		v["ssl_verify_result"] = 1 // curl has OpenSSL's number for the reason
	}
	var certs strings.Builder
	for _, c := range a.Certificates {
		_ = pem.Encode(&certs, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}) // to memory
	}
	v["certs"] = certs.String()
	return v
}

// answerVariables returns the variables of the response.
func answerVariables(t *told) map[string]any {
	r := &t.Answer
	status := t.Account.Facts().Reply
	if r.Status != 0 {
		status = r.Status
	}
	v := map[string]any{
		"content_type":   orNone(r.ContentType),
		"ftp_entry_path": orNone(r.EntryPath),
		"http_code":      status,
		"http_version":   "0",
		"num_headers":    0,
		"num_redirects":  r.Redirects,
		"redirect_url":   nil,
		"response_code":  status,
		"size_header":    t.Heads.Octets(),
	}
	if r.Web == nil && t.code == exit.Hops { // no response is left
		v["http_code"], v["num_redirects"] = t.Heads.Status()
		v["response_code"] = v["http_code"]
	}
	if r.Web != nil {
		v["http_version"] = strings.TrimSuffix(strings.TrimPrefix(r.Web.Proto, "HTTP/"), ".0")
		v["num_headers"] = len(r.Header)
		if r.Web.Location != nil {
			v["redirect_url"] = withSlash(r.Web.Location).Redacted()
		}
	}
	return v
}

// withSlash adds the "/" that is requested to an http URL without a path.
func withSlash(l locator.Locator) locator.Locator {
	bare, ok := l.(*locator.HTTP)
	if !ok || bare.HasPath {
		return l
	}
	with := *bare
	with.HasPath = true
	return &with
}

// effectiveURL returns the URL of the response, as typed if it is the requested one.
func effectiveURL(t *told) string {
	r := &t.Answer
	if r.Effective == nil || t.Locator == nil {
		return t.URL
	}
	if r.Redirects > 0 || t.Op.Ask.Numbers != nil || r.Effective.Scheme() != t.Locator.Scheme() || client.WithQuery(t.Op, r.Effective) != r.Effective {
		return r.Effective.String()
	}
	return t.URL
}

// referer returns the last Referer that was sent, or nil.
func referer(t *told) any {
	if web := t.Answer.Web; web != nil && t.Op.HTTP.AutoReferer && len(web.Redirects) > 0 {
		if to, ok := t.Answer.Effective.(*locator.HTTP); ok {
			return orNone(fetchhttp.Referer(web.Redirects[len(web.Redirects)-1].Locator, to, t.Op.HTTP.LocationTrusted))
		}
	}
	if t.Op.HTTP.Referer != nil {
		return orNone(locator.Parser{Tolerate: locator.TolerateUsual}.Redact(*t.Op.HTTP.Referer))
	}
	return nil
}

// orNone returns s, or nil if it is empty.
func orNone(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// downloaded returns how many bytes of the document were written.
func downloaded(t *told) int64 {
	if t.Sink == nil {
		return 0
	}
	return max(0, t.Sink.Count-int64(t.Answer.ShownHead))
}

// uploaded returns how many bytes of a body were sent.
func uploaded(t *told) int64 {
	if data := t.Op.Posted(); data != nil && client.IsHTTP(t.Locator) {
		if t.Method() == "GET" { // a redirect has dropped them
			return 0
		}
		return int64(len(data))
	}
	if len(t.Op.Form) > 0 && client.IsHTTP(t.Locator) && t.Method() != "GET" {
		return formdata.Size(t.Op.Form, t.Op.HTTP.EscapeForm)
	}
	if !t.Upload {
		return 0
	}
	return t.Account.Moved.Load()
}

// variableText returns the value of a variable as curl shows it.
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

// asJSON returns all variables as an object, sorted by name.
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
	fmt.Fprintf(&b, `"curl_version":%s}`, jsonString("fetch1738 "+version.String()))
	return b.String()
}

// headerJSON returns the header of the last HTTP response: names in lower case, in the
// order of their first appearance, each with all values.
func headerJSON(t *told) string {
	var names []string
	values := make(map[string][]string)
	for _, f := range t.Answer.Header {
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

// jsonString returns s as a JSON string.
func jsonString(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(render.AsGiven(s)) // a string cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}
