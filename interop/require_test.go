package interop

import (
	"os"
	"os/exec"
	"testing"
)

// requireTool finds a program that the test needs. Where it is missing the test
// is skipped, except in CI, which must have it.
func requireTool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		lacking(t, name+" is not installed")
	}
	return path
}

// requireRoot is requireTool for tests that only root can do.
func requireRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		lacking(t, "this needs root")
	}
}

// lacking ends a test that cannot run here.
func lacking(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}
