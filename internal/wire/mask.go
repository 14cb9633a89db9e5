package wire

import "strings"

// Mask stands for a secret where octets are shown to people.
const Mask = "****"

// secrets begin the lines whose rest is a secret.
var secrets = []string{"PASS ", "ACCT ", "AUTHINFO PASS ", "Authorization:", "Proxy-Authorization:", "Cookie:"}

// Masked is what may be shown of a conversation, or of a header: text with [Mask]
// for the argument of each command, and the value of each field, that is secret.
func Masked(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		bare := string(TrimEOL([]byte(line)))
		for _, begin := range secrets {
			if len(bare) > len(begin) && strings.EqualFold(bare[:len(begin)], begin) {
				b.WriteString(strings.TrimSpace(bare[:len(begin)]) + " " + Mask)
				line = line[len(bare):]
				break
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

// MaskSecrets is a text of a peer's, who may repeat them, without the secrets.
// Those of less than four octets stay: they are parts of words.
func MaskSecrets(text string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) >= 4 {
			text = strings.ReplaceAll(text, secret, Mask)
		}
	}
	return text
}
