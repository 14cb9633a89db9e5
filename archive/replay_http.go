package archive

import (
	"context"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

func startHTTP(ctx context.Context, s *site, addr string, set func(*testserver.Server)) (*testserver.Server, error) {
	server, err := webtest.Start(ctx, addr, func(srv *webtest.Server) { set(&srv.Server) })
	if err != nil {
		return nil, err
	}
	return &server.Server, nil
}
