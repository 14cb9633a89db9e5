package archive

import (
	"context"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

func startFTP(ctx context.Context, s *site, addr string, set func(*testserver.Server)) (*testserver.Server, error) {
	server, err := ftptest.Start(ctx, addr, func(srv *ftptest.Server) { set(&srv.Server) })
	if err != nil {
		return nil, err
	}
	return &server.Server, nil
}
