package ftptest_test

import (
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

// TestCodePage tests that names are in the code page 1252 until OPTS UTF8 ON, for each session.
func TestCodePage(t *testing.T) {
	testclient.InBubble(t, "", func(t *testing.T) {
		srv := ftptest.New(t, inMemory, func(s *ftptest.Server) { s.CodePage, s.Content = true, fstest.MapFS{} })
		c := testclient.LoginFTP(t, srv)
		c.Expect("MKD M\xfc\x80", "257 \"/M\xfc\x80\"")
		c.Expect("MKD ü", "257") // two characters
		for _, tt := range []struct{ option, want string }{
			{"OPTS UTF8 ON", "M\u00fc€\r\nÃ¼\r\n"}, {"", "M\xfc\x80\r\n\xc3\xbc\r\n"},
		} {
			c := testclient.LoginFTP(t, srv)
			if tt.option != "" {
				c.Expect(tt.option, "200")
			}
			if data, _, _, err := c.Get("NLST"); data != tt.want || err != nil {
				t.Errorf("%s: %q, %v", tt.option, data, err)
			}
		}
		c.Expect("OPTS UTF8 ON", "200")
		c.Expect("MKD 日本", `257 "/日本"`)
		c = testclient.LoginFTP(t, srv)
		if data, _, _, err := c.Get("NLST"); data != "M\xfc\x80\r\n\xc3\xbc\r\n??\r\n" || err != nil {
			t.Errorf("%q, %v", data, err)
		}
	})
}
