#!/usr/bin/env bash
# Downloads a release of fetch1738, verifies its checksum, and uploads a folder with it. action.yml
# runs this; the variables INPUT_* are its inputs.
#
# It runs in bash 3.2 (macOS) and in Git for Windows, and needs curl, od, sed, and tar or unzip.
#
# The password is in shell variables and pipes only: it is never an argument or in the environment of
# a program, and never in a file. Here-documents and here-strings are files in many versions of bash.
set +x -eu -o pipefail # +x: an inherited SHELLOPTS=xtrace would print the password

# fail prints an error, which GitHub shows as an annotation, and ends the step.
fail() {
  printf '::error title=fetch1738::%s\n' "$(printf '%s' "$1" | tr '\r\n' '  ' | sed 's/%/%25/g')" >&2
  exit 1
}

# The workflow may have exported variables of the same names; an assignment would export the password.
unset password login config
password=${INPUT_PASSWORD-}
unset INPUT_PASSWORD

releases=${FETCH1738_RELEASES:-https://github.com/fetch1738/fetch1738/releases/download} # for tests
username=${INPUT_USERNAME-}
server=${INPUT_SERVER-}
port=${INPUT_PORT-}
protocol=${INPUT_PROTOCOL:-ftp}
local_dir=${INPUT_LOCAL_DIR:-./}
server_dir=${INPUT_SERVER_DIR:-./}
version=${INPUT_VERSION-}
version=${version#v}

### The inputs

# one_line fails if the value of an input has a line break or another control character.
one_line() {
  case $2 in
    *[[:cntrl:]]*)
      fail "$1 must not contain a line break or another control character; a secret that was set from a file may end with a line break" ;;
  esac
}
one_line server "$server"
one_line username "$username"
one_line password "$password"
one_line local-dir "$local_dir"
one_line server-dir "$server_dir"

# is_true reports whether an input is true. It fails if the value is neither true nor false.
is_true() {
  case $2 in
    true | True | TRUE) return 0 ;;
    false | False | FALSE | '') return 1 ;;
  esac
  fail "$1 is '$2'; expected true or false"
}

# encode sets encoded to the text with each byte percent-encoded, except "/" and the characters that
# RFC 1738 and RFC 3986 both leave as they are.
encode() {
  local byte character
  encoded=
  for byte in $(printf '%s' "$1" | od -An -v -tx1); do
    case $byte in
      2d | 2e | 2f | 3[0-9] | 4[1-9a-f] | 5[0-9af] | 6[1-9a-f] | 7[0-9a])
        printf -v character %b "\\x$byte"
        encoded+=$character ;;
      *)
        printf -v character '%%%02X' "0x$byte"
        encoded+=$character ;;
    esac
  done
}

host='^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_.])?$'
address='^[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*$' # IPv6
if [ -z "$server" ]; then
  fail "server is empty; if it comes from a secret, check that the secret is set"
elif [[ $server =~ $address ]]; then
  server="[$server]"
elif ! [[ $server =~ $host ]]; then
  fail "server is '$server'; expected a host name or an address only, such as ftp.example.org"
fi

number='^[1-9][0-9]{0,8}$'
if [ -n "$port" ]; then
  if ! [[ $port =~ $number ]] || [ "$port" -gt 65535 ]; then
    fail "port is '$port'; expected a number from 1 to 65535"
  fi
  server="$server:$port"
fi

case $protocol in
  ftp) scheme=ftp security= ;;
  ftps) scheme=ftp security=--ssl-reqd ;;
  ftps-legacy) scheme=ftps security= ;;
  *) fail "protocol is '$protocol'; expected ftp, ftps or ftps-legacy" ;;
esac

# The login as a line of a configuration file, which fetch1738 reads from a pipe.
config=
if [ -n "$username" ]; then
  [ -n "$password" ] ||
    fail "password is empty; if it comes from a secret, check that the secret is set and available to this workflow"
  case $username in
    *:*) fail "username must not contain a colon" ;;
  esac
  login=$(printf '%s' "$username:$password" | LC_ALL=C sed 's/[\\"]/\\&/g')
  config="user = \"$login\""
elif [ -n "$password" ]; then
  fail "username is empty, but there is a password; if it comes from a secret, check that the secret is set"
fi

