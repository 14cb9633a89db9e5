package interop

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/dev/interop/ftpservers"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
)

// statesRest are the servers whose replies to RETR show that they obey REST.
var statesRest = map[string]bool{"proftpd": true, "pure-ftpd": true, "testserver": true}

// TestFTPRanges fetches parts of a file from each server. One more transfer, or two if the parts are
// large, shows once a session that the server obeys REST, unless its replies do. A server that does
// not know REST is not asked for a transfer.
func TestFTPRanges(t *testing.T) {
	data := make([]byte, 8<<20)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data)
	for _, kind := range ftpservers.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			root := serverDir(t)
			writeFile(t, filepath.Join(root, "doc"), string(data))
			ftpservers.Own(t, root)
			srv := kind.Start(t, &ftpservers.Server{Root: root})
			l := parseFTP(t, "ftp://"+srv.Addr+"/doc")
			for length, more := range map[int64]int{1000: 1, 1_000_000: 1, 2_000_000: 2} {
				sent := map[string]int{}
				ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Sent: func(octets []byte) {
					for line := range strings.Lines(string(octets)) {
						sent[line[:4]]++
					}
				}})
				f := &ftp.Fetcher{}
				for _, at := range []int64{1_000_000, 3_000_000, 5_000_000} {
					got, err := readPart(ctx, f, &fetch.Request{Locator: l, Offset: at, Length: length})
					if e, ok := errors.AsType[*fetch.Error](err); !kind.Can(ftpservers.REST) && (!ok || e.Op != "REST" || e.Code != 502) {
						t.Errorf("%d bytes from %d: %v", length, at, err)
					} else if kind.Can(ftpservers.REST) && (err != nil || !bytes.Equal(got, data[at:at+length])) {
						t.Errorf("%d bytes from %d: %d bytes, %v", length, at, len(got), err)
					}
				}
				f.Close()
				want := 3 + more
				switch {
				case !kind.Can(ftpservers.REST):
					want = 0
				case statesRest[kind.Name]:
					want = 3
				}
				// A session that ends with a transfer is followed by another one, of which nothing is known.
				if sent["RETR"] != want && sent["USER"] == 1 || sent["RETR"] > 3*(want-2) && want > 3 || want == 3 && sent["RETR"] != 3 {
					t.Errorf("%d bytes: %d transfers in %d sessions, want %d", length, sent["RETR"], sent["USER"], want)
				}
				t.Logf("%d bytes: %d transfers in %d sessions", length, sent["RETR"], sent["USER"])
			}
		})
	}
}

func readPart(ctx context.Context, f *ftp.Fetcher, req *fetch.Request) ([]byte, error) {
	res, err := f.Fetch(ctx, req)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	return io.ReadAll(res.Body)
}
