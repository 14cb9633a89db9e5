package parse

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/render"
	"github.com/fetch1738/fetch1738/internal/urls/typed"
	"github.com/fetch1738/fetch1738/locator"
)

// parseResult is the JSON line of a URL. Programs rely on its keys.
type parseResult struct {
	URL      string   `json:"url"`
	OK       bool     `json:"ok"`
	Scheme   string   `json:"scheme"`
	User     *string  `json:"user"`
	Password *string  `json:"password"`
	Host     *string  `json:"host"`
	Port     *uint16  `json:"port"`
	Parts    urlParts `json:"parts"`
	// Fragment and Tolerated are omitted if the URL has none.
	Fragment  *string  `json:"fragment,omitempty"`
	Tolerated []string `json:"tolerated,omitempty"`
}

// parseRefusal is the JSON line of a text that is not a URL.
type parseRefusal struct {
	URL     string `json:"url"`
	OK      bool   `json:"ok"`
	Error   string `json:"error"`
	Offset  int    `json:"offset"`
	Section string `json:"section"`
}

// jsonLine writes the JSON line of text. If bad is not nil, text is not a URL; otherwise ref is its
// parsed form.
func jsonLine(w io.Writer, text string, ref locator.Reference, bad *locator.SyntaxError) error {
	if bad != nil {
		if len(text) > locator.MaxLength {
			text = bad.Text
		}
		return render.JSON(w, parseRefusal{render.AsGiven(text), false, bad.Msg, bad.Offset, bad.Section})
	}
	line := parseResult{URL: render.AsGiven(text), OK: true, Scheme: ref.Locator.Scheme(), Parts: partsOf(ref.Locator)}
	if hp, ok := locator.AuthorityOf(ref.Locator); ok {
		line.Host = new(render.Chars(hp.Host))
		if hp.Port != 0 {
			line.Port = &hp.Port
		}
	}
	if login := client.LoginOf(ref.Locator); login != nil {
		line.User = new(render.Chars(login.User))
		if login.HasPassword {
			line.Password = new(render.Chars(login.Password))
		}
	}
	if ref.HasFragment {
		line.Fragment = new(render.Chars(ref.Fragment))
	}
	line.Tolerated = plan.Departures(ref.Used)
	return render.JSON(w, line)
}

// textLine writes the line for people: the scheme, the server, and the other components with their
// JSON names.
func textLine(w io.Writer, text string, ref locator.Reference, bad *locator.SyntaxError) error {
	if bad != nil {
		where := fmt.Sprintf("byte %d", bad.Offset)
		if bad.Section != "" {
			where += ", section " + bad.Section
		}
		_, err := fmt.Fprintf(w, "%-8s  %-24s  %s: \"%s\"\n", "refused:", where, bad.Msg, bad.Text)
		return err
	}
	var words []string
	add := func(name, value string) { words = append(words, strings.TrimRight(name+" "+value, " ")) }
	if login := client.LoginOf(ref.Locator); login != nil {
		add("user", render.Quote(login.User))
		if login.HasPassword {
			add("password", render.Quote(login.Password))
		}
	}
	for _, p := range partsOf(ref.Locator) {
		if value, ok := partText(p); ok {
			add(p.name, value)
		}
	}
	if ref.HasFragment {
		add("fragment", render.Quote(ref.Fragment))
	}
	if _, isUnknown := ref.Locator.(*locator.Opaque); isUnknown {
		if near := typed.NearestScheme(ref.Locator.Scheme(), fetch1738.Schemes()); near != "" {
			add("did you mean", near+":?")
		}
	}
	if names := plan.Departures(ref.Used); len(names) > 0 {
		add("tolerated", strings.Join(names, ","))
	}
	line := fmt.Sprintf("%-8s  %-24s  %s", ref.Locator.Scheme(), serverOf(ref.Locator), strings.Join(words, "  "))
	_, err := fmt.Fprintln(w, strings.TrimRight(line, " "))
	return err
}

// partText returns a part as shown to people. It reports false if there is nothing to show.
func partText(p urlPart) (string, bool) {
	switch v := p.value.(type) {
	case string:
		return render.Quote(v), p.name != "host" && !strings.HasSuffix(p.name, "_raw")
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = render.Quote(s)
		}
		return strings.Join(quoted, " "), len(v) > 0
	case [][2]string:
		pairs := make([]string, len(v))
		for i, f := range v {
			pairs[i] = render.Quote(f[0]) + "=" + render.Quote(f[1])
		}
		return strings.Join(pairs, " "), len(v) > 0
	case bool:
		return "", v
	}
	return "", false
}

// serverOf returns the server of l as the URL has it, or "-" if URLs of its scheme name no server.
func serverOf(l locator.Locator) string {
	hp, ok := locator.AuthorityOf(l)
	if !ok {
		return "-"
	}
	host := hp.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	host = render.Plain(host)
	if hp.Port != 0 {
		host += ":" + strconv.Itoa(int(hp.Port))
	}
	return host
}
