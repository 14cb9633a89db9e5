package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/locator"
)

// parseResult is the JSON line of a URL. Its keys are a promise.
type parseResult struct {
	URL      string   `json:"url"`
	OK       bool     `json:"ok"`
	Scheme   string   `json:"scheme"`
	User     *string  `json:"user"`
	Password *string  `json:"password"`
	Host     *string  `json:"host"`
	Port     *uint16  `json:"port"`
	Parts    urlParts `json:"parts"`
	// Tolerated is only there when something had to be; so is Fragment.
	Fragment  *string  `json:"fragment,omitempty"`
	Tolerated []string `json:"tolerated,omitempty"`
}

// parseRefusal is the JSON line of a text that is no URL.
type parseRefusal struct {
	URL     string `json:"url"`
	OK      bool   `json:"ok"`
	Error   string `json:"error"`
	Offset  int    `json:"offset"`
	Section string `json:"section"`
}

// jsonLine writes the JSON line of text, which is ref unless it is bad.
func jsonLine(w io.Writer, text string, ref locator.Reference, bad *locator.SyntaxError) error {
	if bad != nil {
		if len(text) > locator.MaxLength {
			text = bad.Text
		}
		return writeJSON(w, parseRefusal{asGiven(text), false, bad.Msg, bad.Offset, bad.Section})
	}
	line := parseResult{URL: asGiven(text), OK: true, Scheme: ref.Locator.Scheme(), Parts: partsOf(ref.Locator)}
	if hp, ok := locator.AuthorityOf(ref.Locator); ok {
		line.Host = new(chars(hp.Host))
		if hp.Port != 0 {
			line.Port = &hp.Port
		}
	}
	if login := loginOf(ref.Locator); login != nil {
		line.User = new(chars(login.User))
		if login.HasPassword {
			line.Password = new(chars(login.Password))
		}
	}
	if ref.HasFragment {
		line.Fragment = new(chars(ref.Fragment))
	}
	line.Tolerated = departures(ref.Used)
	return writeJSON(w, line)
}

// textLine writes the line for people: the scheme, the server, then what else
// there is, by the names it has in JSON.
func textLine(w io.Writer, text string, ref locator.Reference, bad *locator.SyntaxError) error {
	if bad != nil {
		where := fmt.Sprintf("octet %d", bad.Offset)
		if bad.Section != "" {
			where += ", section " + bad.Section
		}
		_, err := fmt.Fprintf(w, "%-8s  %-24s  %s: \"%s\"\n", "refused:", where, bad.Msg, bad.Text)
		return err
	}
	var words []string
	add := func(name, value string) { words = append(words, name+" "+value) }
	if login := loginOf(ref.Locator); login != nil {
		add("user", quoteOctets(login.User))
		if login.HasPassword {
			add("password", quoteOctets(login.Password))
		}
	}
	for _, p := range partsOf(ref.Locator) {
		if value, ok := wording(p); ok {
			add(p.name, value)
		}
	}
	if ref.HasFragment {
		add("fragment", quoteOctets(ref.Fragment))
	}
	if names := departures(ref.Used); names != nil {
		add("tolerated", strings.Join(names, ","))
	}
	line := fmt.Sprintf("%-8s  %-24s  %s", ref.Locator.Scheme(), serverOf(ref.Locator), strings.Join(words, "  "))
	_, err := fmt.Fprintln(w, strings.TrimRight(line, " "))
	return err
}

// wording is a part for people, unless there is nothing to show.
func wording(p urlPart) (string, bool) {
	switch v := p.value.(type) {
	case string:
		return quoteOctets(v), p.name != "host" && !strings.HasSuffix(p.name, "_raw")
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = quoteOctets(s)
		}
		return strings.Join(quoted, " "), len(v) > 0
	case [][2]string:
		pairs := make([]string, len(v))
		for i, f := range v {
			pairs[i] = quoteOctets(f[0]) + "=" + quoteOctets(f[1])
		}
		return strings.Join(pairs, " "), len(v) > 0
	case bool:
		return "", v
	}
	return "", false
}

// serverOf is the server of l as the URL has it, "-" when its scheme names none.
func serverOf(l locator.Locator) string {
	hp, ok := locator.AuthorityOf(l)
	if !ok {
		return "-"
	}
	host := hp.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	host = plain(host)
	if hp.Port != 0 {
		host += ":" + strconv.Itoa(int(hp.Port))
	}
	return host
}
