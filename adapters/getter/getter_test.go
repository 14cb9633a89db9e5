package fetchgetter_test

import (
	"crypto/tls"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hashicorp/go-getter"

	"github.com/fetch1738/fetch1738"
	fetchgetter "github.com/fetch1738/fetch1738/adapters/getter"
	"github.com/fetch1738/fetch1738/adapters/internal/getting/gettingtest"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

func TestGetter(t *testing.T) {
	modes := map[gettingtest.Mode]getter.ClientMode{gettingtest.File: getter.ClientModeFile, gettingtest.Dir: getter.ClientModeDir, gettingtest.Any: getter.ClientModeAny}
	gettingtest.Run(t, gettingtest.Suite{
		LinkError: getter.ErrSymlinkCopy,
		Differs: func(err error) bool {
			_, differs := errors.AsType[*getter.ChecksumError](err)
			return differs
		},
		Get: func(c gettingtest.Call) error {
			getters := fetchgetter.Getters(c.Resolver)
			getters["ftp"].(*fetchgetter.Getter).MaxDelete = c.MaxDelete
			client := getter.Client{
				Ctx: c.Ctx, Src: c.Src, Dst: c.Dst, Mode: modes[c.Mode], Getters: getters,
				ProgressListener: c.Progress, Umask: c.Umask, DisableSymlinks: c.NoLinks,
			}
			return client.Get()
		},
	})
}

func TestInsecure(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate, which nobody trusts
	certificate := web.TLS.Certificates[0]
	web.Close()
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"README": {Data: []byte("read me\n")}}
		s.TLS, s.ImplicitTLS = &tls.Config{Certificates: []tls.Certificate{certificate}}, true
	})
	src := "ftps://" + srv.Addr + "/README"
	dst := filepath.Join(t.TempDir(), "copy")
	get := func(r *fetch1738.Resolver, insecure bool) error {
		c := getter.Client{Ctx: t.Context(), Src: src, Dst: dst, Mode: getter.ClientModeFile, Getters: fetchgetter.Getters(r), Insecure: insecure}
		return c.Get()
	}
	if err := get(nil, false); err == nil {
		t.Error("a certificate of an unknown authority was accepted")
	}
	if err := get(nil, true); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(dst); string(text) != "read me\n" || err != nil {
		t.Errorf("insecure: %q, %v", text, err)
	}
	r := new(fetch1738.Resolver)
	defer r.Close()
	if err := get(r, true); err == nil || !strings.Contains(err.Error(), "Env.TLS") {
		t.Errorf("with a Resolver: %v", err)
	}
}

func TestGetters(t *testing.T) {
	getters := fetchgetter.Getters(nil)
	if len(getters) != 10 || slices.ContainsFunc([]string{"http", "https", "file"}, func(s string) bool { return getters[s] != nil }) {
		t.Errorf("schemes: %v", getters)
	}
}