[ -d "$local_dir" ] || fail "local-dir is '$local_dir', which is not a folder"
case $local_dir in
  /* | [A-Za-z]:[/\\]*) ;;
  *) local_dir=./$local_dir ;; # never an option or a URL
esac

# "/" at the start of server-dir is the root of the server, otherwise it starts at the login
# directory (RFC 1738, section 3.2.2).
case /$server_dir/ in
  */../*) fail "server-dir is '$server_dir'; '..' is not supported" ;;
esac
path=
rest=$server_dir/
while [ -n "$rest" ]; do
  segment=${rest%%/*}
  rest=${rest#*/}
  case $segment in
    '' | .) ;;
    *) path=$path$segment/ ;;
  esac
done
encode "$path"
case $server_dir in
  /*) encoded=%2F${encoded:-/} ;;
esac
url=$scheme://$server/$encoded

# -q: the outcome depends on the inputs only, not on a configuration file of the runner.
arguments=(mirror -q --config -)
[ -z "$security" ] || arguments+=("$security")
if is_true dry-run "${INPUT_DRY_RUN-}"; then arguments+=(--dry-run); fi
if is_true delete "${INPUT_DELETE-}"; then arguments+=(--delete); fi
minimal=false
case ${INPUT_LOG_LEVEL:-standard} in
  minimal) minimal=true ;;
  standard) ;;
  verbose) arguments+=(-vv) ;;
  *) fail "log-level is '$INPUT_LOG_LEVEL'; expected minimal, standard or verbose" ;;
esac

# option adds an option with the value of an input, unless that is empty.
option() {
  one_line "$2" "$3"
  [ -z "$3" ] || arguments+=("$1" "$3")
}
option --remote-state state-name "${INPUT_STATE_NAME-}"
option --connections connections "${INPUT_CONNECTIONS-}"
if [ -n "${INPUT_TIMEOUT-}" ]; then
  [[ $INPUT_TIMEOUT =~ $number ]] || fail "timeout is '$INPUT_TIMEOUT'; expected a number of milliseconds"
  printf -v seconds '%d.%03d' $((INPUT_TIMEOUT / 1000)) $((INPUT_TIMEOUT % 1000))
  arguments+=(--connect-timeout "$seconds")
fi

# next_line sets line to the next line of rest, without blanks at both ends, and removes it from
# rest. It returns false at the end.
next_line() {
  [ -n "$rest" ] || return 1
  line=${rest%%$'\n'*}
  rest=${rest#"$line"}
  rest=${rest#$'\n'}
  line=${line#"${line%%[!$' \t\r']*}"}
  line=${line%"${line##*[!$' \t\r']}"}
}
rest=${INPUT_EXCLUDE-}
while next_line; do
  case $line in
    '') ;;
    '!'*) fail "exclude has the line '$line'; lines that start with '!' are not supported" ;;
    *) arguments+=(--exclude "$line") ;;
  esac
done
rest=${INPUT_ORDER-}
while next_line; do
  [ -z "$line" ] || arguments+=(--order "$line")
done
rest=${INPUT_ARGS-}
while next_line; do
  case $line in
    '') ;;
    -u* | --user | --user[=' ']*) fail "args must not contain a login; use username and password" ;;
    -*' '*)
      value=${line#* }
      arguments+=("${line%% *}" "${value#"${value%%[! ]*}"}") ;;
    -*) arguments+=("$line") ;;
    *) fail "args has the line '$line'; each line must be an option, followed by its value" ;;
  esac
done
arguments+=(-- "$local_dir" "$url")

### The program

case ${RUNNER_OS:-$(uname -s)} in
  Linux) os=linux ;;
  macOS | Darwin) os=darwin ;;
  Windows | MINGW* | MSYS*) os=windows ;;
  FreeBSD) os=freebsd ;;
  *) os= ;;
esac
case ${RUNNER_ARCH:-$(uname -m)} in
  X64 | x86_64 | amd64) arch=amd64 ;;
  ARM64 | arm64 | aarch64) arch=arm64 ;;
  *) arch= ;;
esac
if [ -z "$os" ] || [ -z "$arch" ]; then
  fail "there is no release of fetch1738 for this runner: ${RUNNER_OS:-$(uname -s)} ${RUNNER_ARCH:-$(uname -m)}"
fi
form='^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$'
[[ $version =~ $form ]] || fail "version is '$version'; expected the version of a release, such as 1.2.3"
expected=$(printf '%s' "${INPUT_SHA256-}" | tr 'A-F' 'a-f')
form='^[0-9a-f]{64}$'
[ -z "$expected" ] || [[ $expected =~ $form ]] || fail "sha256 is '$INPUT_SHA256'; expected 64 hexadecimal digits"

stem=fetch1738_${version}_${os}_$arch
archive=$stem.tar.gz program=fetch1738
if [ "$os" = windows ]; then
  archive=$stem.zip program=fetch1738.exe
fi

temporary=${RUNNER_TEMP:-${TMPDIR:-/tmp}}
if [ "$os" = windows ] && command -v cygpath > /dev/null; then
  temporary=$(cygpath -u "$temporary")
fi
work=$(mktemp -d "$temporary/fetch1738.XXXXXX")
trap 'rm -rf "$work"' EXIT

loopback='^http://(127\.0\.0\.1|localhost|\[::1\]):[0-9]+(/|$)'
secure='^https://'
if [[ $releases =~ $secure ]]; then
  proto='=https'
elif [[ $releases =~ $loopback ]]; then
  proto='=http'
else
  fail "FETCH1738_RELEASES is '$releases'; expected an https URL"
fi
# download saves a file of the release.
download() {
  curl -q --fail --silent --show-error --location --proto "$proto" --retry 3 --connect-timeout 30 --max-time 600 \
    --output "$work/$1" "$releases/v$version/$1" ||
    fail "cannot download $releases/v$version/$1; check that version $version exists"
}

checksums=fetch1738_${version}_checksums.txt
download "$checksums"
listed=
while read -r sum name; do
  if [ "$name" = "$archive" ]; then listed=$sum; fi
done < "$work/$checksums"
[ -n "$listed" ] || fail "$checksums does not list $archive"
download "$archive"
if command -v sha256sum > /dev/null; then
  sum=$(sha256sum < "$work/$archive")
else
  sum=$(shasum -a 256 < "$work/$archive")
fi
sum=${sum%% *}
[ "$sum" = "$listed" ] || fail "wrong checksum: the SHA-256 of $archive is $sum; $checksums lists $listed"
[ -z "$expected" ] || [ "$sum" = "$expected" ] ||
  fail "wrong checksum: the SHA-256 of $archive is $sum; the input sha256 is $expected"

case $archive in
  *.zip) unzip -q "$work/$archive" "$stem/$program" -d "$work" ;;
  *) tar -xzf "$work/$archive" -C "$work" "$stem/$program" ;;
esac
printf 'fetch1738 %s for %s/%s, SHA-256 %s\n' "$version" "$os" "$arch" "$sum"

### The upload

# Git for Windows would convert arguments that look like paths.
export MSYS_NO_PATHCONV=1

# upload runs fetch1738. It leaves the process ID and then the exit code in files.
upload() {
  local code=0
  printf '%s\n' "$config" | "$work/$stem/$program" "${arguments[@]}" &
  printf '%s\n' "$!" > "$work/pid"
  wait "$!" || code=$?
  printf '%s\n' "$code" > "$work/code"
}

# When a job is cancelled, the runner sends signals to this shell only. fetch1738 then ends the
# transfer in order.
trap 'kill -TERM "$(cat "$work/pid")" 2> /dev/null || :' INT TERM

# The output has texts of the server, which must not be workflow commands.
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
printf '::stop-commands::%s\n' "$token"
(
  if "$minimal"; then
    upload > "$work/output"
  else
    upload | tee "$work/output"
  fi
) 2>&1 &
job=$!
while kill -0 "$job" 2> /dev/null; do # a signal interrupts wait
  wait "$job" || :
done
code=$(cat "$work/code")
summary=$(tail -n 1 "$work/output" | tr -d '\r')
if "$minimal" && [ -n "$summary" ]; then
  printf '%s\n' "$summary"
fi
printf '::%s::\n' "$token"

if [ -n "${GITHUB_OUTPUT-}" ]; then
  printf 'summary=%s\n' "$summary" >> "$GITHUB_OUTPUT"
fi
if [ -n "${GITHUB_STEP_SUMMARY-}" ] && [ -n "$summary" ]; then
  printf '\n    %s\n\n' "$summary" >> "$GITHUB_STEP_SUMMARY" # indented: Markdown shows it as it is
fi
exit "$code"
