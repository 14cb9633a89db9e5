package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/locator"
)

// An answer is one to the question of a form that has this name, or number.
type answer struct{ name, value string }

// addAnswer reads "NAME=VALUE".
func addAnswer(c *commandLine, value string) error {
	name, value, ok := strings.Cut(value, "=")
	if !ok || strings.TrimSpace(name) == "" {
		return errors.New("expected NAME=VALUE")
	}
	c.op.answers = append(c.op.answers, answer{strings.TrimSpace(name), value})
	return nil
}

// addAnswers reads a file of lines "NAME=VALUE"; empty ones and those that begin
// with "#" mean nothing.
func addAnswers(c *commandLine, value string) error {
	text, err := c.readFile(value)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		if err := addAnswer(c, line); err != nil {
			return err
		}
	}
	return nil
}

// withForm is an item with the Gopher+ string that asks for its form.
func withForm(l locator.Locator) locator.Locator {
	item, ok := l.(*locator.Gopher)
	if !ok || item.Plus != "" {
		return l
	}
	asked := *item
	asked.Plus, asked.Fields = "?", 2
	return &asked
}

// submit fills in the form of a resource and fetches what the server makes of it.
func (t *transfer) submit(ctx context.Context, req *fetch.Request, attributes *gopher.Attributes) (*fetch.Resource, error) {
	answers, err := t.formAnswers(ctx, req, attributes.Ask)
	if err != nil {
		return nil, err
	}
	view := "" // as the UMN client, which asks for the first
	if len(attributes.Views) > 0 {
		view = attributes.Views[0].Label
	}
	filled, err := attributes.Ask.Fill(view, answers)
	if err != nil {
		return nil, &usageError{"the form: " + err.Error()}
	}
	t.tellURL(req.Locator, filled)
	again := *req
	again.Options = &gopher.Options{Form: filled}
	t.result.submitted = true
	return t.resolver.Fetch(ctx, &again)
}

// tellURL shows, with -v, the URL that fetches the same by itself.
func (t *transfer) tellURL(l locator.Locator, filled *gopher.Filled) {
	item, ok := l.(*locator.Gopher)
	if !ok || !t.op.verbose {
		return
	}
	shown := *item
	shown.Plus = filled.String()
	what := "The filled form as a URL: "
	if filled.Secret() {
		what = "The filled form as a URL, with its passwords masked: "
	}
	newNarrator(t.std.err).remark("%s%s", what, shown.String())
}

// formAnswers are the answers of the options, or else those of whoever is there.
func (t *transfer) formAnswers(ctx context.Context, req *fetch.Request, form *gopher.Form) ([]string, error) {
	if len(t.op.answers) > 0 {
		return matchAnswers(form, t.op.answers)
	}
	if !term.IsTerminal(t.std.in) {
		return nil, &codedError{exitBadURL, fmt.Errorf("%s is a form: answer it by --form NAME=VALUE; it asks for %s", req.Locator.Redacted(), strings.Join(prompts(form), ", "))}
	}
	defer t.op.display.Pause()()
	asker := &asker{t: t, in: bufio.NewReader(t.std.in)}
	answers := make([]string, len(form.Questions))
	for i := range form.Questions {
		var err error
		if answers[i], err = asker.ask(ctx, &form.Questions[i]); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// prompts are the questions of a form.
func prompts(form *gopher.Form) (all []string) {
	for _, q := range form.Questions {
		if q.Kind != gopher.Note {
			all = append(all, strconv.Quote(questionName(q.Prompt)))
		}
	}
	return all
}

// questionName is a prompt without the marks at its end.
func questionName(prompt string) string { return strings.TrimRight(prompt, " :?.") }

// matchAnswers puts answers where their questions are; the others get what the
// server suggests. Several to one question are the lines of a text.
func matchAnswers(form *gopher.Form, given []answer) ([]string, error) {
	answers := make([]string, len(form.Questions))
	answered := make([]bool, len(form.Questions))
	for _, a := range given {
		i, err := questionNamed(form, a.name)
		if err != nil {
			return nil, err
		}
		value, err := valueOf(&form.Questions[i], a.value)
		switch {
		case err != nil:
			return nil, err
		case answered[i] && form.Questions[i].Kind != gopher.AskL:
			return nil, &usageError{fmt.Sprintf("--form: %q is answered twice", a.name)}
		}
		if form.Questions[i].Kind == gopher.AskL {
			value = answers[i] + value + "\n"
		}
		answers[i], answered[i] = value, true
	}
	for i, q := range form.Questions {
		if !answered[i] && q.Kind != gopher.ChooseF {
			answers[i] = q.Default
		}
	}
	return answers, nil
}

// questionNamed finds a question by its prompt, or by its number among those
// that are to be answered.
func questionNamed(form *gopher.Form, name string) (int, error) {
	number := 0
	for i, q := range form.Questions {
		if q.Kind == gopher.Note {
			continue
		}
		if number++; strings.EqualFold(questionName(q.Prompt), questionName(name)) || strconv.Itoa(number) == name {
			return i, nil
		}
	}
	return 0, &usageError{fmt.Sprintf("--form: the form does not ask for %q; it asks for %s", name, strings.Join(prompts(form), ", "))}
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
		return "", &usageError{fmt.Sprintf("the answer to %q has to be yes or no", q.Prompt)}
	case gopher.Choose:
		if n, err := strconv.Atoi(typed); err == nil && 0 < n && n <= len(q.Choices) && !slices.Contains(q.Choices, typed) {
			return q.Choices[n-1], nil
		}
	case gopher.ChooseF:
		content, err := readBounded(typed)
		if err != nil {
			return "", &codedError{exitRead, err}
		}
		return string(content), nil
	}
	return typed, nil
}

// asker asks the questions of a form on a terminal.
type asker struct {
	t  *transfer
	in *bufio.Reader
}

// ask asks one question, again as long as the answer makes no sense. An empty
// answer is what the server suggests.
func (a *asker) ask(ctx context.Context, q *gopher.Question) (string, error) {
	show := func(format string, args ...any) { fmt.Fprintf(a.t.std.err, format, args...) }
	prompt := term.SafeLine(a.t.op.charset.Decode(q.Prompt), maxMessage)
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
			show("%4d %s\n", i+1, term.SafeLine(choice, maxMessage))
		}
	case gopher.Select:
		prompt += " (yes or no)"
	case gopher.ChooseF:
		prompt += " (a file to send, or nothing)"
	}
	if q.Default != "" {
		prompt += " [" + term.SafeLine(q.Default, maxMessage) + "]"
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
		show("%s\n", term.SafeLine(err.Error(), maxMessage))
	}
}

var errNoAnswer = &codedError{exitBadURL, errors.New("the form was not answered")}

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
