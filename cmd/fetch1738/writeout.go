package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/internal/term"
)

// writeOut writes what -w asks for.
func (t *transfer) writeOut() {
	variables := t.variables()
	to, format := t.out(), t.op.writeOut
	for format != "" {
		text, rest, found := strings.Cut(format, "%")
		writeText(to, unescapeFormat(text))
		format = rest
		if !found {
			return
		}
		name, rest, closed := strings.Cut(strings.TrimPrefix(format, "{"), "}")
		switch {
		case strings.HasPrefix(format, "%"):
			writeText(to, "%")
			format = format[1:]
			continue
		case !strings.HasPrefix(format, "{") || !closed:
			writeText(to, "%")
			continue
		}
		format = rest
		switch value, known := variables[name]; {
		case name == "stdout":
			to = t.out()
		case name == "stderr":
			to = t.std.err
		case name == "onerror":
			if t.code == exitOK {
				return
			}
		case name == "json":
			writeText(to, asJSON(variables))
		case known:
			writeText(to, variableText(name, value))
		default:
			fmt.Fprintf(t.std.err, "fetch1738: unknown --write-out variable: %q\n", name)
		}
	}
}

// writeText writes text that may be somebody else's in part. There is nowhere
// to tell that it fails.
func writeText(w io.Writer, s string) {
	if term.IsTerminal(w) {
		s = term.Safe(s)
	}
	_, _ = io.WriteString(w, s)
}

// unescapeFormat turns \n, \r and \t into what they stand for. As in curl a
// doubled backslash stays two.
func unescapeFormat(s string) string {
	return strings.NewReplacer(`\\`, `\\`, `\n`, "\n", `\r`, "\r", `\t`, "\t").Replace(s)
}

// variables are the values that -w can show: int, int64, float64 (seconds), a
// string, or nil for one that there is none of.
func (t *transfer) variables() map[string]any {
	a, r := &t.account, &t.result
	a.mu.Lock()
	defer a.mu.Unlock()
	seconds := a.since(a.end)
	perSecond := func(n int64) int64 {
		if seconds <= 0 {
			return 0
		}
		return int64(float64(n) / seconds)
	}
	status := r.status
	if status == 0 {
		status = a.reply
	}
	v := map[string]any{
		"content_type":       orNone(r.contentType),
		"errormsg":           nil,
		"exitcode":           t.code,
		"filename_effective": nil,
		"ftp_entry_path":     orNone(r.entryPath),
		"http_code":          status,
		"local_ip":           "",
		"local_port":         int(a.local.Port()),
		"method":             t.methodUsed(),
		"num_connects":       a.connects,
		"num_redirects":      r.redirects,
		"remote_ip":          "",
		"remote_port":        int(a.remote.Port()),
		"response_code":      status,
		"scheme":             nil,
		"size_download":      t.downloaded(),
		"size_header":        r.shownHead,
		"size_request":       a.sent,
		"size_upload":        t.uploaded(),
		"speed_download":     perSecond(t.downloaded()),
		"speed_upload":       perSecond(t.uploaded()),
		"time_appconnect":    a.since(a.secured),
		"time_connect":       a.since(a.connected),
		"time_namelookup":    a.since(a.lookedUp),
		"time_pretransfer":   a.since(a.asked),
		"time_starttransfer": a.since(a.firstOctet),
		"time_total":         seconds,
		"url":                t.url,
		"url_effective":      t.url,
		"urlnum":             t.number,
	}
	if t.err != nil {
		v["errormsg"] = t.message()
	}
	if a.remote.IsValid() {
		v["local_ip"], v["remote_ip"] = a.local.Addr().String(), a.remote.Addr().String()
	}
	if t.sink != nil && t.sink.file != nil {
		v["filename_effective"] = t.sink.path
	}
	if r.effective != nil {
		v["scheme"] = strings.ToUpper(r.effective.Scheme())
		if r.redirects > 0 || r.effective.Scheme() != t.locator.Scheme() {
			v["url_effective"] = r.effective.String()
		}
	}
	return v
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
	if t.op.data != nil && isHTTP(t.locator) {
		return int64(len(t.op.data))
	}
	if !t.upload {
		return 0
	}
	return t.account.moved.Load()
}

// methodUsed is the HTTP method; curl calls every other download GET.
func (t *transfer) methodUsed() string {
	switch {
	case t.op.method != "":
		return t.op.method
	case t.upload:
		return "PUT"
	case t.op.head:
		return "HEAD"
	case t.op.data != nil:
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
		if name == "http_code" || name == "response_code" {
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

func jsonString(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(asGiven(s)) // a string cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}
