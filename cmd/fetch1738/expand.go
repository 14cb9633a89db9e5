package main

import (
	"errors"
	"os"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curlvar"
)

// expandPrefix before an option's long name expands variables in its value.
const expandPrefix = "expand-"

// addVariable is --variable.
func addVariable(c *commandLine, value string) error {
	err := c.global.variables.Set(value, curlvar.Sources{Getenv: os.LookupEnv, ReadFile: c.readFile})
	if errors.Is(err, curlvar.ErrIgnored) {
		c.warn("--variable: %v", err)
		return nil
	}
	return err
}

// expanding is o as --expand-NAME.
func (o option) expanding() option {
	set := o.set
	o.short, o.long = "", expandPrefix+o.long
	o.set = func(c *commandLine, value string) error {
		expanded, err := c.global.variables.Expand(value, func(text string) { c.warn("--%s: %s", o.long, text) })
		if err != nil {
			return err
		}
		return set(c, expanded)
	}
	return o
}
