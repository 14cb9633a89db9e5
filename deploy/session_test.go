package deploy_test

import (
	"testing"

	"github.com/fetch1738/fetch1738/deploy"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// over is what a server says when it ends a session after some time, or after some files.
var over = []ftptest.Fault{testserver.Reply("421 No-transfer-time exceeded. Closing control connection."), testserver.Hangup()}

// TestUploadSessionEnds tests the same of an upload.
func TestUploadSessionEnds(t *testing.T) {
	files := map[string]string{"a/a": "a", "b/b": "b", "c/c": "c", "d/d": "d"}
	for _, command := range []string{"MKD", "CWD", "EPSV", "STOR", "SIZE", "MFMT", "RNFR", "RNTO"} {
		t.Run(command, func(t *testing.T) {
			srv := ftptest.New(t)
			srv.On(command, 2, over...)
			m := upload(t, srv.URL+"/", files)
			m.Connections = 1
			ran(t, m, deploy.Summary{New: 4})
			hasFiles(t, srv, ".", files)
		})
	}
}
