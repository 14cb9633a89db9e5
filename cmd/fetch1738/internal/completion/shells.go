package completion

// The functions of the scripts that complete remote paths. They give the words of the command line to
// "fetch1738 completion remote" by a builtin, so that no process has them as arguments.

// remoteBash completes a URL and reports whether the word is one. bash divides words at the characters of
// COMP_WORDBREAKS, such as a colon, unless they are quoted; it replaces only $1, the last part.
const remoteBash = `_fetch1738_remote() {
    local typed=${COMP_LINE:0:COMP_POINT} found
    case ${COMP_WORDS[COMP_CWORD]} in
    [\"\']*) typed=$1 ;;
    *) typed=${typed##*[[:space:]]} ;;
    esac
    [[ $typed == --*=*://* ]] && typed=${typed#--*=}
    [[ $typed == [A-Za-z]*://* && $typed != *[\"\'\\\$\` + "`" + `]* ]] || return
    while IFS= read -r found; do
        COMPREPLY+=("${found:${#typed}-${#1}}")
    done < <(printf '%s\n' "${COMP_WORDS[@]:1}" "$typed" | command fetch1738 completion remote 2>/dev/null)
    compopt +o default 2>/dev/null
    [[ ${COMPREPLY[0]} == */ ]] && compopt -o nospace 2>/dev/null
    return 0
}
`

// remoteZsh is the same for zsh, which has the whole word in PREFIX.
const remoteZsh = `_fetch1738_remote() {
  [[ $PREFIX == --*=*://* ]] && compset -P '--*='
  local typed=${(Q)PREFIX}
  [[ $typed == [A-Za-z]*://* ]] || return
  local -a found=("${(@f)$(print -rl -- "${(@)words[2,-1]}" "$typed" | command fetch1738 completion remote 2>/dev/null)}")
  local -a dirs=("${(@M)found:#*/}") files=("${(@)found:#(|*/)}")
  (( $#dirs )) && compadd -S '' -a dirs
  (( $#files )) && compadd -a files
  (( $#dirs + $#files ))
}
`

// remoteFish is the same for fish, which adds no space after a slash. It would also complete what
// follows a colon as a file name, without the encoding of URLs.
const remoteFish = `function __fetch1738_is_url
    string match -qr '^["\']?[A-Za-z][^/]*://' -- (commandline -ct)
end
function __fetch1738_remote
    set -l typed (string unescape -- (commandline -ct))
    test (count $typed) -eq 1; or set typed (string trim -l -c '"\'' -- (commandline -ct))
    set -l words (commandline -po)
    printf '%s\n' $words[2..-1] $typed | command fetch1738 completion remote 2>/dev/null
end
complete -c fetch1738 -n __fetch1738_is_url -f -a '(__fetch1738_remote)'
`
