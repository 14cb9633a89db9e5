package curl

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/telnet"
)

func addTelnetOption(c *CommandLine, value string) error {
	err := c.op.Telnet.Set(value)
	bad, ok := errors.AsType[*telnet.OptionError](err)
	switch {
	case err == nil:
		return nil
	case ok && bad.Unknown():
		return localerr.New(localerr.NoOption, err)
	}
	return localerr.New(localerr.OptionSyntax, err)
}

func setTelnetFilter(c *CommandLine, value string) error {
	switch value {
	case "safe", "off":
		c.op.Telnet.Bare = value == "off"
		return nil
	}
	return errors.New("expected safe or off")
}

func setTelnetScript(c *CommandLine, name string) error {
	var in io.Reader = c.std.In
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return localerr.New(localerr.Read, err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxScript+1))
	if err != nil {
		return localerr.New(localerr.Read, err)
	}
	c.op.Telnet.Script, err = parseScript(string(text))
	return err
}

// parseScript parses a script. Without an error, the result is not nil.
func parseScript(text string) ([]plan.ScriptLine, error) {
	if len(text) > maxScript {
		return nil, fmt.Errorf("the script is longer than %d bytes", maxScript)
	}
	script := []plan.ScriptLine{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if words := strings.TrimLeft(line, " \t"); words == "" || words[0] == '#' {
			continue
		}
		l, err := parseScriptLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d of the script: %w", number, err)
		}
		l.Number = number
		script = append(script, l)
	}
	return script, nil
}

// parseScriptLine parses a line that is not empty and not a comment.
func parseScriptLine(line string) (plan.ScriptLine, error) {
	verb, arg, _ := strings.Cut(strings.TrimLeft(line, " \t"), " ")
	l := plan.ScriptLine{Verb: verb, Enter: true}
	switch verb {
	case "timeout":
		n, err := strconv.ParseFloat(strings.TrimSpace(arg), 64)
		if err != nil || !(n >= 1e-9) || n > math.MaxInt32 {
			return l, errors.New("timeout requires a number of seconds")
		}
		l.Timeout = time.Duration(n * float64(time.Second))
		return l, nil
	case "send":
		arg, l.Enter = cutEnter(arg)
	case "expect":
		if arg == "" {
			return l, errors.New("expect requires a text")
		}
	default:
		return l, fmt.Errorf("unknown command %s; expected expect, send or timeout", fetch.Printable(verb))
	}
	var err error
	l.Text, err = unescapeScript(arg)
	return l, err
}

// cutEnter removes \c from the end of a text. enter reports whether the Enter key follows the
// text, which \c prevents.
func cutEnter(text string) (rest string, enter bool) {
	rest, found := strings.CutSuffix(text, `\c`)
	backslashes := len(rest) - len(strings.TrimRight(rest, `\`))
	if !found || backslashes%2 == 1 {
		return text, true
	}
	return rest, false
}

// unescapeScript replaces escapes such as \r, \\ and \x1b.
func unescapeScript(text string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch {
		case i == len(text):
			return "", errors.New(`incomplete escape sequence \ at the end`)
		case strings.IndexByte(`rnt\`, text[i]) >= 0:
			b.WriteByte("\r\n\t\\"[strings.IndexByte(`rnt\`, text[i])])
		case text[i] == 'x' && i+2 < len(text):
			n, err := strconv.ParseUint(text[i+1:i+3], 16, 8)
			if err != nil {
				return "", fmt.Errorf(`\%s: \x requires two hexadecimal digits`, fetch.Printable(text[i:i+3]))
			}
			b.WriteByte(byte(n))
			i += 2
		default:
			return "", fmt.Errorf(`unknown escape sequence \%s`, fetch.Printable(text[i:i+1]))
		}
	}
	return b.String(), nil
}

// maxScript is the maximum size of a script, in bytes.
const maxScript = 1 << 20
