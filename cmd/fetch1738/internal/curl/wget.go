package curl

import (
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/internal/typed"
)

// wgetRows has the long options of wget that neither curl nor this program has, each with the option
// or the verb to use. "-" means that no option does the same.
const wgetRows = `
accept: fetch1738 mirror --include GLOB
adjust-extension: -
append-output: 2>> FILE
ask-password: -u USER, which asks for the password
background: & of the shell
backup-converted: -
bind-address: --interface ADDRESS
body-data: -d DATA
body-file: -d @FILE
ca-certificate: --cacert FILE
ca-directory: --capath DIR
certificate: -E FILE
compression: --compressed
content-disposition: -OJ
continue: -C -
convert-links: -
cut-dirs: -
debug: -v
default-page: -
delete-after: -o /dev/null
directory-prefix: --output-dir DIR
dns-timeout: --connect-timeout SECONDS
domains: -
exclude-directories: fetch1738 mirror --exclude GLOB
execute: -K FILE
follow-ftp: fetch1738 crawl
force-directories: -
ftp-password: -u USER, which asks for the password
ftp-user: -u USER
ftps-implicit: a URL that begins with ftps:
http-password: -u USER, which asks for the password
http-user: -u USER
https-only: --proto =https
ignore-length: -
include-directories: fetch1738 mirror --include GLOB
inet4-only: -4
inet6-only: -6
input-file: @FILE
level: fetch1738 mirror --depth N, or fetch1738 crawl --depth N
load-cookies: -
max-redirect: --max-redirs N
method: -X METHOD
mirror: fetch1738 mirror URL DIR
no-cache: -H 'Cache-Control: no-cache'
no-check-certificate: -k
no-config: -q
no-directories: -
no-glob: -g
no-host-directories: -
no-parent: fetch1738 mirror, which stays below the URL
no-passive-ftp: -P -
no-proxy: --noproxy '*'
no-verbose: -s
output-document: -o FILE
output-file: 2> FILE
page-requisites: fetch1738 crawl --http --dir DIR URL
password: -u USER, which asks for the password
post-data: -d DATA
post-file: -d @FILE
preserve-permissions: -
private-key: --key FILE
progress: -#
protocol-directories: -
quiet: -s
quota: fetch1738 crawl --max-size SIZE
random-wait: -
read-timeout: -y SECONDS with -Y SPEED
recursive: fetch1738 mirror URL DIR, or for a web site fetch1738 crawl --http --same-host --dir DIR URL
reject: fetch1738 mirror --exclude GLOB
restrict-file-names: -
retr-symlinks: -
save-cookies: -
save-headers: -i
server-response: -v
span-hosts: fetch1738 crawl
spider: -I
start-pos: -C OFFSET
timeout: -m SECONDS, or --connect-timeout SECONDS
timestamping: -z FILE -R -o FILE, or fetch1738 mirror
tries: --retry NUMBER
trust-server-names: -
wait: fetch1738 mirror --wait SECONDS
waitretry: --retry-delay SECONDS
warc-file: --warc FILE
warc-max-size: fetch1738 mirror --warc-size SIZE
`

// FromWget returns the error text for a long option of wget that is not one of curl: what to use. It
// returns "" for all other names.
func FromWget(long string) string {
	for row := range strings.Lines(wgetRows) {
		switch name, use, _ := strings.Cut(strings.TrimSpace(row), ": "); {
		case name != long || name == "":
		case use == "-":
			return "option --" + long + ": belongs to wget; there is no such option here"
		default:
			return "option --" + long + ": belongs to wget; use " + use
		}
	}
	return ""
}

// asInWget returns what to use if a letter of curl's, that args have or that has a wrong value, is
// probably meant as that of wget. It returns "" for all others.
func asInWget(letter, value string, args []string) string {
	scheme, _, hasServer := strings.Cut(value, "://")
	isURL := hasServer && typed.HasScheme(value)
	switch {
	case letter == "c" && slices.Contains(args, "-nc"):
		return "; to keep existing files, as wget -nc does: --no-clobber"
	case letter == "c":
		return "; to resume a file, as wget -c does: -C - -O"
	case isURL && (letter == "r" || letter == "m") && strings.HasPrefix(scheme, "http"):
		return "; to copy a web site, similar to wget -" + letter + ": fetch1738 crawl --http --same-host --dir DIR URL"
	case isURL && (letter == "r" || letter == "m"):
		return "; to copy a folder, as wget -" + letter + " does: fetch1738 mirror URL DIR"
	}
	return ""
}
