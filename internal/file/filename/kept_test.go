package filename

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/internal/urls/percent"
)

// namings are all namings.
func namings() (all []Naming) {
	for keep := KeepSafe; keep <= KeepAll; keep++ {
		all = append(all, Naming{Keep: keep}, Naming{Keep: keep, Portable: true})
	}
	return all
}

func TestNaming(t *testing.T) {
	long := strings.Repeat("a", 300)
	for _, tc := range []struct{ name, all, usual, safe string }{
		{"a b.txt", "", "", ""},
		{"100%.txt", "", "", ""},
		{"a%20b%2Fc", "", "", ""},
		{"日本", "", "", ""},
		{".htaccess", "", "", "%2Ehtaccess"},
		{".well-known", "", "", "%2Ewell-known"},
		{"-rf", "", "", "%2Drf"},
		{"~a", "", "", "%7Ea"},
		{"a:b.css", "", "", "a%3Ab.css"},
		{"a?b", "", "", "a%3Fb"},
		{"a*b", "", "", "a%2Ab"},
		{"100%?", "", "", "100%25%3F"},
		{"gr\xfcn", "", "", "gr%FCn"},
		{"nul.txt", "", "", "%6Eul.txt"},
		{"end. .", "", "", "end%2E%20%2E"},
		{"...", "", "", "%2E%2E%2E"},
		{".git", "", "%2Egit", "%2Egit"},
		{".GIT", "", "%2EGIT", "%2EGIT"},
		{".g\u200Cit", "", "%2Eg\u200Cit", "%2Eg\u200Cit"},
		{".ba\u017Fhrc", "", "%2Eba\u017Fhrc", "%2Eba\u017Fhrc"},
		{".gitignore", "", "", "%2Egitignore"},
		{"Desktop.ini", "", "%44esktop.ini", "%44esktop.ini"},
		{"esc\x1b[2J", "", "esc%1B[2J", "esc%1B[2J"},
		{"gnp.\u202Eexe", "", "gnp.%E2%80%AEexe", "gnp.%E2%80%AEexe"},
		{".", "%2E", "%2E", "%2E"},
		{"..", "%2E%2E", "%2E%2E", "%2E%2E"},
		{`..\a`, `..%5Ca`, `..%5Ca`, "%2E.%5Ca"},
		{"a/b", "a%2Fb", "a%2Fb", "a%2Fb"},
		{"a\x00b", "a%00b", "a%00b", "a%00b"},
		{".fetch1738", "%2Efetch1738", "%2Efetch1738", "%2Efetch1738"},
		{".Fetch1738ignore", "%2EFetch1738ignore", "%2EFetch1738ignore", "%2EFetch1738ignore"},
		{".fetch\u200C1738", "%2Efetch\u200C1738", "%2Efetch\u200C1738", "%2Efetch\u200C1738"},
		{"FETCH1~1", "%46ETCH1~1", "%46ETCH1~1", "%46ETCH1~1"},
		{"fe12AF~2", "%66e12AF~2", "%66e12AF~2", "%66e12AF~2"},
		{"letter~1", "", "", ""},
		{"", "_", "_", "_"},
		// These are what other names become.
		{"a%5Cb", "a%255Cb", "a%255Cb", "a%255Cb"},
		{"%2Egit", "", "%252Egit", "%252Egit"},
		{"%252Egit", "", "%25252Egit", "%25252Egit"},
		{"a%3Ab", "", "", "a%253Ab"},
		{"a%3ab", "", "", ""},
	} {
		for keep, want := range []string{KeepSafe: tc.safe, KeepUsual: tc.usual, KeepAll: tc.all} {
			if want == "" {
				want = tc.name
			}
			got := Naming{Keep: Keep(keep)}.Name(tc.name)
			if got != want {
				t.Errorf("%q is %q with %d, want %q", tc.name, got, keep, want)
			}
			if !IsNameOf(got, tc.name) || tc.name != "" && IsNameOf(got+"x", tc.name) {
				t.Errorf("%q is not known as the name of %q", got, tc.name)
			}
		}
	}
	for name, want := range map[string]string{".htaccess": ".htaccess", "a:b": "a%3Ab", "nul": "%6Eul", "gr\xfcn": "gr%FCn", "a.": "a%2E", ".git": "%2Egit"} {
		if got := (Naming{KeepUsual, true}).Name(name); got != want {
			t.Errorf("%q is %q where not every name is possible, want %q", name, got, want)
		}
	}
	a, b := Naming{}.Name(long+"a.gz"), Naming{}.Name(long+"b.gz")
	if a == b || len(a) > maxKept || !strings.HasPrefix(a, "aaa") || !strings.HasSuffix(a, ".gz") || !IsNameOf(a, long+"a.gz") {
		t.Errorf("two long names are %q and %q", a, b)
	}
	for _, name := range []string{".htaccess", "a:b", "a_b", "_.htaccess"} {
		if !IsNameOf(Component(name), name) || IsNameOf(name, "index.html") {
			t.Errorf("%q", name)
		}
	}
}

// FuzzNaming checks that each name of a server becomes one name here, and that no two become the
// same.
func FuzzNaming(f *testing.F) {
	for _, seed := range []string{"a", "..", "CON", "a%3Ab", "%252Egit", "%25", "é\xff", "a\u202e", strings.Repeat("x.", 150), " . ", `a\b`, "a/b", ".fetch1738", "." + strings.Repeat("x", 300), "-" + strings.Repeat("ü", 150), ".fetch1738" + strings.Repeat("/", 100)} {
		f.Add(seed, seed+"%")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, n := range namings() {
			name := n.Name(a)
			if !filepath.IsLocal(name) || strings.ContainsAny(name, "/\\\x00") || name == "." || len(name) > maxKept || !n.permits(name) {
				t.Errorf("%+v: %q becomes %q", n, a, name)
			}
			if strings.ContainsAny(a, "/\x00") || a == "" || len(a) > maxKept/3 {
				continue
			}
			if name != a && percent.Decode(name) != a {
				t.Errorf("%+v: %q becomes %q, which is %q", n, a, name, percent.Decode(name))
			}
			for _, other := range []string{b, percent.Decode(a), n.Name(a), n.Name(b), strings.ReplaceAll(a, "%", "%25")} {
				if other != a && n.Name(other) == name && !strings.ContainsAny(other, "/\x00") && other != "" {
					t.Errorf("%+v: %q and %q become %q", n, a, other, name)
				}
			}
		}
	})
}
