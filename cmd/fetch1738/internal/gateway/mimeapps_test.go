package gateway

import (
	"strings"
	"testing"
)

// Every list is restored to the byte.
func TestPreferred(t *testing.T) {
	const app = "app.desktop"
	types := []string{"x-scheme-handler/ftp", "x-scheme-handler/gopher"}
	for _, tc := range []struct{ name, before, after string }{
		{"none", "", "[Default Applications]\nx-scheme-handler/ftp=app.desktop;\nx-scheme-handler/gopher=app.desktop;\n"},
		{
			"another application", "[Default Applications]\nx-scheme-handler/gopher=old.desktop\ntext/html=web.desktop;\n",
			"[Default Applications]\nx-scheme-handler/gopher=app.desktop;old.desktop\ntext/html=web.desktop;\nx-scheme-handler/ftp=app.desktop;\n",
		},
		{
			"several applications", "[Default Applications]\nx-scheme-handler/ftp=a.desktop;b.desktop;\nx-scheme-handler/gopher=c.desktop;\n",
			"[Default Applications]\nx-scheme-handler/ftp=app.desktop;a.desktop;b.desktop;\nx-scheme-handler/gopher=app.desktop;c.desktop;\n",
		},
		{
			"no section", "[Added Associations]\nx-scheme-handler/ftp=a.desktop;\n",
			"[Added Associations]\nx-scheme-handler/ftp=a.desktop;\n\n[Default Applications]\nx-scheme-handler/ftp=app.desktop;\nx-scheme-handler/gopher=app.desktop;\n",
		},
		{
			"a section in the middle", "[Added Associations]\na/b=c.desktop\n\n[Default Applications]\na/b=c.desktop\n\n[Removed Associations]\na/b=d.desktop\n",
			"[Added Associations]\na/b=c.desktop\n\n[Default Applications]\na/b=c.desktop\nx-scheme-handler/ftp=app.desktop;\nx-scheme-handler/gopher=app.desktop;\n\n[Removed Associations]\na/b=d.desktop\n",
		},
		{
			"a comment", "# mine\n[Default Applications]\n# web\ntext/html=web.desktop\n",
			"# mine\n[Default Applications]\n# web\ntext/html=web.desktop\nx-scheme-handler/ftp=app.desktop;\nx-scheme-handler/gopher=app.desktop;\n",
		},
		{
			"what is not a section", "[Default Applications]\na/b=c.desktop\n[x=old.desktop\n",
			"[Default Applications]\na/b=c.desktop\nx-scheme-handler/ftp=app.desktop;\nx-scheme-handler/gopher=app.desktop;\n[x=old.desktop\n",
		},
	} {
		got := preferred(tc.before, app, types)
		if got != tc.after {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.after)
		}
		if again := preferred(got, app, types); again != got {
			t.Errorf("%s: the second time: %q", tc.name, again)
		}
		if back := withoutApp(got, app); back != tc.before {
			t.Errorf("%s: %q was not restored, but %q", tc.name, tc.before, back)
		}
	}
}

// A desktop may have added the application to other lists itself.
func TestWithoutApp(t *testing.T) {
	for before, want := range map[string]string{
		"[Added Associations]\na/b=app.desktop;\na/c=x.desktop;app.desktop\n": "[Added Associations]\na/c=x.desktop;\n",
		"[Default Applications]\na/b=my-app.desktop\n":                        "[Default Applications]\na/b=my-app.desktop\n",
		"[Default Applications]\na/b=app.desktop":                             "",
		"[Default Applications]\n\na/b=app.desktop;\n\n[X]\n":                 "\n\n[X]\n",
		"[Default Applications]\n":                                            "[Default Applications]\n",
		"app.desktop\n":                                                       "app.desktop\n",
	} {
		if got := withoutApp(before, "app.desktop"); got != want {
			t.Errorf("%q: %q, want %q", before, got, want)
		}
	}
}

// A list that no program wrote loses nothing but the application.
func FuzzPreferred(f *testing.F) {
	f.Add("[Default Applications]\na/b=c;d\n")
	f.Add("x\n[\n=;\n")
	f.Add("[Default Applications]\nx-scheme-handler/ftp=app.desktop;;a")
	f.Add("[Default Applications]\n[-scheme-ha_dler/ftp=app.desktop;;a")
	f.Add("[Default Applications]\n[Added Associations]\n")
	f.Add("[Default Applications]\nx-scheme-handler/ftp=\na/b=c.desktop\n")
	f.Fuzz(func(t *testing.T, text string) {
		const app = "app.desktop"
		got := preferred(text, app, []string{"x-scheme-handler/ftp"})
		if !strings.Contains(got, "x-scheme-handler/ftp") || !strings.Contains(got, "="+app+";") {
			t.Errorf("%q: the application is not in %q", text, got)
		}
		if again := preferred(got, app, []string{"x-scheme-handler/ftp"}); again != got {
			t.Errorf("%q: %q, the second time %q", text, got, again)
		}
		without := withoutApp(got, app)
		for line := range strings.Lines(text) {
			_, value, isEntry := strings.Cut(line, "=")
			namesNone := isEntry && strings.Trim(value, ";\n") == "" || strings.Trim(line, " \t\r\n;") == ""
			if !strings.Contains(line, app) && !namesNone && !isDefaults(line) && !strings.Contains(without, strings.TrimRight(line, "\n")) {
				t.Errorf("%q: lost %q in %q", text, line, without)
			}
		}
	})
}
