package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
)

// installed finds a program that the test needs. Where it is missing the test is
// skipped, except in CI, which must have it.
func installed(t *testing.T, name string) string {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("%s is not installed: %v", name, err)
	}
	return program
}

// shell runs a script with a shell that the machine may lack.
func shell(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(installed(t, name), args...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir, "TERM=dumb"}
	for _, file := range []string{"notes.txt", "folder/inside.txt"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(cmd.Dir, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(cmd.Dir, file), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

// completions is what a shell has to offer for some beginnings.
var completions = []struct {
	typed   string   // the last word is to be completed
	offered []string // and nothing else
}{
	{"--ftp-meth", []string{"--ftp-method"}},
	{"--ftp-method ", []string{"multicwd", "nocwd", "singlecwd"}},
	{"-s --ftp-method no", []string{"nocwd"}},
	{"pars", []string{"parse"}},
	{"parse --", []string{"--json", "--strict"}},
	{"archie --search s", []string{"substring"}},
	{"--output-dir ", []string{"folder"}},
	{"-s --output no", []string{"notes.txt"}},
}

func TestCompletions(t *testing.T) {
	for name, offer := range map[string]func(t *testing.T, script, typed string) string{"bash": offeredByBash, "fish": offeredByFish, "zsh": offeredByZsh} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := filepath.Join(t.TempDir(), "completion")
			done := runVerb(t, "completion", "", name)
			if done.Code != exit.OK {
				t.Fatalf("%+v", done)
			}
			if err := os.WriteFile(script, []byte(done.Out), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, c := range completions {
				var got []string
				for word := range strings.FieldsSeq(offer(t, script, c.typed)) {
					got = append(got, strings.TrimRight(word, "/"))
				}
				slices.Sort(got)
				got = slices.Compact(got)
				if !slices.Equal(got, c.offered) {
					t.Errorf("fetch1738 %s<TAB>: %q, want %q", c.typed, got, c.offered)
				}
			}
		})
	}
}

// offeredByBash asks bash as it asks itself: what the function does not know is
// completed as a file's name.
func offeredByBash(t *testing.T, script, typed string) string {
	return shell(t, "bash", "--norc", "-c", `source "$1"
compopt() { files=; }
COMP_WORDS=(fetch1738 $2) files=1
[[ $2 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_fetch1738
if ((${#COMPREPLY[@]} == 0)) && [[ $files ]]; then compgen -f -- "${COMP_WORDS[COMP_CWORD]}"; else printf '%s\n' "${COMPREPLY[@]}"; fi`, "bash", script, typed)
}

func offeredByFish(t *testing.T, script, typed string) string {
	out := shell(t, "fish", "--no-config", "-c", `source $argv[1]; complete -C "fetch1738 $argv[2]"`, script, typed)
	var words strings.Builder
	for line := range strings.Lines(out) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		words.WriteString(word + "\n")
	}
	return words.String()
}

// zshCapture makes an interactive zsh tell what its completion adds, between two
// lines with a NUL.
const zshCapture = `
PROMPT=
autoload -Uz compinit; compinit -u -d "$SCRIPT.dump"
source "$SCRIPT"
bindkey '^I' complete-word
edge() { print -r -- $'\0' }
compprefuncs=(edge)
comppostfuncs=(edge exit)
compadd() {
	local -a hits
	if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
	builtin compadd -O hits "$@"
	(($#hits)) && print -rl -- $hits
	builtin compadd "$@"
}
print ok
`

// offeredByZsh types into a zsh of its own.
func offeredByZsh(t *testing.T, script, typed string) string {
	capture := filepath.Join(t.TempDir(), "capture")
	if err := os.WriteFile(capture, []byte(strings.ReplaceAll(zshCapture, "$SCRIPT", script)), 0o644); err != nil {
		t.Fatal(err)
	}
	return shell(t, "zsh", "-f", "-c", `zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "source $1"
while zpty -r z line && [[ $line != ok* ]]; do :; done
zpty -w -n z "fetch1738 $2"$'\t'
edges=0
while ((edges < 2)) && zpty -r z line; do
	if [[ $line == *$'\0'* ]]; then ((++edges)); elif ((edges)); then print -r -- "${line%%[[:space:]]#}"; fi
done
zpty -d z`, "zsh", capture, typed)
}
