package curl

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/formdata"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/internal/file/segments"
)

// setSpan parses "FIRST-LAST", "FIRST-" or "-COUNT".
func setSpan(c *CommandLine, value string) error {
	first, last, dash := strings.Cut(value, "-")
	if !dash { // as in curl, "100" means "100-"
		last = ""
	}
	var r plan.Span
	var err1, err2 error
	switch {
	case strings.Contains(value, ","):
		return setRanges(c.op, value)
	case strings.ContainsAny(value, "+ ") || strings.Contains(last, "-"):
		return errors.New("expected one range, such as 0-499, 500- or -500")
	case first == "":
		r.Offset, err1 = strconv.ParseInt(last, 10, 64)
		r.Offset = -r.Offset
	default:
		r.Offset, err1 = strconv.ParseInt(first, 10, 64)
		if last != "" {
			var end int64
			end, err2 = strconv.ParseInt(last, 10, 64)
			r.Length = end - r.Offset + 1
			r.Empty = r.Length < 1
		}
	}
	if err1 != nil || err2 != nil {
		return errors.New("expected a range, such as 0-499, 500- or -500")
	}
	r.Empty = r.Empty || first == "" && r.Offset == 0
	c.op.Ask.Span, c.op.Ask.Ranges, c.op.Ask.SpanText = &r, "", value
	if !dash {
		c.op.Ask.SpanText += "-"
	}
	return nil
}

// setView parses "TYPE", "TYPE,LANG" or ",LANG".
func setView(c *CommandLine, value string) error {
	c.op.Gopher.View, c.op.Gopher.Language, _ = strings.Cut(value, ",")
	return nil
}

// addLike parses the URL of a document to find similar ones.
func addLike(c *CommandLine, value string) error {
	ref, err := c.op.Reading.Parse(value)
	c.op.WAIS.Like = append(c.op.WAIS.Like, ref.Locator)
	return err
}

// setRanges parses several ranges, which only HTTP supports (RFC 9110 §14.1.1).
func setRanges(o *plan.Operation, value string) error {
	if strings.Trim(value, "0123456789-,") != "" {
		return errors.New("expected ranges, such as 0-499,700-")
	}
	o.Ask.Ranges, o.Ask.Span = value, nil
	return nil
}

func setResume(c *CommandLine, value string) error {
	if value == "-" {
		c.op.Ask.Resume = plan.ResumeFound
		return nil
	}
	n, err := natural(value)
	if err != nil {
		return err
	}
	c.op.Ask.Resume, c.op.Ask.ResumeAt = plan.ResumeGiven, n
	return nil
}

// setSegments parses the maximum number of connections for one document.
func setSegments(c *CommandLine, value string) error {
	n, err := natural(value)
	switch {
	case err != nil:
		return err
	case n < 1 || n > segments.Most:
		return fmt.Errorf("expected a number from 1 to %d", segments.Most)
	}
	c.op.Ask.Segments = int(n)
	return nil
}

// setTimeCondition parses a date, or the name of a file whose modification time is used. As in
// curl, any other value is ignored with a warning.
func setTimeCondition(c *CommandLine, value string) error {
	var cond plan.TimeCondition
	value = strings.TrimPrefix(value, "+")
	value, cond.Older = strings.CutPrefix(value, "-")
	var known bool
	if cond.When, known = parseDate(value); !known {
		if info, err := os.Stat(value); err == nil {
			cond.When, known = info.ModTime(), true
		}
	}
	if !known {
		cond = plan.TimeCondition{}
		c.warn("-z, --time-cond: %s is neither a file nor a date such as %q or 20200101; ignored", value, "1 Jan 2020 12:00:00 +0100")
	}
	c.op.Ask.Time = cond
	return nil
}

// addNumber adds the number of a link to follow.
func addNumber(c *CommandLine, value string) error {
	n, err := natural(value)
	switch {
	case err != nil:
		return err
	case n == 0 || n > math.MaxInt32:
		return errors.New("expected the number of a link, from 1, as --list shows it")
	}
	c.op.Ask.Numbers = append(c.op.Ask.Numbers, int(n))
	return nil
}

// addField is --form.
func addField(c *CommandLine, value string) error {
	field, err := formdata.Parser{ReadFile: c.readFile, Warn: c.warn}.Field(value)
	c.op.Form = append(c.op.Form, field)
	return err
}

// addString is --form-string.
func addString(c *CommandLine, value string) error {
	field, err := formdata.String(value)
	c.op.Form = append(c.op.Form, field)
	return err
}

// addAnswers reads a file of lines "NAME=VALUE". Empty lines and lines that begin with "#" are
// ignored.
func addAnswers(c *CommandLine, value string) error {
	text, err := c.readFile(value)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		if err := addString(c, line); err != nil {
			return err
		}
	}
	return nil
}
