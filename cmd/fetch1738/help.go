package main

import (
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	fetch1738 "github.com/fetch1738/fetch1738"
)

const usageLine = "Usage: fetch1738 [options] URL...\n"

// showHelp prints the options of a group; "" is the important ones, "all" all.
func showHelp(w io.Writer, group string) error {
	var b strings.Builder
	b.WriteString(usageLine)
	if group == "" {
		group = "important"
		for _, c := range commands() {
			fmt.Fprintf(&b, "       fetch1738 %-8s %s\n", c.name, c.summary)
		}
		b.WriteString("\n")
	}
	found := false
	for _, o := range options() {
		if group == "all" || slices.Contains(strings.Fields(o.groups), group) {
			b.WriteString(helpLine(o))
			found = true
		}
	}
	switch {
	case !found:
		fmt.Fprintf(&b, "There is no group %q. The groups are:\n  %s\n", group, strings.Join(groups(), " "))
	case group == "important":
		fmt.Fprintf(&b, "\nMore: --help all, or --help and one of\n  %s\n", strings.Join(groups(), " "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func helpLine(o option) string {
	letter := "    "
	if o.short != "" {
		letter = "-" + o.short + ", "
	}
	name := "--" + o.long
	if o.arg != "" {
		name += " " + o.arg
	}
	return fmt.Sprintf(" %s%-24s %s\n", letter, name, o.help)
}

func groups() []string {
	names := map[string]bool{"all": true}
	for _, o := range options() {
		for name := range strings.FieldsSeq(o.groups) {
			names[name] = true
		}
	}
	delete(names, "important")
	return slices.Sorted(maps.Keys(names))
}

// version is the program's, as the build knows it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return strings.Trim(info.Main.Version, "()")
	}
	return "devel"
}

func showVersion(w io.Writer) error {
	_, err := fmt.Fprintf(w, "fetch1738 %s\nProtocols: %s\nFeatures: Largefile SSL\n", version(), strings.Join(fetch1738.Builtin(nil).Schemes(), " "))
	return err
}
