package wire

import "testing"

func TestMasked(t *testing.T) {
	for in, want := range map[string]string{
		"":                                 "",
		"USER me\r\nPASS secret\r\n":       "USER me\r\nPASS ****\r\n",
		"pass secret":                      "pass ****",
		"PASS":                             "PASS",
		"PASS \r\n":                        "PASS \r\n",
		"PASSWD x\r\n":                     "PASSWD x\r\n",
		"ACCT a b\n":                       "ACCT ****\n",
		"AUTHINFO USER me\r\n":             "AUTHINFO USER me\r\n",
		"AUTHINFO PASS secret\r\n":         "AUTHINFO PASS ****\r\n",
		"authorization:Basic x\r\n":        "authorization: ****\r\n",
		"A: b\r\nCookie: c\r\n\r\n":        "A: b\r\nCookie: ****\r\n\r\n",
		"Proxy-Authorization: Bearer x\n":  "Proxy-Authorization: ****\n",
		"Accept: */*\r\nCookie:\r\nB: c\n": "Accept: */*\r\nCookie:\r\nB: c\n",
	} {
		if got := Masked(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}

func TestMaskSecrets(t *testing.T) {
	if got := MaskSecrets("220 secret is not the secret's, the sea is", []string{"secret", "", "sea"}); got != "220 **** is not the ****'s, the sea is" {
		t.Errorf("%q", got)
	}
}
