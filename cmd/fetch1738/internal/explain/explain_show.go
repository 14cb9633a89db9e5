package explain

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/render"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/codec/z3950"
)

// explained is the JSON line of an Explanation.
type explained struct {
	URL     string          `json:"url"` // canonical, password masked
	OK      bool            `json:"ok"`
	Scheme  string          `json:"scheme"`
	Network *string         `json:"network"` // null, like host and port, if there is no connection
	Host    *string         `json:"host"`
	Port    *uint16         `json:"port"`
	Policy  string          `json:"policy"`
	Steps   []explainedStep `json:"steps"`
	Notes   []string        `json:"notes"`
}

// explainedStep has either send, bytes as characters, or do, an action in words.
type explainedStep struct {
	Send *string `json:"send,omitempty"`
	Do   *string `json:"do,omitempty"`
	When *string `json:"when"`
	// Ahead says that send does not wait for the reply to the previous step.
	Ahead bool `json:"ahead,omitempty"`
}

// unexplained is the JSON line of a URL that would not be fetched.
type unexplained struct {
	URL   string `json:"url"`
	OK    bool   `json:"ok"`
	Error string `json:"error"`
	Code  int    `json:"code"` // the exit code
}

// explainText writes e as text: bytes to send in quotation marks, actions without.
func explainText(w io.Writer, e answer) error {
	if e.err != nil {
		_, err := fmt.Fprintf(w, "not fetched: (%d) %s\n", e.code(), stdio.InOptions(e.err.Error()))
		return err
	}
	var b strings.Builder
	row := func(label, text string) { fmt.Fprintf(&b, "  %-6s  %s\n", label, text) }
	prose := func(label, text string) {
		for _, line := range render.Fold(text, 70) {
			row(label, line)
			label = ""
		}
	}
	fmt.Fprintln(&b, render.Plain(e.url))
	if e.Network != "" {
		row("server", fmt.Sprintf("%s, port %d (%s)", render.Plain(e.Host), e.Port, e.Network))
	}
	prose("policy", e.verdict)
	width := e.textWidth()
	for i, s := range e.Steps {
		label := strconv.Itoa(i + 1)
		for j, text := range stepTexts(s) {
			if said := remark(s); j == 0 && said != "" {
				text = fmt.Sprintf("%-*s  %s", width, text, said)
			}
			row(label, text)
			label = ""
		}
	}
	for _, note := range e.Notes {
		prose("note", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// remark returns the text after a step.
func remark(s fetch.Step) string {
	if s.Ahead {
		return cmp.Or(s.When, "sent with the previous command")
	}
	return s.When
}

// stepTexts returns the lines of a step: a line for each line of bytes, or the annotations
// of a WAIS message.
func stepTexts(s fetch.Step) []string {
	if s.Send == "" {
		return render.Fold(s.Do, 70)
	}
	var texts []string
	for _, line := range z3950.Annotate([]byte(s.Send)) {
		texts = append(texts, line.String())
	}
	if texts != nil {
		return texts
	}
	for line := range strings.SplitAfterSeq(s.Send, "\n") {
		if line != "" {
			texts = append(texts, render.Quote(line))
		}
	}
	return texts
}

// textWidth returns the width of the longest text with a remark, to align the remarks.
func (e answer) textWidth() int {
	const most = 40
	width := 0
	for _, s := range e.Steps {
		if text := stepTexts(s)[0]; remark(s) != "" && len(text) <= most {
			width = max(width, len(text))
		}
	}
	return width
}

func explainJSON(w io.Writer, e answer) error {
	if e.err != nil {
		return render.JSON(w, unexplained{e.url, false, stdio.InOptions(e.err.Error()), e.code()})
	}
	line := explained{
		URL: e.url, OK: true, Scheme: e.loc.Scheme(), Policy: e.verdict,
		Steps: []explainedStep{}, Notes: append([]string{}, e.Notes...),
	}
	if e.Network != "" {
		line.Network, line.Host, line.Port = &e.Network, &e.Host, &e.Port
	}
	for _, s := range e.Steps {
		line.Steps = append(line.Steps, explainedStep{some(render.Chars(s.Send)), some(s.Do), some(s.When), s.Ahead})
	}
	return render.JSON(w, line)
}

// some returns s, or nil if it is empty.
func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
