package wire

import "strings"

// Mask replaces a secret in text that is shown to people.
const Mask = "****"

// secrets are the beginnings of lines whose rest is a secret.
var secrets = []string{"PASS ", "ACCT ", "AUTHINFO PASS ", "Authorization:", "Proxy-Authorization:", "Cookie:"}

// Masked returns the text of a conversation, or of a header, as it may be shown. The argument of
// each secret command, and the value of each secret field, is replaced by [Mask].
func Masked(text string) string {
	var shown string // without text[from:]
	var from, at int
	for line := range strings.Lines(text) {
		bare := strings.TrimSuffix(line, "\n")
		if bare != line {
			bare = strings.TrimSuffix(bare, "\r")
		}
		for _, begin := range secrets {
			if len(bare) > len(begin) && strings.EqualFold(bare[:len(begin)], begin) {
				shown += text[from:at] + strings.TrimSpace(bare[:len(begin)]) + " " + Mask
				from = at + len(bare)
				break
			}
		}
		at += len(line)
	}
	return shown + text[from:]
}

// MaskSecrets removes secrets from text of a peer, which may repeat them. A secret shorter than
// four bytes stays, because it may be part of a word.
func MaskSecrets(text string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) >= 4 {
			text = strings.ReplaceAll(text, secret, Mask)
		}
	}
	return text
}
