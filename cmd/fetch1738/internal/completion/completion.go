// Package completion implements the verb completion, which prints shell completions.
package completion

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
)

const help = `Usage: fetch1738 completion bash|zsh|fish

Prints shell completions for verbs, options, option values, and paths of URLs on
servers that you have used before. FETCH1738_COMPLETION=off in the environment
switches the last off; then the program does not note which servers it uses.

  $ source <(fetch1738 completion bash)
  $ fetch1738 completion zsh > "${fpath[1]}/_fetch1738"
  $ fetch1738 completion fish > ~/.config/fish/completions/fetch1738.fish
`

// Command returns the verb; all returns all verbs.
func Command(all func() []cli.Command) cli.Command {
	return cli.New("completion", "print completions for bash, zsh or fish", help, func(v *cli.Verb) func(context.Context) int { return define(v, all) })
}

// define returns the function of the verb, which has no flags.
func define(v *cli.Verb, all func() []cli.Command) func(context.Context) int {
	return func(ctx context.Context) int {
		if v.NArg() == 1 && v.Arg(0) == "remote" { // for the scripts
			return completeRemote(ctx, v)
		}
		shells := map[string]func(io.Writer, []cli.Command) error{"bash": completeBash, "zsh": completeZsh, "fish": completeFish}
		write := shells[v.Arg(0)]
		if v.NArg() != 1 || write == nil {
			return v.Complain("expected bash, zsh or fish")
		}
		if err := write(v.Std.Out, all()); err != nil {
			return v.FailOutput(err)
		}
		return exit.OK
	}
}

// spellingsOf returns the names of o with their dashes.
func spellingsOf(o curl.Option) []string {
	names := []string{"--" + o.Long}
	if o.Short != "" {
		names = append(names, "-"+o.Short)
	}
	return names
}

// spellings returns the names of all options of table with their dashes.
func spellings(table []curl.Option) (names []string) {
	for _, o := range table {
		names = append(names, spellingsOf(o)...)
	}
	return names
}

// valued returns the options of all verbs that take a value, each name once.
func valued(all []cli.Command) (list []curl.Option) {
	table := curl.Options()
	for _, c := range all {
		table = append(table, c.Options()...)
	}
	known := make(map[string]bool)
	for _, o := range table {
		if o.Arg != "" && !known[o.Long] {
			known[o.Long] = true
			list = append(list, o)
		}
	}
	return list
}

// choices returns the possible values of o, or nil if they cannot be listed. An option with choices
// has a value named like "this|that".
func choices(o curl.Option) []string {
	if !strings.Contains(o.Arg, "|") {
		return nil
	}
	return strings.Split(o.Arg, "|")
}

// takesFile reports whether the value of o is a file name.
func takesFile(o curl.Option) bool { return strings.HasPrefix(o.Arg, "FILE") }

func takesDir(o curl.Option) bool { return o.Arg == "DIR" }

// completeBash writes a function for bash. It completes the value of the preceding option, or else
// the options of the verb. bash itself completes file names.
func completeBash(w io.Writer, all []cli.Command) error {
	b := new(script)
	b.line("%s", madeBy("bash"))
	b.WriteString(remoteBash)
	b.line("_fetch1738() {")
	b.line("    local word=${COMP_WORDS[COMP_CWORD]} options")
	b.line("    COMPREPLY=()")
	b.line("    _fetch1738_remote \"$2\" && return")
	b.line("    case ${COMP_WORDS[COMP_CWORD-1]} in")
	for _, o := range valued(all) {
		switch names := strings.Join(spellingsOf(o), "|"); {
		case takesFile(o):
			b.line("    %s) return ;;", names)
		case takesDir(o):
			b.line(`    %s) COMPREPLY=($(compgen -d -- "$word")); return ;;`, names)
		default:
			b.line(`    %s) compopt +o default; COMPREPLY=($(compgen -W '%s' -- "$word")); return ;;`, names, strings.Join(choices(o), " "))
		}
	}
	b.line("    esac")
	b.line("    case ${COMP_WORDS[1]} in")
	for _, c := range all {
		b.line("    %s) options='%s' ;;", c.Name, strings.Join(spellings(c.Options()), " "))
	}
	b.line("    *) options='%s' ;;", strings.Join(spellings(curl.Options()), " "))
	b.line("    esac")
	b.line("    if [[ $word == -* ]]; then")
	b.line(`        COMPREPLY=($(compgen -W "$options" -- "$word"))`)
	b.line("    elif ((COMP_CWORD == 1)); then")
	b.line(`        COMPREPLY=($(compgen -W '%s' -- "$word"))`, strings.Join(cli.Names(all), " "))
	b.line("    fi")
	b.line("}")
	b.line("complete -o default -F _fetch1738 fetch1738")
	return b.to(w)
}

