// Package version has the version of the program.
package version

import (
	"runtime/debug"
	"strings"
)

// String returns the version from the build information, or "devel".
func String() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return strings.Trim(info.Main.Version, "()")
	}
	return "devel"
}

// Date returns the date of the commit that the program was built from.
func Date() string {
	const unreleased = "[unreleased]" // the word that curl uses
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
