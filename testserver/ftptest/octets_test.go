package ftptest_test

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

// TestListingOctets tests that a listing of a directory is what the program says, octet for octet, and
// that one which breaks off has no reply 226.
func TestListingOctets(t *testing.T) {
	testclient.InBubble(t, "", func(t *testing.T) {
		srv := ftptest.New(t, inMemory, func(s *ftptest.Server) {
			s.ListingOctets = func(command, dir string) (io.ReadCloser, error) {
				switch command + " " + dir {
				case "LIST pub":
					return io.NopCloser(strings.NewReader("own\nlines")), nil
				case "LIST pub/sub":
					return io.NopCloser(io.MultiReader(strings.NewReader("cut"), iotest.ErrReader(io.ErrUnexpectedEOF))), nil
				case "MLSD pub":
					return nil, errors.ErrUnsupported
				case "NLST pub/sub":
					return nil, fs.ErrPermission
				}
				return nil, nil
			}
		})
		c := testclient.LoginFTP(t, srv)
		for _, tt := range []struct{ command, data, last string }{
			{"LIST pub", "own\nlines", "226"}, {"LIST -l pub/", "own\nlines", "226"}, {"LIST pub/sub", "cut", "426"},
			{"NLST pub", "pub/a.txt\r\npub/sub\r\n", "226"}, {"LIST motd.txt", "-rw-r--r--    1 ftp      ftp                12 Mar  4  1995 motd.txt\r\n", "226"},
		} {
			if data, _, last, err := c.Get(tt.command); data != tt.data || !strings.HasPrefix(last, tt.last) {
				t.Errorf("%s: %q, %q, %v", tt.command, data, last, err)
			}
		}
		c.Expect("MLSD pub", "502")
		c.Expect("NLST pub/sub", "550")
		c.Expect("LIST nix", "550")
	})
}
