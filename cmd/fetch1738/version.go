package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	fetch1738 "github.com/fetch1738/fetch1738"
)

// features are those of curl's that this program has, in curl's order and words.
const features = "AsynchDNS IPv6 Largefile libz SSL"

// showVersion writes what scripts look for in the output of curl -V.
func showVersion(w io.Writer) error {
	_, err := fmt.Fprintf(w, "fetch1738 %s (%s-%s) %s\nRelease-Date: %s\nProtocols: %s\nFeatures: %s\n",
		version(), runtime.GOOS, runtime.GOARCH, strings.Replace(runtime.Version(), "go", "Go/", 1),
		releaseDate(), strings.Join(fetch1738.Schemes(), " "), features)
	return err
}

// version is the program's, as the build knows it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return strings.Trim(info.Main.Version, "()")
	}
	return "devel"
}

// releaseDate is the day of the commit that the program was built from.
func releaseDate() string {
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
