package interop

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// TestPythonMailbox has Python count and read the articles of an mbox and of a maildir, which have
// lines that begin with "From ", octets of 8 bits, and NUL.
func TestPythonMailbox(t *testing.T) {
	t.Parallel()
	python := requireTool(t, "/usr/bin/python3")
	program := buildCommand(t)
	const count = 10_000
	articles := make([]string, count)
	for i := range articles {
		articles[i] = fmt.Sprintf("From: n%d@b.example\r\nNewsgroups: g.test\r\nSubject: s\r\nDate: Wed, 04 Mar 2020 05:06:07 +0000\r\nMessage-ID: <%d@b.example>\r\n\r\nFrom me %d\r\n>From me\r\n>>>From \xff\r\n\x00nul\xfc\ra\r\n\r\n\r\n", i, i, i)
	}
	srv := nntptest.New(t, func(s *nntptest.Server) { s.Groups = map[string][]string{"g.test": articles} })
	for _, form := range []string{"mbox", "maildir"} {
		dir := t.TempDir()
		if out, code := runTool(t, program, "mirror", "--"+form, srv.URL+"/g.test", dir); code != 0 {
			t.Fatalf("%d, %s", code, out)
		}
		name := filepath.Join(dir, map[string]string{"mbox": "g.test.mbox", "maildir": "g.test"}[form])
		out, code := runTool(t, python, "-c", `
import mailbox, re, sys
form, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
box = mailbox.mbox(name, create=False) if form == "mbox" else mailbox.Maildir(name, create=False)
seen = set()
for key in box.keys():
    text = box.get_bytes(key)
    if form == "mbox":
        text = re.sub(rb"(?m)^>(>*From )", rb"\1", text)
    i = int(re.match(rb"From: n(\d+)@", text)[1])
    want = b"From: n%d@b.example\nNewsgroups: g.test\nSubject: s\nDate: Wed, 04 Mar 2020 05:06:07 +0000\nMessage-ID: <%d@b.example>\n\nFrom me %d\n>From me\n>>>From \xff\n\x00nul\xfc\ra\n\n\n" % (i, i, i)
    if text != want:
        sys.exit("%r is not %r" % (text, want))
    seen.add(i)
print(len(box), seen == set(range(count)))
`, form, name, fmt.Sprint(count))
		if want := fmt.Sprintf("%d True\n", count); code != 0 || strings.TrimSpace(out) != strings.TrimSpace(want) {
			t.Errorf("%s: exit %d, %.500q, want %q", form, code, out, want)
		}
	}
}
