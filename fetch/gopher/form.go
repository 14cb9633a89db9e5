package gopher

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/internal/wire"
)

// A Form is what a Gopher+ server asks before it gives an item (RFC 1738
// §3.4.5; the block "+ASK").
type Form struct {
	Questions []Question
}

// A Question is one line of a form.
type Question struct {
	// Kind is what kind of answer is wanted.
	Kind QuestionKind
	// Prompt is the question's text.
	Prompt string
	// Default is the answer that the server suggests; "1" or "0" for Select.
	Default string
	// Choices are the possible answers of a Choose.
	Choices []string
}

// QuestionKind is the kind of a [Question], in the words of Gopher+.
type QuestionKind uint8

// The kinds of question.
const (
	Ask     QuestionKind = iota // a line of text
	AskP                        // a password, a line that is not shown; it goes over the wire as it is
	AskL                        // lines of text
	AskF                        // the name of a local file to store what comes
	Select                      // yes or no
	Choose                      // one of several
	ChooseF                     // the content of a local file
	Note                        // no question: a text to be shown
)

var questionKinds = []string{Ask: "Ask", AskP: "AskP", AskL: "AskL", AskF: "AskF", Select: "Select", Choose: "Choose", ChooseF: "ChooseF", Note: "Note"}

// String is the kind's name.
func (k QuestionKind) String() string {
	if int(k) < len(questionKinds) {
		return questionKinds[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// parseForm reads the lines of the block "+ASK".
func parseForm(lines []string) *Form {
	f := new(Form)
	for _, line := range lines {
		f.Questions = append(f.Questions, parseQuestion(line))
	}
	return f
}

// parseQuestion reads "Kind: prompt[⇥default or choices…]". An unknown kind is
// Ask, and a line without one is a Note, as in the UMN client.
func parseQuestion(line string) Question {
	kind, rest, ok := strings.Cut(line, ":")
	if !ok {
		return Question{Kind: Note, Prompt: strings.TrimSpace(line)}
	}
	fields := strings.Split(rest, "\t")
	q := Question{Prompt: strings.TrimSpace(fields[0])}
	if i := slices.IndexFunc(questionKinds, func(name string) bool { return strings.EqualFold(name, strings.TrimSpace(kind)) }); i >= 0 {
		q.Kind = QuestionKind(i)
	}
	switch {
	case q.Kind == Choose:
		q.Choices = fields[1:]
		if len(q.Choices) > 0 {
			q.Default = q.Choices[0]
		}
	case q.Kind == Select:
		q.Default = "0"
		if i := strings.LastIndexByte(q.Prompt, ':'); i >= 0 && (q.Prompt[i+1:] == "0" || q.Prompt[i+1:] == "1") {
			q.Prompt, q.Default = strings.TrimSpace(q.Prompt[:i]), q.Prompt[i+1:]
		}
	case len(fields) > 1 && q.Kind != Note:
		q.Default = fields[1]
	}
	return q
}

// A Filled form is a [Form] with its answers, to be sent by [Options].Form. Its
// String has passwords masked.
type Filled struct {
	plus   string
	masked string
	secret bool
}

// Plus is the Gopher+ string that sends the form, passwords included: as the
// Plus of a Locator it makes a URL that fetches the same (RFC 1738 §3.4.9).
func (f *Filled) Plus() string { return f.plus }

// String is Plus with "****" for each password.
func (f *Filled) String() string { return f.masked }

// Secret reports whether the form holds a password, which a URL with Plus would
// show.
func (f *Filled) Secret() bool { return f.secret }

// Fill makes a request of the answers, one for each question in order; those to
// a Note are not looked at. Fewer are as many empty ones. An AskL takes lines
// ended by LF, which are sent with an empty one behind them, as the UMN client
// does; a Select "1" or "0", a Choose one of its choices, a ChooseF the content of
// a file. view is the label of the view wanted; empty is the
// server's choice.
//
// A line that is only a dot would end the form early, and line ends inside a
// line would break it up: they are refused.
func (f *Form) Fill(view string, answers []string) (*Filled, error) {
	if strings.ContainsAny(view, "\x00\t\r\n") {
		return nil, errors.New("no such view")
	}
	if len(answers) > len(f.Questions) {
		return nil, fmt.Errorf("%d answers to %d questions", len(answers), len(f.Questions))
	}
	begin := "+" + view + "\t1\r\n+-1\r\n"
	filled := &Filled{plus: begin, masked: begin}
	var file *Question
	for i, q := range f.Questions {
		if q.Kind == Note {
			continue
		}
		if file != nil {
			return nil, fmt.Errorf("the answer to %q is a file, which has to be the last", file.Prompt)
		}
		answer := ""
		if i < len(answers) {
			answer = answers[i]
		}
		lines, err := q.lines(answer)
		if err != nil {
			return nil, fmt.Errorf("the answer to %q %w", q.Prompt, err)
		}
		if q.Kind == ChooseF && len(lines) > 0 {
			file = &f.Questions[i]
		}
		filled.add(lines, q.Kind == AskP && answer != "")
	}
	filled.plus += ".\r\n"
	filled.masked += ".\r\n"
	return filled, nil
}

func (f *Filled) add(lines []string, secret bool) {
	for _, line := range lines {
		f.plus += line + "\r\n"
		if secret {
			line, f.secret = wire.Mask, true
		}
		f.masked += line + "\r\n"
	}
}

var (
	errAnswerDot   = errors.New("has a line that is only a dot, which would end the form")
	errAnswerOctet = errors.New("has an octet that cannot be sent: NUL, CR or LF")
	errAnswerYes   = errors.New(`has to be "1" or "0"`)
)

// lines are the lines that an answer comes to.
func (q *Question) lines(answer string) ([]string, error) {
	lines := []string{answer}
	switch q.Kind {
	case AskL:
		text := splitLines(answer)
		if len(text) > 0 {
			text = append(text, "") // as the UMN client does
		}
		lines = append([]string{strconv.Itoa(len(text))}, text...)
	case ChooseF:
		lines = splitLines(answer)
	case Select:
		switch answer {
		case "":
			lines = []string{q.Default}
		case "0", "1":
		default:
			return nil, errAnswerYes
		}
	case Choose:
		if answer != "" && !slices.Contains(q.Choices, answer) {
			return nil, fmt.Errorf("has to be one of %q", q.Choices)
		}
	}
	for _, line := range lines {
		switch {
		case line == ".":
			return nil, errAnswerDot
		case strings.ContainsAny(line, "\x00\r\n"):
			return nil, errAnswerOctet
		}
	}
	return lines, nil
}

// splitLines are the lines of a text, each ended by LF or CR LF; the last need
// not be.
func splitLines(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// isForm reports whether a Gopher+ string is a form that has been filled in.
func isForm(plus string) bool { return strings.Contains(plus, "\r\n") }
