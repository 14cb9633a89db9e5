package curl

import (
	"errors"
	"os"
)

// expandPrefix is the prefix of a long option name that expands variables in the value.
const expandPrefix = "expand-"

// addVariable is --variable.
func addVariable(c *CommandLine, value string) error {
	err := c.variables.set(value, variableSources{getenv: os.LookupEnv, readFile: c.readFile})
	if errors.Is(err, errIgnored) {
		c.warn("--variable: %v", err)
		return nil
	}
	return err
}

// expanding returns o as --expand-NAME.
func (o Option) expanding() Option {
	set := o.Set
	o.Short, o.Long = "", expandPrefix+o.Long
	o.Set = func(c *CommandLine, value string) error {
		expanded, err := c.variables.expand(value, func(text string) { c.warn("--%s: %s", o.Long, text) })
		if err != nil {
			return err
		}
		return set(c, expanded)
	}
	return o
}
