package gopher

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/internal/wire"
)

// A Form holds the questions that a Gopher+ server asks before it sends an item (RFC 1738 §3.4.5;
// the block "+ASK").
type Form struct {
	Questions []Question
}

// A Question is one line of a form.
type Question struct {
	// Kind is the kind of answer.
	Kind QuestionKind
	// Prompt is the text of the question.
	Prompt string
	// Default is the answer that the server suggests; "1" or "0" for Select.
	Default string
	// Choices are the possible answers of a Choose question.
	Choices []string
}

// QuestionKind is the kind of a [Question], as named by Gopher+.
type QuestionKind uint8

// The kinds of question.
const (
	Ask     QuestionKind = iota // a line of text
	AskP                        // a password: a line that is not shown, but is sent in clear text
	AskL                        // lines of text
	AskF                        // the name of a local file in which to store the item
	Select                      // yes or no
	Choose                      // one of several
	ChooseF                     // the content of a local file
	Note                        // not a question: a text to show
)

var questionKinds = []string{Ask: "Ask", AskP: "AskP", AskL: "AskL", AskF: "AskF", Select: "Select", Choose: "Choose", ChooseF: "ChooseF", Note: "Note"}

// String returns the name of the kind.
func (k QuestionKind) String() string {
	if int(k) < len(questionKinds) {
		return questionKinds[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// parseForm parses the lines of the block "+ASK".
func parseForm(lines []string) *Form {
	f := new(Form)
	for _, line := range lines {
		f.Questions = append(f.Questions, parseQuestion(line))
	}
	return f
}

// parseQuestion parses "Kind: prompt[⇥default or choices…]". An unknown kind means Ask, and a line
// without a kind is a Note, as in the UMN client.
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

// A Filled form is a [Form] with its answers, for [Options].Form. Its String masks passwords.
type Filled struct {
	plus   string
	masked string
	secret bool
}

// Plus returns the Gopher+ string that sends the form, including passwords. A Locator with this
// Plus is a URL that fetches the same item (RFC 1738 §3.4.9).
func (f *Filled) Plus() string { return f.plus }

// String returns Plus with "****" in place of each password.
func (f *Filled) String() string { return f.masked }

// Secret reports whether the form contains a password, which would be visible in a URL with Plus.
func (f *Filled) Secret() bool { return f.secret }

// Fill returns the form filled in with answers, one for each question in order. Answers to a Note
// are ignored. Missing answers are empty.
//   - An AskL takes lines ended by LF. They are sent with an empty line after them, as the UMN
//     client does.
//   - A Select takes "1" or "0".
//   - A Choose takes one of its choices.
//   - A ChooseF takes the content of a file.
//
// view is the label of the requested view; if empty, the server chooses.
//
// Fill refuses a line that is only a dot, because it would end the form, and a line break inside a
// line.
func (f *Form) Fill(view string, answers []string) (*Filled, error) {
	if strings.ContainsAny(view, "\x00\t\r\n") {
		return nil, errors.New("the name of the view contains NUL, TAB, CR or LF")
	}
	if len(answers) > len(f.Questions) {
		return nil, fmt.Errorf("%d answers for %d questions", len(answers), len(f.Questions))
	}
	begin := "+" + view + "\t1\r\n+-1\r\n"
	filled := &Filled{plus: begin, masked: begin}
	var file *Question
	for i, q := range f.Questions {
		if q.Kind == Note {
			continue
		}
		if file != nil {
			return nil, fmt.Errorf("the answer to %q is a file, which must be the last answer", file.Prompt)
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

// add appends lines to the Gopher+ string. In String, secret ones are masked.
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
	errAnswerDot   = errors.New("contains a line with only a dot, which would end the form")
	errAnswerOctet = errors.New("contains NUL, CR or LF, which cannot be sent")
	errAnswerYes   = errors.New(`must be "1" or "0"`)
)

// lines returns the lines that are sent for an answer.
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
			return nil, fmt.Errorf("must be one of %q", q.Choices)
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

// splitLines splits a text into lines. Each ends in LF or CR LF, except perhaps the last.
func splitLines(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// isForm reports whether a Gopher+ string contains a filled form.
func isForm(plus string) bool { return strings.Contains(plus, "\r\n") }
