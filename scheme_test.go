package fetch1738

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// TestNoPrivateSchemes (cases 82, 93 and 94: CVE-2024-8383, CVE-2006-5925, CVE-2005-2929): a scheme
// that is not bundled is passed to no other program and to no other scheme.
func TestNoPrivateSchemes(t *testing.T) {
	r := new(Resolver)
	defer r.Close()
	for _, url := range []string{"lynxexec:id", "lynxcgi:/bin/id", "lynxprog:id", "smb://h/x", "ssh://-oProxyCommand=id/", "git::ssh://h/", "rlogin://h/", "tn3270://h/", "snews:a@b", "javascript:x"} {
		if _, err := r.Get(t.Context(), url); !errors.Is(err, fetch.ErrUnsupported) && !errors.Is(err, fetch.ErrBadURL) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// The schemes of this table and of package locator are the same. The schemes of a row are twins or
// have the same type.
func TestSchemeTable(t *testing.T) {
	low := make(map[string]bool)
	for _, s := range locator.Schemes() {
		low[s.Name] = true
	}
	for _, row := range Builtin() {
		if row.Port != 0 || len(row.Names) == 0 || row.New == nil {
			t.Errorf("%+v: the port belongs into package locator", row)
		}
		for _, name := range row.Names {
			if !low[name] {
				t.Errorf("%s has no row in package locator, or two here", name)
			}
			delete(low, name)
			if s, _ := locator.SchemeOf(name); s.Twin != "" && !slices.Contains(row.Names, s.Twin) {
				t.Errorf("%s is not in the row of its twin %s", name, s.Twin)
			}
		}
	}
	for name := range low {
		t.Errorf("%s has no row here", name)
	}
}

// TestReadmeTable compares the table in the README with the table of schemes.
func TestReadmeTable(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## Schemes\n")
	rows := make(map[string][]string) // the cells by scheme
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 9 {
			continue
		}
		for name := range strings.SplitSeq(regexp.MustCompile(`\]\([^)]*\)|[\[ ]`).ReplaceAllString(cells[1], ""), ",") {
			rows[name] = cells
		}
	}
	for _, other := range []string{"scheme", "---", "anyother"} {
		if rows[other] == nil {
			t.Errorf("the table has no row %q", other)
		}
		delete(rows, other)
	}
	r := new(Resolver)
	defer r.Close()
	for _, name := range Schemes() {
		cells, can := rows[name], r.Can(name)
		if cells == nil {
			t.Errorf("no row for %s", name)
			continue
		}
		if has := func(i int) bool { return strings.TrimSpace(cells[i]) != "–" }; has(5) != (can.Replace || can.Update) {
			t.Errorf("%s: the README has uploads %q, but the abilities are %+v", name, cells[5], can)
		}
		delete(rows, name)
	}
	for name := range rows {
		t.Errorf("a row for %s, which is not bundled", name)
	}
}
