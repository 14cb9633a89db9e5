package dialogue

import (
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/locator"
)

func TestTypist(t *testing.T) {
	both := locator.Login{User: "joe", Password: "pw", HasPassword: true}
	for _, tt := range []struct {
		name  string
		login locator.Login
		said  []string
		typed []string
	}{
		{"both", both, []string{"Debian\r\nhost login: ", "joe\r\nPassword: ", "\r\nwelcome\r\n$ "}, []string{"joe", "pw"}},
		{"in pieces", both, []string{"lo", "g", "in", ":", " ", "\r\nPass", "word:"}, []string{"joe", "pw"}},
		{"each once", both, []string{"login:", "Password:", "Login incorrect\r\nlogin:", "Password:"}, []string{"joe", "pw"}},
		{"in the middle", both, []string{"Your last login: yesterday\r\n", "the password: is secret\r\n"}, nil},
		{"password alone", both, []string{"Password: ", "login: "}, []string{"pw"}},
		{"user alone", locator.Login{User: "joe"}, []string{"username: ", "password: ", "login: "}, []string{"joe"}},
		{"no user", locator.Login{Password: "pw", HasPassword: true}, []string{"login: ", "Passphrase:"}, []string{"pw"}},
		{"a long line", both, []string{strings.Repeat("x", 1000) + "login: "}, []string{"joe"}},
	} {
		typist := &autoLogin{login: tt.login}
		var typed []string
		for _, said := range tt.said {
			if answer := typist.hear([]byte(said)); answer != "" {
				typed = append(typed, answer)
			}
		}
		if !slices.Equal(typed, tt.typed) {
			t.Errorf("%s: typed %q, want %q", tt.name, typed, tt.typed)
		}
	}
}
