package mirror_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// TestListedSize tests a server that does not state the size of a file when it sends it. The listing has it: a
// transfer that is cut is an error, unless another one has the same bytes, as of a file that has changed since.
func TestListedSize(t *testing.T) {
	const line = "-rw-r--r--   1 ftp      ftp      %5d Dec  1  1994 a\r\n"
	for name, tc := range map[string]struct {
		listed int
		cut    int // how many transfers
		want   mirror.Summary
	}{
		"right":             {5, 0, mirror.Summary{New: 1}},
		"cut":               {5, 1, mirror.Summary{Failed: 1}},
		"of another moment": {7, 0, mirror.Summary{New: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := ftptest.New(t, func(s *ftptest.Server) {
				s.Content = fstest.MapFS{"a": {Data: []byte("bytes")}}
				s.Hide = []string{"SIZE", "MLSD", "MLST"}
				s.Replies = map[string]string{"RETR 150": "150 Here it comes."}
			})
			srv.On("LIST", 0, testserver.Data(fmt.Sprintf(line, tc.listed)))
			if tc.cut > 0 {
				srv.On("RETR", 1, testserver.Truncate(3))
			}
			ran(t, start(t, srv.URL), tc.want)
		})
	}
}
