package locator

import "testing"

func TestWithLogin(t *testing.T) {
	login := &Login{User: "me", Password: "p", HasPassword: true}
	for url, want := range map[string]string{
		"ftp://h/a/b;type=i": "ftp://me:p@h/a/b;type=i",
		"ftp://x:y@h/a":      "ftp://me:p@h/a",
		"http://h:81/a?b":    "http://me:p@h:81/a?b",
		"https://h/":         "https://me:p@h/",
		"telnet://h/":        "telnet://me:p@h/",
		"gopher://h/1":       "",
		"file:///x":          "",
		"news:a.b":           "",
		"x-own:rest":         "",
	} {
		l, err := Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		before := l.String()
		with, ok := WithLogin(l, login)
		if ok != (want != "") || ok && with.String() != want || !ok && with != l {
			t.Errorf("%s: %v, %v", url, with, ok)
		}
		if without, _ := WithLogin(with, nil); ok && without.String() == want {
			t.Errorf("%s: the login stays: %v", url, without)
		}
		if l.String() != before {
			t.Errorf("%s was changed to %v", url, l)
		}
	}
}
