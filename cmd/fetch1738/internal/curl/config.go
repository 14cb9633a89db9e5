package curl

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
)

// maxConfigs limits the nesting depth of configuration files.
const maxConfigs = 10

// readConfig reads options from a file in curl's syntax:
//
//	# a comment
//	url = "ftp://ftp.example.org/README"
//	output: readme
//	silent
//	-w "%{size_download}\n"
func readConfig(c *CommandLine, name string) error {
	if c.configs == maxConfigs {
		return errors.New("configuration files are nested too deeply")
	}
	b, err := c.readFile(name)
	if err != nil {
		return err
	}
	c.configs++
	defer func() { c.configs-- }()
	number := 0
	for line := range strings.Lines(string(b)) {
		number++
		err := c.configLine(strings.TrimRight(line, "\r\n"))
		switch localerr.KindOf(err) {
		case 0, localerr.Usage:
		default: // such as a file that cannot be read
			return err
		}
		if err != nil {
			return localerr.Usagef("%s:%d: %v", name, number, err)
		}
	}
	return nil
}

// configLine applies the option of one line.
func (c *CommandLine) configLine(line string) error {
	name, value, err := splitConfigLine(line)
	switch {
	case err != nil || name == "":
		return err
	case strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "--"):
		args := []string{name}
		if value != nil {
			args = append(args, *value)
		}
		own := c.table
		c.table = sharedLetters(own)
		defer func() { c.table = own }()
		return c.add(args)
	}
	return c.setOption(strings.TrimPrefix(name, "--"), value)
}

// setOption applies the option with the given long name.
func (c *CommandLine) setOption(name string, value *string) error {
	for _, o := range c.table {
		if o.Arg != "" && name == expandPrefix+o.Long {
			o = o.expanding()
		}
		no := o.Arg == "" && name == "no-"+o.Long
		if name != o.Long && !no {
			continue
		}
		switch {
		case o.Arg == "" && value != nil:
			return fmt.Errorf("option --%s: does not take a value", name)
		case o.Arg != "" && value == nil:
			return fmt.Errorf("option --%s: requires parameter", name)
		case value == nil:
			on := fmt.Sprint(!no)
			value = &on
		}
		if err := o.Set(c, *value); err != nil {
			return fmt.Errorf("option --%s: %w", name, err)
		}
		return nil
	}
	name, _, _ = strings.Cut(name, "=") // a secret may follow the "="
	return errors.New(unknownOption(name, "", c.table))
}

// splitConfigLine returns the option name and value of a line. The value is nil for a line without a
// value; the name is empty for a line without an option.
func splitConfigLine(line string) (name string, value *string, err error) {
	const space = " \t\v\f"
	line = strings.TrimLeft(line, space)
	if line == "" || strings.IndexByte("#/*", line[0]) >= 0 {
		return "", nil, nil
	}
	separators := space
	if line[0] != '-' {
		separators += "=:"
	}
	end := strings.IndexAny(line, separators)
	if end < 0 {
		return line, nil, nil
	}
	name, line = line[:end], strings.TrimLeft(line[end:], separators)
	var v string
	switch {
	case line == "" || line[0] == '#':
		return name, nil, nil
	case line[0] == '"':
		v, line, err = unquoteConfig(line[1:])
	default:
		end := strings.IndexAny(line, space)
		if end < 0 {
			end = len(line)
		}
		v, line = line[:end], line[end:]
	}
	if line = strings.TrimLeft(line, space); err == nil && line != "" && line[0] != '#' {
		err = fmt.Errorf("option %s: a value that contains white space requires double quotes", name)
	}
	return name, &v, err
}

// unquoteConfig reads up to the closing quote.
func unquoteConfig(s string) (value, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '"' {
			return b.String(), s[i+1:], nil
		}
		if c == '\\' && i+1 < len(s) {
			i++
			if c = s[i]; strings.IndexByte("tnrv", c) >= 0 {
				c = "\t\n\r\v"[strings.IndexByte("tnrv", c)]
			}
		}
		b.WriteByte(c)
	}
	return "", "", errors.New("missing closing quote")
}

// InFile reports whether a configuration file is being read.
func (c *CommandLine) InFile() bool { return c.configs > 0 }
