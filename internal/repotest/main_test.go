// Package repotest has the tests of the repository's own rules: which package may import which, how
// large one may be, what each library is for, what the pages promise, their words, and that the recipes
// of docs/architecture.md work when they are followed to the letter. They run in the root of the module.
package repotest

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
