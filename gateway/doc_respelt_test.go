package gateway

import (
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// TestLikeType tests that a file is found whose name ends in what could be a type code.
func TestLikeType(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"note;type=a": {Data: []byte("a\n")}, "note;type=d": {Data: []byte("d\n")}, "real": {Data: []byte("r\n")}}
	})
	s := start(t, nil)
	for name, want := range map[string]string{"note;type=a": "note%3Btype=a", "note;type=d": "note%3Btype=d", "real;type=a": "", "none;type=a": "404"} {
		for _, method := range []string{"GET", "HEAD"} {
			res, _, err := ask(t, s, method, pathOf(t, srv.URL+"/")+name)
			location := res.Header.Get("Location")
			if err != nil || want == "" && res.StatusCode != 200 || want == "404" && res.StatusCode != 404 || len(want) > 3 && location != pathOf(t, srv.URL+"/")+want {
				t.Errorf("%s %s: %s to %q, %v", method, name, res.Status, location, err)
			}
		}
	}
}
