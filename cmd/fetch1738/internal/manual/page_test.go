package manual

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	const roff = `.\" A comment.
.TH FETCH1738 1 "" "fetch1738" "User Commands"
.SH NAME
fetch1738 \- one
two
.SH OPTIONS
.TP
\fB\-o\fR, \fB\-\-output\fR \fIFILE\fR
Write to FILE,
.RB ( \-g
and
.BR man (1)
.IR SCHEME _proxy ", " NO_PROXY
.TP
.B 22
short
.PP
Text.
.SS fetch1738 parse
.nf
a  b \(aqc\(aq
.fi
`
	const want = `NAME
       fetch1738 - one two

OPTIONS
       -o, --output FILE
              Write to FILE, (-g and
              man(1) SCHEME_proxy,
              NO_PROXY

       22     short

       Text.

   fetch1738 parse
       a  b 'c'
`
	if got := plain(roff, 40); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestPlainPage formats the whole page: no request and no escape of roff is left, and no line is long.
func TestPlainPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "man", "fetch1738.1"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(plain(string(text), 80)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(strings.TrimSpace(line), ".") || strings.Contains(line, `\f`) || strings.Contains(line, `\-`) || len(line) > 80 {
			t.Errorf("%q", line)
		}
	}
}
