package main

import (
	"context"
	"fmt"
	"io"
	"strings"
)

const completionHelp = `Usage: fetch1738 completion bash|zsh|fish

Writes the completions of verbs, options and their values for a shell.

  $ source <(fetch1738 completion bash)
  $ fetch1738 completion zsh > "${fpath[1]}/_fetch1738"
  $ fetch1738 completion fish > ~/.config/fish/completions/fetch1738.fish
`

// defineCompletion gives what the verb completion does.
func defineCompletion(v *verb) func(context.Context) int {
	return func(context.Context) int {
		shells := map[string]func(io.Writer) error{"bash": completeBash, "zsh": completeZsh, "fish": completeFish}
		write := shells[v.Arg(0)]
		if v.NArg() != 1 || write == nil {
			return v.usage("one of bash, zsh and fish is wanted")
		}
		if err := write(v.std.Out); err != nil {
			return v.fail(exitWrite, "%v", err)
		}
		return exitOK
	}
}

// spellings are the names of o with their dashes.
func (o *option) spellings() []string {
	names := []string{"--" + o.long}
	if o.short != "" {
		names = append(names, "-"+o.short)
	}
	return names
}

func spellings(table []option) (names []string) {
	for _, o := range table {
		names = append(names, o.spellings()...)
	}
	return names
}

func verbNames() (names []string) {
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

// valued are the options of all tables that take a value, each name once.
func valued() (list []option) {
	table := options()
	for _, c := range commands() {
		table = append(table, c.options()...)
	}
	known := make(map[string]bool)
	for _, o := range table {
		if o.arg != "" && !known[o.long] {
			known[o.long] = true
			list = append(list, o)
		}
	}
	return list
}

// choices are the values that o takes, where they can be listed: its value is
// called "this|that" then.
func (o *option) choices() []string {
	if !strings.Contains(o.arg, "|") {
		return nil
	}
	return strings.Split(o.arg, "|")
}

// takesFile reports whether o's value is a file's name.
func (o *option) takesFile() bool { return strings.HasPrefix(o.arg, "FILE") }

func (o *option) takesDir() bool { return o.arg == "DIR" }

// completeBash writes a function for bash: the values of the option before the
// word, or else the options of the verb. What is left to bash is a file's name.
func completeBash(w io.Writer) error {
	b := new(script)
	b.line("%s", madeBy("bash"))
	b.line("_fetch1738() {")
	b.line("    local word=${COMP_WORDS[COMP_CWORD]} options")
	b.line("    COMPREPLY=()")
	b.line("    case ${COMP_WORDS[COMP_CWORD-1]} in")
	for _, o := range valued() {
		switch names := strings.Join(o.spellings(), "|"); {
		case o.takesFile():
			b.line("    %s) return ;;", names)
		case o.takesDir():
			b.line(`    %s) COMPREPLY=($(compgen -d -- "$word")); return ;;`, names)
		default:
			b.line(`    %s) compopt +o default; COMPREPLY=($(compgen -W '%s' -- "$word")); return ;;`, names, strings.Join(o.choices(), " "))
		}
	}
	b.line("    esac")
	b.line("    case ${COMP_WORDS[1]} in")
	for _, c := range commands() {
		b.line("    %s) options='%s' ;;", c.name, strings.Join(spellings(c.options()), " "))
	}
	b.line("    *) options='%s' ;;", strings.Join(spellings(options()), " "))
	b.line("    esac")
	b.line("    if [[ $word == -* ]]; then")
	b.line(`        COMPREPLY=($(compgen -W "$options" -- "$word"))`)
	b.line("    elif ((COMP_CWORD == 1)); then")
	b.line(`        COMPREPLY=($(compgen -W '%s' -- "$word"))`, strings.Join(verbNames(), " "))
	b.line("    fi")
	b.line("}")
	b.line("complete -o default -F _fetch1738 fetch1738")
	return b.to(w)
}

// completeZsh writes a function for zsh's _arguments.
func completeZsh(w io.Writer) error {
	b := new(script)
	b.line("#compdef fetch1738")
	b.line("%s", madeBy("zsh"))
	b.line("_fetch1738() {")
	b.line("  local -a verbs=(")
	for _, c := range commands() {
		b.line("    %s", quoteShell(c.name+":"+c.summary))
	}
	b.line("  )")
	b.line("  if ((CURRENT > 2)); then")
	b.line("    case $words[2] in")
	for _, c := range commands() {
		b.line("    %s) shift words; ((CURRENT--)); _arguments -s%s '*:file:_files'; return ;;", c.name, zshSpecs(c.options()))
	}
	b.line("    esac")
	b.line("  fi")
	b.line("  ((CURRENT == 2)) && _describe verb verbs")
	b.line("  _arguments -s%s '*:URL:_urls'", zshSpecs(options()))
	b.line("}")
	b.line(`if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _fetch1738 "$@"; else compdef _fetch1738 fetch1738; fi`)
	return b.to(w)
}

// zshSpecs are the arguments of _arguments for options.
func zshSpecs(table []option) string {
	var b strings.Builder
	text := strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`, `\`, `\\`)
	for _, o := range table {
		value := ""
		switch {
		case o.arg == "":
		case o.takesFile():
			value = ":" + text.Replace(o.arg) + ":_files"
		case o.takesDir():
			value = ":" + o.arg + ":_files -/"
		default:
			value = ":" + text.Replace(o.arg) + ":(" + strings.Join(o.choices(), " ") + ")"
		}
		for _, name := range o.spellings() {
			b.WriteString(" \\\n    " + quoteShell("*"+text.Replace(name)+"["+text.Replace(o.help)+"]"+value))
		}
	}
	return b.String()
}

// completeFish writes a line for each option.
func completeFish(w io.Writer) error {
	b := new(script)
	b.line("%s", madeBy("fish"))
	none := "not __fish_seen_subcommand_from " + strings.Join(verbNames(), " ")
	for _, c := range commands() {
		b.line("complete -c fetch1738 -n __fish_is_first_arg -a %s -d %s", c.name, quoteFish(c.summary))
	}
	b.fish(none, options())
	for _, c := range commands() {
		b.fish("__fish_seen_subcommand_from "+c.name, c.options())
	}
	return b.to(w)
}

func (b *script) fish(condition string, table []option) {
	for _, o := range table {
		spec := ""
		if o.short != "" {
			spec = " -s " + quoteFish(o.short)
		}
		switch {
		case o.arg == "":
		case o.takesFile():
			spec += " -r -F"
		case o.takesDir():
			spec += " -x -a '(__fish_complete_directories)'"
		default:
			spec += " -x -a " + quoteFish(strings.Join(o.choices(), " "))
		}
		b.line("complete -c fetch1738 -n %s -l %s%s -d %s", quoteFish(condition), o.long, spec, quoteFish(o.help))
	}
}

// A script is written line by line.
type script struct{ strings.Builder }

func (b *script) line(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }

func (b *script) to(w io.Writer) error {
	_, err := io.WriteString(w, b.String())
	return err
}

func madeBy(shell string) string {
	return fmt.Sprintf("# %s completion for fetch1738, made by \"fetch1738 completion %s\".", shell, shell)
}

// quoteShell is text as one word of bash and zsh.
func quoteShell(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// quoteFish is text as one word of fish, which knows escapes between quotes.
func quoteFish(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
