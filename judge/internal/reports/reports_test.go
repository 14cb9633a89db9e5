package reports

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// TestCases reads all cases, which panics if one is wrong, and looks for names that are there twice in
// another letter case.
func TestCases(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range Cases() {
		if name := strings.ToLower(c.Name); name != c.Name || seen[name] {
			t.Errorf("%s has capitals, or is there twice", c.Name)
		}
		seen[c.Name] = true
		if !strings.HasSuffix(c.Does, ".") || !strings.HasSuffix(c.Should, ".") {
			t.Errorf("%s: a sentence has no end: %q %q", c.Name, c.Does, c.Should)
		}
	}
}

// TestCasesAreShort limits the size of a case: people read it. Large texts are made by "repeat"
// and "size".
func TestCasesAreShort(t *testing.T) {
	_ = fs.WalkDir(files, "cases", func(name string, d fs.DirEntry, err error) error {
		if info, err := d.Info(); err == nil && !d.IsDir() && info.Size() > 6<<10 {
			t.Errorf("%s has %d bytes", name, info.Size())
		}
		return err
	})
}

// TestMistakes reads cases that are wrong.
func TestMistakes(t *testing.T) {
	const head = "# source: a/b#1 (2024)\n# scheme: ftp\n# does: It does.\n"
	for want, text := range map[string]string{
		`the field "scheme" is missing`:            "# source: a/b#1 (2024)\n# task: list\n# names: []\n",
		`there is no field "tsak"`:                 head + "# tsak: list\n",
		`the field "found" is for extract`:         head + "# task: list\n# names: []\n# found: []\n",
		`the task list needs one of`:               head + "# task: list\n",
		`"a/b" has not the form`:                   strings.Replace(head, "#1 (2024)", "", 1) + "# task: download\n",
		`"x" is neither allowed nor required`:      head + "# task: download\n# error: x\n",
		`the field "task" is there twice`:          head + "# task: list\n# task: tree\n",
		`is no field as in`:                        head + "#task\n",
		`there is no server for the file "pub/a"`:  head + "# task: tree\n-- pub/a --\nx\n",
		`there is no field "protocol\":\"ftp\"}x"`: "#protocol\":\"ftp\"}x: 1\n" + head,
	} {
		if _, err := parse([]byte(text)); err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestParts makes files of parts.
func TestParts(t *testing.T) {
	for text, want := range map[string]string{
		`"x"`:                                  "x",
		`{"lines": ["a"]}`:                     "a\r\n",
		`["x", {"text": "y"}]`:                 "xy",
		`[{"head": ["A: b"], "block": "xyz"}]`: "A: b\r\nContent-Length: 3\r\n\r\nxyz\r\n\r\n",
		`[{"head": ["content-length: 9"], "block": "xyz", "end": "\r\n"}]`: "content-length: 9\r\n\r\nxyz\r\n",
		`[{"file": "abc", "cut": 2}]`:                                      "a",
	} {
		if got, err := file(text); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
	if got, err := file(`[{"file": "abc", "gzip": true}]`); err != nil || !strings.HasPrefix(string(got), "\x1f\x8b") {
		t.Errorf("%q, %v", got, err)
	}
	for _, text := range []string{`[{"file": "abc", "cut": 4}]`, `[{"haed": []}]`, `["a"`, `5`, `[{"file": "abc", "cut": -1}]`} {
		if got, err := file(text); err == nil {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// FuzzParse reads cases. No text may panic, and what is accepted has all that is required.
func FuzzParse(f *testing.F) {
	f.Add([]byte("# source: a/b#1 (2024)\n# scheme: ftp\n# task: list\n# does: It does.\n# names: [\"a\"]\n{\"protocol\": \"ftp\"}\n-- a --\nx\n"))
	f.Add([]byte("# task: extract\n#    more\n-- input --\nx\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parse(data)
		if err == nil && (c.Scheme == "" || c.Task == "" || c.Does == "") {
			t.Errorf("%+v", c)
		}
		_, _ = file(string(data))
	})
}
