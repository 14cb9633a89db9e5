// Package form answers the questions of Gopher+ forms, from the options --form and --form-file or
// by asking the user.
package form

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// Prompts returns the questions of a form, quoted.
func Prompts(f *gopher.Form) (all []string) {
	for _, q := range f.Questions {
		if q.Kind != gopher.Note {
			all = append(all, strconv.Quote(questionName(q.Prompt)))
		}
	}
	return all
}

// questionName returns a prompt without trailing punctuation.
func questionName(prompt string) string { return strings.TrimRight(prompt, " :?.") }

// Match returns an answer for each question of f: the given one, or else the default of the server.
// Several answers to one question are the lines of a text.
func Match(f *gopher.Form, given []plan.Answer) ([]string, error) {
	answers := make([]string, len(f.Questions))
	answered := make([]bool, len(f.Questions))
	for _, a := range given {
		i, err := questionNamed(f, a.Name)
		if err != nil {
			return nil, err
		}
		value, err := valueOf(&f.Questions[i], a.Value)
		switch {
		case err != nil:
			return nil, err
		case answered[i] && f.Questions[i].Kind != gopher.AskL:
			return nil, localerr.Usagef("--form: %q is answered twice", a.Name)
		}
		if f.Questions[i].Kind == gopher.AskL {
			value = answers[i] + value + "\n"
		}
		answers[i], answered[i] = value, true
	}
	for i, q := range f.Questions {
		if !answered[i] && q.Kind != gopher.ChooseF {
			answers[i] = q.Default
		}
	}
	return answers, nil
}

// questionNamed returns the index of a question, given its prompt or its number. Only questions
// that need an answer are numbered.
func questionNamed(f *gopher.Form, name string) (int, error) {
	number := 0
	for i, q := range f.Questions {
		if q.Kind == gopher.Note {
			continue
		}
		if number++; strings.EqualFold(questionName(q.Prompt), questionName(name)) || strconv.Itoa(number) == name {
			return i, nil
		}
	}
	return 0, localerr.Usagef("--form: the form has no question %q; its questions are %s", name, strings.Join(Prompts(f), ", "))
}

// valueOf converts a typed answer to the value to send for a question.
func valueOf(q *gopher.Question, typed string) (string, error) {
	switch q.Kind {
	case gopher.Select:
		switch strings.ToLower(typed) {
		case "1", "y", "yes", "on", "true":
			return "1", nil
		case "0", "n", "no", "off", "false":
			return "0", nil
		}
		return "", localerr.Usagef("the answer to %q must be yes or no", q.Prompt)
	case gopher.Choose:
		if n, err := strconv.Atoi(typed); err == nil && 0 < n && n <= len(q.Choices) && !slices.Contains(q.Choices, typed) {
			return q.Choices[n-1], nil
		}
	case gopher.ChooseF:
		content, err := stdio.ReadFile(typed)
		if err != nil {
			return "", localerr.New(localerr.Read, err)
		}
		return string(content), nil
	}
	return typed, nil
}

// A Person answers questions at a terminal.
type Person struct {
	In      io.Reader
	Err     io.Writer // where the questions are shown
	Charset charset.Charset
}

// asker asks the questions of one form.
type asker struct {
	Person
	in *bufio.Reader
}

// Ask asks all questions of a form.
func (p Person) Ask(ctx context.Context, f *gopher.Form) ([]string, error) {
	a := &asker{p, bufio.NewReader(p.In)}
	answers := make([]string, len(f.Questions))
	for i := range f.Questions {
		var err error
		if answers[i], err = a.ask(ctx, &f.Questions[i]); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// ask asks one question, and repeats it until the answer is valid. An empty answer means the
// default of the server.
func (a *asker) ask(ctx context.Context, q *gopher.Question) (string, error) {
	show := func(format string, args ...any) { fmt.Fprintf(a.Err, format, args...) }
	prompt := stdio.Line(a.Charset.Decode(q.Prompt))
	switch q.Kind {
	case gopher.Note:
		show("%s\n", prompt)
		return "", nil
	case gopher.AskP:
		return term.AskSecret(ctx, prompt+" (not shown, but sent unencrypted): ")
	case gopher.AskL:
		show("%s (end with an empty line)\n", prompt)
		return a.lines(ctx)
	case gopher.Choose:
		for i, choice := range q.Choices {
			show("%4d %s\n", i+1, stdio.Line(choice))
		}
	case gopher.Select:
		prompt += " (yes or no)"
	case gopher.ChooseF:
		prompt += " (a file to send, or empty)"
	}
	if q.Default != "" {
		prompt += " [" + stdio.Line(q.Default) + "]"
	}
	for {
		show("%s: ", prompt)
		typed, err := a.line(ctx)
		switch {
		case err != nil:
			return "", err
		case typed == "" && q.Kind != gopher.ChooseF:
			return q.Default, nil
		case typed == "":
			return "", nil
		}
		value, err := valueOf(q, typed)
		if err == nil {
			return value, nil
		}
		show("%s\n", stdio.Line(err.Error()))
	}
}

var errNoAnswer = localerr.New(localerr.BadURL, errors.New("the form was not answered"))

// line reads a line.
func (a *asker) line(ctx context.Context) (string, error) {
	line, err := term.Await(ctx, func() (string, error) { return a.in.ReadString('\n') })
	switch {
	case ctx.Err() != nil:
		return "", driver.Fail("query", nil, fetch.ErrCanceled, ctx.Err())
	case err != nil:
		return "", errNoAnswer
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// lines reads lines up to an empty one.
func (a *asker) lines(ctx context.Context) (string, error) {
	var text strings.Builder
	for {
		line, err := a.line(ctx)
		if err != nil || line == "" {
			return text.String(), err
		}
		text.WriteString(line + "\n")
	}
}

// AsURL returns a remark with the URL that sends the same filled form of an item. Passwords in it are
// masked.
func AsURL(l locator.Locator, filled *gopher.Filled) string {
	item, ok := l.(*locator.Gopher)
	if !ok {
		return ""
	}
	shown := *item
	shown.Plus = filled.String()
	what := "The filled form as a URL: "
	if filled.Secret() {
		what = "The filled form as a URL, with its passwords masked: "
	}
	return what + shown.String()
}
