package mirror_test

import (
	"fmt"
	"testing"
	"testing/fstest"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/testserver"
)

func TestX(t *testing.T) {
	srv := testserver.NewFTP(t, func(s *testserver.FTP) {
		c := fstest.MapFS{}
		for i := range 2000 {
			c[fmt.Sprintf("pub/d%d/f %d", i%20, i)] = &fstest.MapFile{Data: make([]byte, 4096), ModTime: time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)}
		}
		s.Content = c
	})
	l, _ := locator.Parse(srv.URL + "/pub/")
	var r fetch1738.Resolver
	defer r.Close()
	m := &mirror.Mirror{Fetcher: &r, Start: l, Dir: t.TempDir()}
	for range 2 {
		now := time.Now()
		sum, err := m.Run(t.Context())
		t.Logf("%+v %v %v", sum, err, time.Since(now))
	}
}
