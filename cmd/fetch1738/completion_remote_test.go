package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
)

// hostileNames are names of files that a shell would interpret, or a terminal obey, or a URL read in
// another way.
var hostileNames = []string{
	"plain.txt", "a b", "it's", `q"uote`, "x $(touch PWNED) `touch PWNED`;touch PWNED&", "> PWNED", "=touch", "~root", "-rf", "*?", "[1-9]{a,b}", "!!", "%41", "#top",
	"esc\x1b]0;title\a\x1b[2J", "tab\there", `back\slash`, "ünï", "latin\xfc", "a=b:c@d", "c++", "x;type=d", "^x^y",
}

// typing drives a shell at a terminal of its own: it types a line, waits for what that prints, types
// keys, and prints what comes until they print the end.
const typing = `zmodload zsh/zpty
zpty p "$1"
zpty -w p "$2; printf '%s-%s\n' now ready"
while zpty -r p line && [[ $line != *now-ready* ]]; do :; done
zpty -w -n p "$3"
while zpty -r p line; do print -r -- "$line"; [[ $line == *all-done* ]] && break; done
zpty -d p`

// TestRemoteCompletions presses TAB behind URLs of directories, each with one file of a hostile name,
// and then Enter: the file must be fetched, and nothing else be done.
func TestRemoteCompletions(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, start := range map[string]string{
		"bash": "bash --norc --noprofile -i", "zsh": "zsh -f -i", "fish": "fish --no-config -i",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			installed(t, name)
			dir, keys := t.TempDir(), ""
			for i, hostile := range hostileNames {
				folder := filepath.Join(dir, "files", fmt.Sprint(i), "sub")
				if err := os.MkdirAll(folder, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(folder, hostile), fmt.Appendf(nil, "content-of-%d.\n", i), 0o644); err != nil {
					t.Skipf("this system has no file %q: %v", hostile, err)
				}
				keys += fmt.Sprintf("fetch1738 -s file://%s/files/%d/\t\t\r", dir, i)
			}
			keys += "printf '%s-%s\\n' all done\r"
			if err := os.Symlink(program, filepath.Join(dir, "fetch1738")); err != nil { // see testscript.Main
				t.Fatal(err)
			}
			script := filepath.Join(dir, "completion")
			done := runVerb(t, "completion", "", name)
			if done.Code != exit.OK {
				t.Fatalf("%+v", done)
			}
			if err := os.WriteFile(script, []byte(done.Out), 0o644); err != nil {
				t.Fatal(err)
			}
			begin := "export PATH=" + dir + ":$PATH; "
			switch name {
			case "zsh":
				begin += "autoload -Uz compinit; compinit -u -d " + dir + "/dump; "
			case "fish":
				begin = "set -x PATH " + dir + " $PATH; "
			}
			out := shell(t, "zsh", "-f", "-c", typing, "zsh", start, begin+"cd "+dir+"; source "+script, keys)
			for i, hostile := range hostileNames {
				if n := strings.Count(out, fmt.Sprintf("content-of-%d.", i)); n != 1 {
					t.Errorf("%q was fetched %d times", hostile, n)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "PWNED")); err == nil {
				t.Error("a name was run as a command")
			}
			if strings.Contains(out, "\x1b]0;title") {
				t.Error("an escape of a name reached the terminal")
			}
			if t.Failed() {
				t.Logf("%q", out)
			}
		})
	}
}
