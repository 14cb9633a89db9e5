package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A version is that of a release, without the v of its tag: 0.1.0, 0.2.0-rc.1, or for a commit
// without a tag the pseudo-version of the go command, such as 0.1.1-0.20261123094608-5a4eb82a1b2c.
type version string

// stamped returns the version of a program, and the time of the commit that it was built from.
func stamped(program string) (version, time.Time, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return "", time.Time{}, err
	}
	name, found := strings.CutPrefix(info.Main.Version, "v")
	switch {
	case !found:
		return "", time.Time{}, errors.New("the go command found no version; a release is built in a clone of the repository, with git")
	case strings.HasSuffix(name, "+dirty"):
		return "", time.Time{}, errors.New("the checkout has changes that are not committed; a release is built from a commit")
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			date, err := time.Parse(time.RFC3339, s.Value)
			return version(name), date.UTC(), err
		}
	}
	return "", time.Time{}, fmt.Errorf("version %s has no time", name)
}

// split returns the version before and after the first hyphen.
func (v version) split() (number, pre string) {
	number, pre, _ = strings.Cut(string(v), "-")
	return number, strings.ReplaceAll(pre, "-", ".")
}

// tilde returns the version for deb and rpm, in which ~ is less than the end: 0.2.0~rc.1 is older
// than 0.2.0.
func (v version) tilde() string {
	number, pre := v.split()
	if pre == "" {
		return number
	}
	return number + "~" + pre
}

// alpine returns the version for apk, which has only some words for earlier versions, each with a
// number: 0.2.0_rc1, and 0.1.1_pre20261123094608 for a pseudo-version.
func (v version) alpine() (string, error) {
	number, pre := v.split()
	if pre == "" {
		return number, nil
	}
	word := strings.TrimRight(pre, "0123456789.")
	rest := strings.TrimPrefix(pre[len(word):], ".")
	switch word {
	case "alpha", "beta", "rc":
		if !strings.Contains(rest, ".") {
			return number + "_" + word + rest, nil
		}
	default:
		for part := range strings.SplitSeq(pre, ".") {
			if _, err := time.Parse("20060102150405", part); err == nil {
				return number + "_pre" + part, nil
			}
		}
	}
	return "", fmt.Errorf("apk has no version for %s; the word after the hyphen must be alpha, beta or rc, with at most one number", v)
}
