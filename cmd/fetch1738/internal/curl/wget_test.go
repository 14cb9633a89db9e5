package curl_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/crawl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/get"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/mirror"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// What is to be used in place of an option of wget exists, and that option does not.
func TestWgetRows(t *testing.T) {
	tables := map[string][]curl.Option{"": curl.Options()}
	for _, c := range []cli.Command{mirror.Command(), crawl.Command()} {
		tables[c.Name] = c.Options()
	}
	verb, option := regexp.MustCompile(`fetch1738 (\w+)`), regexp.MustCompile(`(?:^| )(-(?:-[a-z-]+|[A-Za-z#0-9]+))`)
	var names []string
	for row := range strings.Lines(strings.TrimSpace(curl.WgetRows)) {
		name, use, _ := strings.Cut(strings.TrimSpace(row), ": ")
		names = append(names, name)
		if said, known := curl.RefusedOption(name, ""); known || use == "" {
			t.Errorf("--%s: %q, %s", name, use, said)
		}
		if slices.ContainsFunc(tables[""], func(o curl.Option) bool { return o.Long == name }) {
			t.Errorf("--%s is an option here", name)
		}
		for way := range strings.SplitSeq(use, ", or ") {
			table := tables[""]
			if found := verb.FindStringSubmatch(way); found != nil {
				if table = tables[found[1]]; table == nil {
					t.Errorf("--%s: %s is no verb", name, found[1])
				}
			}
			for _, found := range option.FindAllStringSubmatch(way, -1) {
				long, isLong := strings.CutPrefix(found[1], "--")
				for _, letter := range strings.Split(strings.TrimPrefix(found[1], "-"), "") {
					if !slices.ContainsFunc(table, func(o curl.Option) bool { return isLong && o.Long == long || !isLong && o.Short == letter }) {
						t.Errorf("--%s: there is no %s", name, found[1])
					}
				}
			}
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(names)) != len(names) {
		t.Errorf("not in order, or twice: %q", names)
	}
}

// wget has the options.
func TestWgetHasTheOptions(t *testing.T) {
	program, err := exec.LookPath("wget")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("wget is not installed:", err)
	}
	help, err := exec.Command(program, "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(strings.TrimSpace(curl.WgetRows)) {
		name, _, _ := strings.Cut(row, ":")
		if !regexp.MustCompile(`--` + name + `\b`).Match(help) {
			t.Errorf("wget has no --%s", name)
		}
	}
}

// People who know wget are told what to use; misspelt options are still those of curl.
func TestWgetHints(t *testing.T) {
	for args, want := range map[string]string{
		"--recursive URL":         "option --recursive: belongs to wget; use fetch1738 mirror URL DIR, or for a web site fetch1738 crawl",
		"--convert-links URL":     "option --convert-links: belongs to wget; there is no such option here",
		"--tires 3 URL":           "option --tires: is unknown",
		"--quota 3 URL":           "belongs to wget; use fetch1738 crawl --max-size",
		"--qoute 3 URL":           "did you mean --quote?",
		"-c URL":                  "to resume a file, as wget -c does: -C - -O",
		"-nc URL":                 "to keep existing files, as wget -nc does: --no-clobber",
		"-r http://h/":            "to copy a web site, similar to wget -r: fetch1738 crawl --http",
		"-r ftp://h/":             "to copy a folder, as wget -r does: fetch1738 mirror URL DIR",
		"-m gopher://h/":          "to copy a folder, as wget -m does: fetch1738 mirror URL DIR",
		"-r x ftp://h/":           "expected a range, such as 0-499, 500- or -500\n",
		"--server h news:a.b":     "did you mean --news-server?",
		"--server= ftp://h/":      "did you mean --news-server?",
		"--page-requisites ftp:x": "belongs to wget; use fetch1738 crawl",
	} {
		var said strings.Builder
		std := stdio.Streams{In: strings.NewReader(""), Out: io.Discard, Err: &said}
		if code := get.Run(context.Background(), append([]string{"-q"}, strings.Fields(args)...), std, get.Verbs{}); code != 2 || !strings.Contains(said.String(), want) {
			t.Errorf("%s: exit code %d, %q; want %q", args, code, said.String(), want)
		}
	}
}
