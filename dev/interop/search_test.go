package interop

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/dev/interop/inn"
)

// searched runs fetch1738 search and returns its output and its exit code.
func searched(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	cmd := exec.Command(buildCommand(t), append([]string{"search", "--disable"}, args...)...)
	var text, failure strings.Builder
	cmd.Stdout, cmd.Stderr = &text, &failure
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if failure.Len() > 0 && cmd.ProcessState.ExitCode() != 1 {
		t.Logf("search %q: %s", args, failure.String())
	}
	return text.String(), cmd.ProcessState.ExitCode()
}

// TestSearchNews searches real news servers, which have XPAT.
func TestSearchNews(t *testing.T) {
	article := func(id, subject string) []byte {
		return []byte("Path: not-for-mail\r\nFrom: Lab <lab@fetch1738.dev>\r\nNewsgroups: local.test\r\nSubject: " + subject +
			"\r\nDate: Sat, 04 Mar 1995 05:06:07 GMT\r\nMessage-ID: <" + id + "@fetch1738.dev>\r\n\r\nhello\r\n")
	}
	articles := map[string][]byte{
		"<one@fetch1738.dev>": article("one", "The history of Gopher, part [1]"),
		"<two@fetch1738.dev>": article("two", "=?utf-8?B?R09QSEVSIG7DpGNoc3Rlcw==?="),
	}
	for name, start := range map[string]func(*testing.T) string{
		"inn": func(t *testing.T) string {
			srv := inn.Start(t, nil, nil)
			for id, text := range articles { // one after the other, so that both have arrived
				srv.Feed(t, map[string][]byte{id: text})
			}
			return srv.Addr
		},
		"leafnode": func(t *testing.T) string {
			return startLeafnode(t, articles["<one@fetch1738.dev>"], articles["<two@fetch1738.dev>"])
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			group := "nntp://" + start(t) + "/local.test"
			const one, two = "1995-03-04 Lab: The history of Gopher, part [1]", "1995-03-04 Lab: GOPHER nächstes"
			for _, tc := range []struct {
				words  []string
				titles []string
			}{
				{[]string{"gopher"}, []string{one, two}},
				{[]string{"GOPHER", "hist"}, []string{one}},
				{[]string{"part [1]"}, []string{one}},
				{[]string{"NÄCHSTES"}, []string{two}},
				{[]string{"lab@fetch1738"}, []string{one, two}},
				{[]string{"nothing"}, nil},
			} {
				out, code := searched(t, append([]string{"-v", group}, tc.words...)...)
				found := make(map[string]bool)
				for line := range strings.Lines(out) {
					url, title, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
					found[title] = strings.HasPrefix(url, group+"/")
				}
				want := 0
				if tc.titles == nil {
					want = 1
				}
				if len(found) != len(tc.titles) || code != want {
					t.Errorf("%q: code %d, %s", tc.words, code, out)
				}
				for _, title := range tc.titles {
					if !found[title] {
						t.Errorf("%q has not found %q: %s", tc.words, title, out)
					}
				}
			}
			if out, _ := searched(t, group, "gopher"); strings.Count(out, "\n") != 2 {
				t.Errorf("found %q", out)
			}
		})
	}
}

// TestSearchGophernicus searches with a program of gophernicus, by its URL and by that of its menu.
func TestSearchGophernicus(t *testing.T) {
	t.Parallel()
	srv := startGophernicus(t)
	srv.plant(t)
	want := "gopher://" + srv.addr + "/0/docs/hello.txt\tHello\n"
	for _, path := range []string{"/7/cgi-bin/search", "/1/map"} {
		if out, code := searched(t, "gopher://"+srv.addr+path, "two", "words"); out != want || code != 0 {
			t.Errorf("%s: code %d, %q", path, code, out)
		}
	}
	if out, code := searched(t, "gopher://"+srv.addr+"/7/nothing-there", "two"); out != "" || code != 78 {
		t.Errorf("a search that does not exist: code %d, %q", code, out)
	}
}