// completeZsh writes a function for zsh's _arguments.
func completeZsh(w io.Writer, all []cli.Command) error {
	b := new(script)
	b.line("#compdef fetch1738")
	b.line("%s", madeBy("zsh"))
	b.WriteString(remoteZsh)
	b.line("_fetch1738() {")
	b.line("  _fetch1738_remote && return")
	b.line("  local -a verbs=(")
	for _, c := range all {
		b.line("    %s", quoteShell(c.Name+":"+c.Summary))
	}
	b.line("  )")
	b.line("  if ((CURRENT > 2)); then")
	b.line("    case $words[2] in")
	for _, c := range all {
		b.line("    %s) shift words; ((CURRENT--)); _arguments -s%s '*:file:_files'; return ;;", c.Name, zshSpecs(c.Options()))
	}
	b.line("    esac")
	b.line("  fi")
	b.line("  ((CURRENT == 2)) && _describe verb verbs")
	b.line("  _arguments -s%s '*:URL:_urls'", zshSpecs(curl.Options()))
	b.line("}")
	b.line(`if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _fetch1738 "$@"; else compdef _fetch1738 fetch1738; fi`)
	return b.to(w)
}

// zshSpecs returns the arguments of _arguments for the options of table.
func zshSpecs(table []curl.Option) string {
	var b strings.Builder
	text := strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`, `\`, `\\`)
	for _, o := range table {
		value := ""
		switch {
		case o.Arg == "":
		case takesFile(o):
			value = ":" + text.Replace(o.Arg) + ":_files"
		case takesDir(o):
			value = ":" + o.Arg + ":_files -/"
		default:
			value = ":" + text.Replace(o.Arg) + ":(" + strings.Join(choices(o), " ") + ")"
		}
		for _, name := range spellingsOf(o) {
			b.WriteString(" \\\n    " + quoteShell("*"+text.Replace(name)+"["+text.Replace(o.Help)+"]"+value))
		}
	}
	return b.String()
}

// completeFish writes a complete command for each option.
func completeFish(w io.Writer, all []cli.Command) error {
	b := new(script)
	b.line("%s", madeBy("fish"))
	b.WriteString(remoteFish)
	none := "not __fish_seen_subcommand_from " + strings.Join(cli.Names(all), " ")
	for _, c := range all {
		b.line("complete -c fetch1738 -n __fish_is_first_arg -a %s -d %s", c.Name, quoteFish(c.Summary))
	}
	b.fish(none, curl.Options())
	for _, c := range all {
		b.fish("__fish_seen_subcommand_from "+c.Name, c.Options())
	}
	return b.to(w)
}

// fish writes a complete command for each option of table. condition is fish's, "" for none.
func (b *script) fish(condition string, table []curl.Option) {
	for _, o := range table {
		spec := ""
		if o.Short != "" {
			spec = " -s " + quoteFish(o.Short)
		}
		switch {
		case o.Arg == "":
		case takesFile(o):
			spec += " -r -F"
		case takesDir(o):
			spec += " -x -a '(__fish_complete_directories)'"
		default:
			spec += " -x -a " + quoteFish(strings.Join(choices(o), " "))
		}
		b.line("complete -c fetch1738 -n %s -l %s%s -d %s", quoteFish(condition), o.Long, spec, quoteFish(o.Help))
	}
}

// A script is a shell script under construction.
type script struct{ strings.Builder }

func (b *script) line(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }

func (b *script) to(w io.Writer) error {
	_, err := io.WriteString(w, b.String())
	return err
}

// madeBy returns the first line of a script.
func madeBy(shell string) string {
	return fmt.Sprintf("# %s completion for fetch1738, generated by \"fetch1738 completion %s\".", shell, shell)
}

// quoteShell quotes text as one word of bash and zsh.
func quoteShell(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// quoteFish quotes text as one word of fish, which interprets escapes between single quotes.
func quoteFish(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
