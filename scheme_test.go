package fetch1738

import (
	"errors"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

// TestNoPrivateSchemes (cases 82, 93 and 94: CVE-2024-8383, CVE-2006-5925,
// CVE-2005-2929): what is not built in is handed to nobody, neither another
// program nor another scheme.
func TestNoPrivateSchemes(t *testing.T) {
	r := new(Resolver)
	defer r.Close()
	for _, url := range []string{"lynxexec:id", "lynxcgi:/bin/id", "lynxprog:id", "smb://h/x", "ssh://-oProxyCommand=id/", "git::ssh://h/", "rlogin://h/", "tn3270://h/", "snews:a@b", "javascript:x"} {
		if _, err := r.Get(t.Context(), url); !errors.Is(err, fetch.Unsupported) && !errors.Is(err, fetch.BadURL) {
			t.Errorf("%s: %v", url, err)
		}
	}
}
