package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMirrorRoundTrip copies a tree with odd names from a server, edits it, brings it back, and
// copies it again.
func TestMirrorRoundTrip(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"vsftpd", "proftpd", "pure-ftpd", "inetutils-ftpd"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := ofDaemon(t, name)
			site := map[string]string{
				"a:b.css": "colon\n", "a?b": "question\n", "a*b": "star\n", "a_b": "plain\n", "100%.txt": "percent\n", "a%3Ab": "encoded\n",
				"caf\xe9/\xe0.txt": "latin\n", "sub/CON": "device\n", "~a": "tilde\n", "~d/~b": "tilde\n",
				".htaccess": "htaccess\n", ".well-known/security.txt": "security\n", ".git/config": "git\n", ".bashrc": "bashrc\n",
			}
			if name != "pure-ftpd" { // it cannot store it
				site[`back\slash`] = "one name\n"
			}
			for name, data := range site {
				d.server.put(t, name, data)
			}
			for name, data := range d.owned {
				site[name] = data
			}
			check := func() {
				t.Helper()
				if diff := differences(d.server.files(t), site); len(diff) > 0 {
					t.Errorf("the server: %s", strings.Join(diff, "; "))
				}
			}
			run := func(options ...string) string {
				t.Helper()
				cmd := exec.CommandContext(patience(t), buildCommand(t), append([]string{"mirror"}, options...)...)
				cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.home, "LANG=C.UTF-8", "TZ=UTC"}
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%q: %v\n%s", options, err, out)
				}
				return string(out)
			}
			dir := filepath.Join(d.dir, "copy")
			out := run(d.url, dir)
			want := map[string]string{}
			for name, data := range site {
				for _, changed := range []string{".git/", ".bashrc"} {
					if strings.HasPrefix(name, changed) {
						name = "%2E" + name[1:]
					}
				}
				want[strings.ReplaceAll(name, `\`, "%5C")] = data
			}
			if diff := differences(filesBelow(t, dir), want); len(diff) > 0 {
				t.Errorf("the copy: %s\n%s", strings.Join(diff, "; "), out)
			}
			for range 2 {
				if out = run(dir, d.url); !strings.Contains(out, "0 new, 0 changed,") {
					t.Errorf("an unchanged copy:\n%s", out)
				}
				check()
			}
			for name, local := range map[string]string{
				".htaccess": ".htaccess", ".git/config": "%2Egit/config", `back\slash`: "back%5Cslash", "a?b": "a?b", "caf\xe9/\xe0.txt": "caf\xe9/\xe0.txt",
			} {
				if site[name] != "" {
					site[name] = "edited " + name + "\n"
					writeFile(t, filepath.Join(dir, local), site[name])
				}
			}
			run(dir, d.url)
			check()
			again := filepath.Join(d.dir, "again")
			run("--keep-names", d.url, again)
			kept := map[string]string{}
			for name, data := range site {
				kept[strings.ReplaceAll(name, `\`, "%5C")] = data
			}
			if diff := differences(filesBelow(t, again), kept); len(diff) > 0 {
				t.Errorf("the second copy: %s", strings.Join(diff, "; "))
			}
		})
	}
}
