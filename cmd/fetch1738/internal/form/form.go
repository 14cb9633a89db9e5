// Package form answers the questions of Gopher+ forms: by what a plan has, or by
// asking a person.
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

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
)

// Prompts are the questions of a form.
func Prompts(f *gopher.Form) (all []string) {
	for _, q := range f.Questions {
		if q.Kind != gopher.Note {
			all = append(all, strconv.Quote(questionName(q.Prompt)))
		}
	}
	return all
}

// questionName is a prompt without the marks at its end.
func questionName(prompt string) string { return strings.TrimRight(prompt, " :?.") }

// Match puts answers where their questions are; the others get what the
// server suggests. Several to one question are the lines of a text.
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
			return nil, fault.Usagef("--form: %q is answered twice", a.Name)
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

// questionNamed finds a question by its prompt, or by its number among those
// that are to be answered.
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
	return 0, fault.Usagef("--form: the form does not ask for %q; it asks for %s", name, strings.Join(Prompts(f), ", "))
}

// valueOf is what a person has typed as the question wants it.
func valueOf(q *gopher.Question, typed string) (string, error) {
	switch q.Kind {
	case gopher.Select:
		switch strings.ToLower(typed) {
		case "1", "y", "yes", "on", "true":
			return "1", nil
		case "0", "n", "no", "off", "false":
			return "0", nil
		}
		return "", fault.Usagef("the answer to %q has to be yes or no", q.Prompt)
	case gopher.Choose:
		if n, err := strconv.Atoi(typed); err == nil && 0 < n && n <= len(q.Choices) && !slices.Contains(q.Choices, typed) {
			return q.Choices[n-1], nil
		}
	case gopher.ChooseF:
		content, err := stdio.ReadFile(typed)
		if err != nil {
			return "", fault.New(fault.Read, err)
		}
		return string(content), nil
	}
	return typed, nil
}

// A Person answers questions on a terminal.
type Person struct {
	In      io.Reader
	Err     io.Writer // where the questions are shown
	Charset term.Charset
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

// ask asks one question, again as long as the answer makes no sense. An empty
// answer is what the server suggests.
func (a *asker) ask(ctx context.Context, q *gopher.Question) (string, error) {
	show := func(format string, args ...any) { fmt.Fprintf(a.Err, format, args...) }
	prompt := stdio.Line(a.Charset.Decode(q.Prompt))
	switch q.Kind {
	case gopher.Note:
		show("%s\n", prompt)
		return "", nil
	case gopher.AskP:
		return term.AskSecret(ctx, prompt+" (not shown here, but sent in clear): ")
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
		prompt += " (a file to send, or nothing)"
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

var errNoAnswer = fault.New(fault.BadURL, errors.New("the form was not answered"))

// line reads a line. A read from a terminal cannot be interrupted; who gives up
// waiting leaves it behind.
func (a *asker) line(ctx context.Context) (string, error) {
	lines := make(chan string, 1)
	go func() {
		defer close(lines)
		if line, err := a.in.ReadString('\n'); err == nil {
			lines <- strings.TrimRight(line, "\r\n")
		}
	}()
	select {
	case line, ok := <-lines:
		if !ok {
			return "", errNoAnswer
		}
		return line, nil
	case <-ctx.Done():
		return "", fetch.Fail(fetch.OpQuery, nil, fetch.ErrCanceled, ctx.Err())
	}
}

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
