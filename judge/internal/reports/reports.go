// Package reports has cases that are bug reports of other programs: what a server did, or what was in
// a text or a file, when a client failed. Each is a file of the folder cases, in the format of scripts
// of "fetch1738 serve", with fields in the comment at its beginning. docs/reports.md describes them.
package reports

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
)

//go:embed cases
var files embed.FS

// Cases returns all cases, in the order of their names. It panics if one of the files is wrong, which
// a test finds.
func Cases() (all []testcase.Case) {
	err := fs.WalkDir(files, "cases", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		c, err := parse(data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		c.Name = "reports/" + strings.TrimSuffix(strings.TrimPrefix(name, "cases/"), path.Ext(name))
		all = append(all, c)
		return nil
	})
	if err != nil {
		panic("judge: " + err.Error())
	}
	return all
}

// parse reads a case.
func parse(data []byte) (testcase.Case, error) {
	r, err := read(data)
	if err != nil {
		return testcase.Case{}, err
	}
	if err := r.validate(); err != nil {
		return testcase.Case{}, err
	}
	c := testcase.Case{
		Scheme: r.fields["scheme"], Task: testcase.Task(r.fields["task"]),
		Does: r.fields["does"], Source: r.fields["source"], Should: r.fields["should"],
		Gets: r.fields["error"] == "", Waits: r.fields["waits"] != "", Plain: r.fields["plain"] != "",
		Decided: r.fields["decided"], Avoided: r.fields["avoided"],
	}
	if c.Should == "" {
		c.Should = c.Expected()
	}
	return c.With(r.set), nil
}
