// Package version tells which version of the program this is.
package version

import (
	"runtime/debug"
	"strings"
)

// String is the program's, as the build knows it.
func String() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return strings.Trim(info.Main.Version, "()")
	}
	return "devel"
}

// Date is the day of the commit that the program was built from.
func Date() string {
	const unreleased = "[unreleased]" // as curl has it
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unreleased
	}
	date := unreleased
	for _, s := range info.Settings {
		switch day, _, _ := strings.Cut(s.Value, "T"); {
		case s.Key == "vcs.time":
			date = day
		case s.Key == "vcs.modified" && s.Value == "true":
			return unreleased
		}
	}
	return date
}
