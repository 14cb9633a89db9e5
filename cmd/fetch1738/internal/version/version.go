// Package version has the version of the program.
package version

import (
	_ "embed"
	"runtime/debug"
	"strings"
	"time"
)

// archive has the commit that a source archive was made from, its date and the last release.
// "git archive" writes them (gitattributes(5), export-subst). In a checkout, and in a module that
// the go command downloads, the file keeps its placeholders.
//
//go:embed archive.txt
var archive string

// The words in place of a date: the first is curl's.
const (
	unreleased = "[unreleased]" // not a commit: a changed checkout, or a source that nothing describes
	unknown    = "[unknown]"    // a release whose date is not in the program
)

// String returns the version without a "v": 0.1.0 for a release, the pseudo-version of Go for
// another commit, with "+dirty" if files were changed. In an archive of a commit that is not a
// release it is "devel-" and the commit, and "devel" if nothing is known.
func String() string {
	version, _ := current()
	return version
}

// Date returns the date of the commit that the program was built from, as 2026-11-23, or a word in
// brackets.
func Date() string {
	_, date := current()
	return date
}

// current returns the version and the date of this program.
func current() (version, date string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	return describe(info, archive)
}

// describe returns the version and the date of a program with this build information and this text
// in archive.txt. An archive comes first: if the source of an archive is kept in a repository of
// a distribution, Go stamps a commit of that repository.
func describe(info *debug.BuildInfo, archive string) (version, date string) {
	if fields := strings.Fields(archive); len(fields) > 1 && !strings.HasPrefix(archive, "$Format") {
		commit, date := fields[0], fields[1]
		// For the third commit after a release, git describes v0.1.0-3-g5a4eb82.
		if tag, isTag := strings.CutPrefix(fields[len(fields)-1], "v"); isTag && !strings.Contains(tag, "-g") {
			return tag, date
		}
		return "devel-" + commit[:min(12, len(commit))], date
	}

	version, isVersion := strings.CutPrefix(info.Main.Version, "v")
	if !isVersion { // "(devel)": no information from a VCS, as with "go run"
		return "devel", unreleased
	}
	if strings.Contains(version, "+dirty") {
		return version, unreleased
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			date, _, _ = strings.Cut(s.Value, "T")
			return version, date
		}
	}
	// "go install …@version" has no more than the version. A pseudo-version has its time.
	if parts := strings.Split(version, "-"); len(parts) > 2 {
		stamp := parts[len(parts)-2]
		stamp = stamp[strings.LastIndexByte(stamp, '.')+1:]
		if t, err := time.Parse("20060102150405", stamp); err == nil {
			return version, t.Format(time.DateOnly)
		}
	}
	return version, unknown
}
