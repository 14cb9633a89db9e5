package ftptest_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/conversation"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

// lab configures a server with an account.
func lab(s *ftptest.Server) {
	s.Users = map[string]testserver.User{
		"lab":    {Password: "secret"},
		"vms":    {Password: "secret", Account: "acct"},
		"open":   {},
		"ledger": {Account: "acct"},
	}
}

// TestFTPDialogues tests the reply to each command: a conversation, with the beginnings of replies.
func TestFTPDialogues(t *testing.T) {
	login := "C: USER anonymous\nS: 331\nC: PASS me@example.test\nS: 230\n"
	for _, tt := range []struct {
		name      string
		configure func(*ftptest.Server)
		text      string
	}{
		{"anonymous", nil, "C: USER anonymous\nS: 331\nC: PASS\nS: 230\nC: QUIT\nS: 221 "},
		{"ftp is anonymous", nil, "C: user ftp\nS: 331\nC: pass x\nS: 230\nC: QUIT\nS: 221"},
		{"anonymous refused", func(s *ftptest.Server) { s.Anonymous = false },
			"C: USER anonymous\nS: 331\nC: PASS me\nS: 530\nC: PWD\nS: 530"},
		{"password", lab, "C: USER lab\nS: 331\nC: PASS wrong\nS: 530\nC: PASS secret\nS: 503\nC: USER lab\nS: 331\nC: PASS secret\nS: 230\nC: PASS secret\nS: 202"},
		{"unknown user", lab, "C: USER nobody\nS: 331\nC: PASS\nS: 530"},
		{"no password asked", lab, "C: USER open\nS: 230\nC: PWD\nS: 257"},
		{"password and account", lab, "C: USER vms\nS: 331\nC: ACCT acct\nS: 503\nC: PASS secret\nS: 332\nC: PWD\nS: 530\nC: ACCT acct\nS: 230\nC: ACCT acct\nS: 202\nC: PWD\nS: 257"},
		{"wrong account", lab, "C: USER vms\nS: 331\nC: PASS secret\nS: 332\nC: ACCT x\nS: 530\nC: ACCT acct\nS: 503"},
		{"account alone", lab, "C: USER ledger\nS: 332\nC: ACCT acct\nS: 230"},
		{"too many wrong logins", lab, strings.Repeat("C: USER lab\nS: 331\nC: PASS x\nS: 530\n", 9) + "C: USER lab\nS: 331\nC: PASS x\nS: 421"},
		{"before login", nil, "C: SYST\nS: 215\nC: NOOP\nS: 200\nC: HELP\nS: 214\nC: FEAT\nS: 211\nC: CWD /\nS: 530\nC: RETR x\nS: 530\nC: XYZZY\nS: 500\nC: \nS: 500"},
		{"reinitialize", nil, login + "C: CWD pub\nS: 250\nC: REIN\nS: 220\nC: PWD\nS: 530\n" + login + `C: PWD
S: 257 "/"`},
		{"directories", nil, login + `C: PWD
S: 257 "/"
C: CWD pub
S: 250
C: CWD sub
S: 250
C: PWD
S: 257 "/pub/sub"
C: CDUP
S: 250
C: PWD
S: 257 "/pub"
C: CWD /with space
S: 250
C: PWD
S: 257 "/with space"
C: CWD ..
S: 250
C: CDUP
S: 250
C: PWD
S: 257 "/"
C: CWD ../../..
S: 250
C: CWD motd.txt
S: 550
C: CWD nowhere
S: 550
C: CWD secret
S: 550`},
		{"absolute CWD, as of %2Fpub%2Fsub", nil, login + "C: CWD /pub/sub\nS: 250\nC: PWD\nS: 257 \"/pub/sub\""},
		{"login directory", func(s *ftptest.Server) { s.LoginDir = "/pub" }, login +
			"C: PWD\nS: 257 \"/pub\"\nC: SIZE a.txt\nS: 213\nC: CWD sub\nS: 250\nC: CWD \nS: 250\nC: PWD\nS: 257 \"/pub\"\nC: CWD /\nS: 250\nC: PWD\nS: 257 \"/\""},
		{"null CWD to the root", func(s *ftptest.Server) { s.LoginDir, s.NullCWD = "/pub", "/" }, login + "C: CWD \nS: 250\nC: PWD\nS: 257 \"/\""},
		{"null CWD refused", func(s *ftptest.Server) { s.NullCWD = "550 Failed to change directory." }, login + "C: CWD \nS: 550 Failed to change directory.\nC: CWD\nS: 550 Failed"},
		{"parameters", nil, login + "C: TYPE A\nS: 200\nC: TYPE A N\nS: 200\nC: TYPE I\nS: 200\nC: TYPE L 8\nS: 200\nC: type i\nS: 200\nC: TYPE D\nS: 504\nC: TYPE E\nS: 504\nC: MODE S\nS: 200\nC: MODE B\nS: 504\nC: STRU F\nS: 200\nC: STRU R\nS: 504\nC: ALLO 10\nS: 202"},
		{"size", nil, login + "C: TYPE I\nS: 200\nC: SIZE motd.txt\nS: 213 12\nC: TYPE A\nS: 200\nC: SIZE motd.txt\nS: 213 14\nC: SIZE crlf.txt\nS: 213 10\nC: SIZE pub\nS: 550\nC: SIZE nix\nS: 550\nC: SIZE secret/key.txt\nS: 550 Permission"},
		{"raw size", func(s *ftptest.Server) { s.SizeInASCII = ftptest.SizeRaw }, login + "C: SIZE motd.txt\nS: 213 12"},
		{"no size in ASCII", func(s *ftptest.Server) { s.SizeInASCII = ftptest.SizeRefused }, login + "C: SIZE motd.txt\nS: 550\nC: TYPE I\nS: 200\nC: SIZE motd.txt\nS: 213 12"},
		{"times", nil, login + "C: MDTM motd.txt\nS: 213 19950304050607\nC: MDTM crlf.txt\nS: 213 19941201120000\nC: MDTM pub\nS: 550\nC: MFMT 20010203040506 motd.txt\nS: 213 Modify=20010203040506; motd.txt\nC: MDTM motd.txt\nS: 213 20010203040506\nC: MFMT x motd.txt\nS: 501\nC: MFMT 20010203040506 pub\nS: 550"},
		{"facts", nil, login + "C: MLST pub\nS: 250-Listing\nS:  type=dir;modify=19941201120000;perm=elcmpd; /pub\nS: 250 End\nC: MLST nix\nS: 550"},
		{"status", nil, login + "C: STAT\nS: 211\nC: STAT pub\nS: 213-Status of pub:\nS:  -rw-r--r--    1 ftp      ftp                 1 Dec  1  1994 a.txt\nS:  drwxr-xr-x\nC: STAT nix\nS: 550"},
		{"remove", nil, login + "C: DELE pub\nS: 550\nC: RMD pub\nS: 550\nC: RMD motd.txt\nS: 550\nC: DELE motd.txt\nS: 250\nC: SIZE motd.txt\nS: 550\nC: DELE motd.txt\nS: 550\nC: DELE secret/key.txt\nS: 550"},
		{"make directories", nil, login + "C: MKD new\nS: 257 \"/new\"\nC: MKD new\nS: 550\nC: CWD new\nS: 250\nC: MKD in\"side\nS: 257 \"/new/in\"\"side\"\nC: CWD /\nS: 250\nC: RMD new\nS: 550\nC: RMD new/in\"side\nS: 250\nC: RMD new\nS: 250\nC: CWD new\nS: 550\nC: MKD x/y\nS: 550"},
		{"rename", nil, login + "C: RNTO x\nS: 503\nC: RNFR nix\nS: 550\nC: RNFR motd.txt\nS: 350\nC: RNTO pub/moved\nS: 250\nC: TYPE I\nS: 200\nC: SIZE pub/moved\nS: 213 12\nC: SIZE motd.txt\nS: 550\nC: RNFR pub\nS: 350\nC: RNTO public\nS: 250\nC: SIZE public/sub/deep.txt\nS: 213 5\nC: SIZE public/moved\nS: 213 12\nC: CWD pub\nS: 550\nC: RNFR public\nS: 350\nC: RNTO public/x\nS: 553"},
		{"read only", func(s *ftptest.Server) { s.ReadOnly = true }, login + "C: STOR x\nS: 550\nC: DELE motd.txt\nS: 550\nC: MKD x\nS: 550\nC: RNFR motd.txt\nS: 350\nC: RNTO x\nS: 550\nC: MFMT 20010203040506 motd.txt\nS: 550"},
		{"restart", nil, login + "C: REST 5\nS: 350\nC: REST -1\nS: 501\nC: REST x\nS: 501"},
		{"no data connection", nil, login + "C: RETR motd.txt\nS: 425\nC: NLST\nS: 425\nC: STOR x\nS: 425\nC: ABOR\nS: 226"},
		{"not a command", nil, login + "C: \x00\nS: 500\nC: MDTM nix\nS: 550\nC: SIZE\nS: 550\nC: DELE\nS: 553\nC: MKD\nS: 553"},
		{"refused before the transfer", nil, login + "C: PASV\nS: 227\nC: RETR nix\nS: 550\nC: RETR pub\nS: 550\nC: RETR secret/key.txt\nS: 550 Permission\nC: NLST nix\nS: 550\nC: NLST *.nix\nS: 550\nC: LIST secret/*\nS: 550\nC: MLSD *\nS: 550\nC: STOU secret/x\nS: 550\nC: MLSD motd.txt\nS: 501\nC: STOR nix/x\nS: 550\nC: STOR pub\nS: 550"},
		{"EPSV ALL", nil, login + "C: EPSV ALL\nS: 200\nC: PASV\nS: 503\nC: PORT 127,0,0,1,200,1\nS: 503\nC: EPRT |1|127.0.0.1|6000|\nS: 503\nC: EPSV\nS: 229\nC: EPSV 1\nS: 229\nC: EPSV 2\nS: 522"},
		{"active mode only to the client", nil, login + "C: PORT 10,0,0,5,200,1\nS: 504\nC: PORT 127,0,0,1,0,80\nS: 504\nC: PORT 1,2\nS: 501\nC: PORT 1,2,3,4,5,256\nS: 501\nC: PORT 127,0,0,1,200,1\nS: 200\nC: EPRT |1|10.0.0.5|6000|\nS: 504\nC: EPRT\nS: 501\nC: EPRT |1|x|6000|\nS: 501\nC: EPRT |3|127.0.0.1|6000|\nS: 522\nC: EPRT |2|::1|6000|\nS: 504\nC: EPRT |1|127.0.0.1|6000|\nS: 200"},
		{"passive address", func(s *ftptest.Server) { s.PassiveHost = "10.0.0.5" }, login + "C: PASV\nS: 227 Entering Passive Mode (10,0,0,5,"},
		{"passive port", func(s *ftptest.Server) { s.PassivePorts = [2]uint16{50000, 50000} }, login + "C: PASV\nS: 227 Entering Passive Mode (127,0,0,1,195,80).\nC: EPSV\nS: 229 Entering Extended Passive Mode (|||50000|)"},
		{"no passive port left", func(s *ftptest.Server) { s.PassivePorts = [2]uint16{21, 21} }, login + "C: PASV\nS: 425\nC: EPSV\nS: 425"},
		{"facts, read only", func(s *ftptest.Server) { s.ReadOnly = true }, login + "C: MLST motd.txt\nS: 250-Listing\nS:  type=file;size=12;modify=19950304050607;perm=r; /motd.txt\nS: 250 End"},
		{"hidden commands", func(s *ftptest.Server) { s.Hide = []string{"feat", "EPSV", "SIZE"} }, login + "C: FEAT\nS: 502\nC: EPSV\nS: 502\nC: SIZE motd.txt\nS: 502\nC: PASV\nS: 227"},
		{"features", func(s *ftptest.Server) { s.Hide = []string{"MLST", "EPRT"} }, "C: FEAT\nS: 211-Features:\nS:  EPSV\nS:  MDTM\nS:  MFMT\nS:  REST STREAM\nS:  SIZE\nS:  TVFS\nS:  UTF8\nS: 211 End"},
		{"options", nil, login + "C: OPTS UTF8 ON\nS: 200\nC: OPTS MLST type;size;\nS: 200\nC: OPTS X\nS: 501"},
		{"facts chosen", nil, login + `C: OPTS MLST type;
S: 200 MLST OPTS type;
C: MLST motd.txt
S: 250-Listing
S:  type=file; /motd.txt
S: 250 End
C: FEAT
S: 211-Features:
S:  EPRT
S:  EPSV
S:  MDTM
S:  MFMT
S:  MLST type*;size;modify;perm;
S:  REST
C: opts mlst Perm;perm;SIZE;none;unix.mode;
S: 200 MLST OPTS perm;size;
C: MLST motd.txt
S: 250-Listing
S:  size=12;perm=radfw; /motd.txt
S: 250 End
C: MLST pub
S: 250-Listing
S:  perm=elcmpd; /pub
S: 250 End
C: OPTS MLST type
S: 501
C: OPTS MLST type;size
S: 501
C: MLST pub
S: 250-Listing
S:  perm=elcmpd; /pub
S: 250 End
C: OPTS MLST none;
S: 200 MLST OPTS
C: MLST with space/100% a.md
S: 250-Listing
S:   /with space/100% a.md
S: 250 End
C: FEAT
S: 211-Features:
S:  EPRT
S:  EPSV
S:  MDTM
S:  MFMT
S:  MLST type;size;modify;perm;
S:  REST
C: OPTS MLST size;
S: 200 MLST OPTS size;
C: OPTS MLST
S: 200 MLST OPTS
C: MLST pub
S: 250-Listing
S:   /pub
S: 250 End
C: REIN
S: 220
C: FEAT
S: 211-Features:
S:  EPRT
S:  EPSV
S:  MDTM
S:  MFMT
S:  MLST type*;size*;modify*;perm*;
S:  REST
`},
		{"no facts to choose", func(s *ftptest.Server) { s.Hide = []string{"mlst"} }, login + "C: OPTS MLST type;\nS: 501"},
		{"facts of a list of the program", func(s *ftptest.Server) {
			s.Listing = func(ftptest.Listing) []string { return []string{"x.a=1;TYPE=file;Size=5; a b;c", "no facts"} }
			s.Replies = ftptest.Replies{"FEAT 211": "211-Features:\n MLST Size;X.a*;TYPE*;\n211 End"}
		}, login + "C: OPTS MLST size;x.A;\nS: 200 MLST OPTS Size;X.a;\nC: MLST motd.txt\nS: 250-Listing\nS:  x.a=1;Size=5; a b;c\nS:  no facts\nS: 250 End\nC: FEAT\nS: 211-Features:\nS:  MLST Size*;X.a*;TYPE;\nS: 211 End"},
		{"facts refused", func(s *ftptest.Server) { s.Replies = ftptest.Replies{"OPTS 200 MLST": "502 No."} }, login + "C: OPTS MLST size;\nS: 502 No.\nC: MLST motd.txt\nS: 250-Listing\nS:  type=file;size=12;modify"},
		{"no TLS", nil, "C: AUTH TLS\nS: 502\nC: PBSZ 0\nS: 503\nC: PROT P\nS: 503\n" + login + "C: CCC\nS: 533"},
		{"TLS that is required", func(s *ftptest.Server) { s.TLS, s.RequireTLS = new(tls.Config), true },
			"C: FEAT\nS: 211-Features:\nS:  EPRT\nS:  EPSV\nS:  MDTM\nS:  MFMT\nS:  MLST type*;size*;modify*;perm*;\nS:  REST STREAM\nS:  SIZE\nS:  TVFS\nS:  UTF8\nS:  AUTH TLS\nS:  CCC\nS:  PBSZ\nS:  PROT\nS: 211 End\nC: USER anonymous\nS: 530\nC: PASS x\nS: 530\nC: AUTH GSSAPI\nS: 504"},
		{"PRET", func(s *ftptest.Server) { s.RequirePRET = true }, login + "C: PASV\nS: 500\nC: EPSV\nS: 500\nC: PRET NOOP\nS: 501\nC: PRET RETR motd.txt\nS: 200\nC: EPSV\nS: 229\nC: PASV\nS: 500\nC: PRET LIST\nS: 200\nC: PASV\nS: 227"},
		{"an endless command", nil, "C: " + strings.Repeat("x", 20000) + "\nS: 500\nC: NOOP\nS: 200"},
		{"Telnet commands before a command", nil, login + "C: \xff\xf4\xff\xf2ABOR\nS: 226\nC: CWD caf\xff\xff\nS: 550"},
		{"Telnet options", nil, login + "C: \xff\xfe\x01NOOP\nS: \xff\xfc\x01200\nC: NO\xff\xfd\x03\xff\xfb\x00OP\nS: \xff\xfc\x03\xff\xfe\x00200\nC: MKD a\xff\xf1\xff\xff\xffb\nS: 257 \"/a\xff\" created\nC: NOOP\xff\nS: 200"},
		{"no Telnet", func(s *ftptest.Server) { s.BareIAC = true }, login + "C: \xff\xfe\x01NOOP\nS: 500\nC: MKD a\xff\xf1\xff\xff\nS: 257 \"/a\xff\xf1\xff\xff\" created"},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := ftptest.New(t, func(s *ftptest.Server) {
				s.InMemory, s.Content, s.Forbidden = true, testclient.Content(), []string{"secret"}
				if tt.configure != nil {
					tt.configure(s)
				}
			})
			testclient.DialFTP(t, srv).Play(tt.text)
		})
	}
}

func TestFTPTransfers(t *testing.T) {
	for _, tt := range []struct{ name, before, command, data string }{
		{"binary", "NOOP", "RETR every.bin", string(testclient.Content()["every.bin"].Data)},
		{"empty", "NOOP", "RETR empty.txt", ""},
		{"LF to CR LF", "TYPE A", "RETR motd.txt", "hello\r\nworld\r\n"},
		{"CR LF as it is", "TYPE A", "RETR crlf.txt", "one\r\ntwo\r\n"},
		{"restart", "REST 6", "RETR motd.txt", "world\n"},
		{"restart ignored", "REST 6", "RETR motd.txt", "hello\nworld\n"},
		{"restart at the end", "REST 12", "RETR motd.txt", ""},
		{"odd name", "CWD with space", "RETR 100% a.md", "odd name\n"},
		{"8-bit name", "NOOP", "RETR caf\xc3\xa9.txt", "latte\n"},
		{"8-bit name that is no UTF-8", "NOOP", "RETR caf\xe9", "noir\n"},
		{"names", "CWD pub", "NLST", "a.txt\r\nsub\r\n"},
		{"names of a directory", "NOOP", "NLST pub", "pub/a.txt\r\npub/sub\r\n"},
		{"name of a file", "NOOP", "NLST motd.txt", "motd.txt\r\n"},
		{"names, flags dropped", "CWD pub", "NLST -a", "a.txt\r\nsub\r\n"},
		{"list", "CWD pub", "LIST", "-rw-r--r--    1 ftp      ftp                 1 Dec  1  1994 a.txt\r\ndrwxr-xr-x    2 ftp      ftp                 0 Dec  1  1994 sub\r\n"},
		{"list, flags dropped", "NOOP", "LIST -a pub/sub", "-rw-r--r--    1 ftp      ftp                 5 Dec  1  1994 deep.txt\r\n"},
		{"names that fit", "CWD pub", "NLST *.txt", "a.txt\r\n"},
		{"names that fit, elsewhere", "NOOP", "NLST pub/s?b", "pub/sub\r\n"},
		{"list of what fits", "NOOP", "LIST -l pub/sub/[a-d]*", "-rw-r--r--    1 ftp      ftp                 5 Dec  1  1994 pub/sub/deep.txt\r\n"},
		{"facts", "NOOP", "MLSD pub/sub", "type=file;size=5;modify=19941201120000;perm=radfw; deep.txt\r\n"},
		{"facts chosen", "OPTS MLST size;perm;", "MLSD pub", "size=1;perm=radfw; a.txt\r\nperm=elcmpd; sub\r\n"},
		{"no facts chosen", "OPTS MLST", "MLSD pub", " a.txt\r\n sub\r\n"},
		{"facts chosen, but not for names", "OPTS MLST size;", "NLST pub", "pub/a.txt\r\npub/sub\r\n"},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := ftptest.New(t, inMemory)
			if tt.name == "restart ignored" {
				srv.On("REST", 1, testserver.FromStart())
			}
			if err := srv.Put("caf\xe9", []byte("noir\n")); err != nil {
				t.Fatal(err)
			}
			c := testclient.LoginFTP(t, srv)
			c.Send(tt.before)
			c.Reply()
			data, first, last, err := c.Get(tt.command)
			if data != tt.data || err != nil {
				t.Errorf("got %q, %v; want %q", data, err, tt.data)
			}
			if !strings.HasPrefix(first, "150 ") || !strings.HasPrefix(last, "226 ") {
				t.Errorf("replies %q and %q", first, last)
			}
		})
	}
}

func inMemory(s *ftptest.Server) { s.InMemory, s.Content = true, testclient.Content() }

func TestFTPUploads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory, func(s *ftptest.Server) { s.MaxUpload = 64 })
		c := testclient.LoginFTP(t, srv)
		for _, tt := range []struct{ before, command, data, want string }{
			{"NOOP", "STOR new", "0123456789", "226"},
			{"NOOP", "STOR caf\xe9", "noir", "226"},
			{"NOOP", "STOU", "first", "226"},
			{"NOOP", "STOU", "second", "226"},
			{"NOOP", "STOU motd.txt", "third", "226"},
			{"NOOP", "APPE new", "abc", "226"},
			{"NOOP", "APPE fresh", "abc", "226"},
			{"REST 3", "STOR new", "---", "226"},
			{"REST 99", "STOR new", "x", "553"},
			{"TYPE A", "STOR text", "a\r\nb\rc\r\n\r", "226"},
			{"TYPE I", "STOR motd.txt", "other", "226"},
			{"NOOP", "STOR big", strings.Repeat("x", 65), "552"},
		} {
			c.Send(tt.before)
			c.Reply()
			if got := c.Put(tt.command, tt.data); !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s: %q, want %s", tt.command, got, tt.want)
			}
		}
		want := map[string]string{
			"new": "012---6789abc", "caf\xe9": "noir", "fresh": "abc", "text": "a\nb\rc\n\r",
			"stou": "first", "stou.1": "second", "motd.txt.1": "third", "motd.txt": "other", "big": strings.Repeat("x", 64),
		}
		got := make(map[string]string)
		for name, data := range srv.Uploads() {
			got[name] = string(data)
		}
		if !maps.Equal(got, want) {
			t.Errorf("uploads %q\nwant    %q", got, want)
		}
		if data, _, _, _ := c.Get("RETR new"); data != want["new"] {
			t.Errorf("served again as %q", data)
		}
		if data, _, _, _ := c.Get("NLST"); !strings.Contains(data, "caf\xe9\r\n") {
			t.Errorf("not listed: %q", data)
		}
	})
}

func TestFTPUploadOfCanceledClientIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory)
		c := testclient.LoginFTP(t, srv)
		nc := c.Data()
		c.Expect("STOR partial", "150")
		io.WriteString(nc, "first half")
		nc.(interface{ SetLinger(int) error }).SetLinger(0)
		nc.Close()
		if got := c.Reply(); !strings.HasPrefix(got, "426") {
			t.Errorf("reply %q", got)
		}
		if got := string(srv.Uploads()["partial"]); got != "first half" {
			t.Errorf("kept %q", got)
		}
	})
}

func TestFTPActiveMode(t *testing.T) {
	network := new(testserver.Network)
	for _, tt := range []struct {
		name    string
		network *testserver.Network
		command func(port int) string
	}{
		{"PORT over loopback", nil, portCommand},
		{"EPRT over loopback", nil, func(port int) string { return fmt.Sprintf("EPRT |1|127.0.0.1|%d|", port) }},
		{"PORT in memory", network, portCommand},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := ftptest.New(t, func(s *ftptest.Server) { s.Content, s.Network = testclient.Content(), tt.network })
			listen := new(net.ListenConfig).Listen
			if tt.network != nil {
				listen = tt.network.Listen
			}
			l, err := listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			c := testclient.LoginFTP(t, srv)
			c.Expect(tt.command(l.Addr().(*net.TCPAddr).Port), "200")
			c.Send("RETR motd.txt")
			nc, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			if data, err := io.ReadAll(nc); string(data) != "hello\nworld\n" || err != nil {
				t.Errorf("got %q, %v", data, err)
			}
			if first, last := c.Reply(), c.Reply(); !strings.HasPrefix(first, "150") || !strings.HasPrefix(last, "226") {
				t.Errorf("replies %q, %q", first, last)
			}
			c.Expect("RETR motd.txt", "425") // a PORT is for one connection only
		})
	}
}

func portCommand(port int) string {
	return fmt.Sprintf("PORT 127,0,0,1,%d,%d", port>>8, port&0xff)
}

func TestFTPAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory)
		srv.On("RETR", 1, testserver.Drip(1, time.Minute))
		c := testclient.LoginFTP(t, srv)
		nc := c.Data()
		c.Expect("RETR motd.txt", "150")
		nc.Read(make([]byte, 1))
		c.Expect("ABOR", "426")
		if got := c.Reply(); !strings.HasPrefix(got, "226") {
			t.Errorf("second reply to ABOR: %q", got)
		}
		if rest, _ := io.ReadAll(nc); len(rest) > 2 {
			t.Errorf("%d bytes after the abort", len(rest))
		}
		if data, _, last, _ := c.Get("RETR motd.txt"); data != "hello\nworld\n" {
			t.Errorf("after the abort: %q, %s", data, last)
		}
	})
}

func TestFTPCommandsSentAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory)
		c := testclient.LoginFTP(t, srv)
		nc := c.Data()
		io.WriteString(c, "RETR motd.txt\r\nPWD\r\nNOOP\r\n")
		if data, err := io.ReadAll(nc); string(data) != "hello\nworld\n" || err != nil {
			t.Errorf("got %q, %v", data, err)
		}
		for _, want := range []string{"150", "226", "257", "200"} {
			if got := c.Reply(); !strings.HasPrefix(got, want) {
				t.Errorf("reply %q, want %s", got, want)
			}
		}
	})
}

// TestFTPCommandsAhead tests what a client sees of servers that cannot handle commands sent
// ahead. The lines of a case are the replies to what the client wrote at once.
func TestFTPCommandsAhead(t *testing.T) {
	const transfer, closed = "RETR motd.txt\r\nEPSV\r\nPWD\r\n", "!EOF"
	for _, tt := range []struct {
		name        string
		ahead       ftptest.Ahead
		inTransfers bool
		written     string
		replies     string
		came        int
	}{
		{"kept", ftptest.AheadKept, false, "PWD\r\nNOOP\r\n", "257 200", 0},
		{"kept in a transfer", ftptest.AheadKept, false, transfer, "150 226 229 257", 0},
		{"lost", ftptest.AheadLost, false, "PWD\r\nNOOP\r\nTYPE I\r\n", "257", 2},
		{"lost behind a refusal", ftptest.AheadLost, false, "SIZE nix\r\nNOOP\r\n", "550", 1},
		{"lost in a transfer", ftptest.AheadLost, false, transfer, "150 226", 2},
		{"lost in transfers only", ftptest.AheadLost, true, "PWD\r\nNOOP\r\n" + transfer, "257 200 150 226", 2},
		{"out of turn", ftptest.AheadOutOfTurn, false, "PWD\r\nNOOP\r\nSYST\r\nSIZE motd.txt\r\n", "200 257 213 215", 2},
		{"out of turn, but a transfer", ftptest.AheadOutOfTurn, false, "PWD\r\nRETR motd.txt\r\n", "257 150 226", 1},
		{"out of turn in a transfer", ftptest.AheadOutOfTurn, false, transfer, "150 450 257 226", 2},
		{"out of turn in transfers only", ftptest.AheadOutOfTurn, true, "PWD\r\nNOOP\r\n" + transfer, "257 200 150 450 257 226", 2},
		{"closes", ftptest.AheadCloses, false, "PWD\r\nNOOP\r\n", closed, 1},
		{"closes in a transfer", ftptest.AheadCloses, true, "PWD\r\nNOOP\r\n" + transfer, "257 200 150 " + closed, 1},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := ftptest.New(t, inMemory, func(s *ftptest.Server) { s.Ahead, s.AheadInTransfers = tt.ahead, tt.inTransfers })
			c := testclient.LoginFTP(t, srv)
			nc := c.Data()
			t.Cleanup(func() { nc.Close() })
			io.WriteString(c, tt.written)
			for want := range strings.FieldsSeq(tt.replies) {
				if got := c.Reply(); !strings.HasPrefix(got, want) {
					t.Errorf("reply %q, want %s", got, want)
				}
			}
			if strings.HasSuffix(tt.replies, "226") {
				if data, err := io.ReadAll(nc); string(data) != "hello\nworld\n" || err != nil {
					t.Errorf("got %q, %v", data, err)
				}
			}
			if !strings.HasSuffix(tt.replies, closed) {
				c.Expect("NOOP", "200") // one command at a time works
			}
			if got := srv.CameAhead(); got != tt.came {
				t.Errorf("%d commands came ahead, want %d:\n%s", got, tt.came, srv.Transcript())
			}
		})
	}
}

// TestFTPCommandsAheadUnderTLS is the same under TLS, with commands in records of their own,
// and from the login on.
func TestFTPCommandsAheadUnderTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory, func(s *ftptest.Server) {
			s.TLS, s.ImplicitTLS, s.Ahead = serverTLS(t), true, ftptest.AheadLost
		})
		nc := tls.Client(testclient.Dial(t, srv, srv.Addr), &tls.Config{InsecureSkipVerify: true})
		c := testclient.NewFTP(t, srv, nc)
		c.Reply()
		c.Send("USER anonymous")
		c.Send("PASS x")
		if got := c.Reply(); !strings.HasPrefix(got, "331") {
			t.Errorf("reply %q, want 331", got)
		}
		c.Expect("PASS x", "230")
		if got := srv.CameAhead(); got != 1 {
			t.Errorf("%d commands came ahead, want 1", got)
		}
	})
}

// TestFTPAbortIsNotAhead aborts a transfer of a server that loses commands sent ahead.
func TestFTPAbortIsNotAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory, func(s *ftptest.Server) { s.Ahead = ftptest.AheadLost })
		srv.On("DATA", 1, testserver.Silence())
		c := testclient.LoginFTP(t, srv)
		defer c.Data().Close()
		c.Expect("RETR motd.txt", "150")
		c.Expect("ABOR", "426")
		if got := c.Reply(); !strings.HasPrefix(got, "226") || srv.CameAhead() != 0 {
			t.Errorf("%q, %d commands came ahead", got, srv.CameAhead())
		}
	})
}

func TestFTPIdleClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory, func(s *ftptest.Server) { s.IdleTimeout = time.Minute })
		srv.On("RETR", 1, testserver.Drip(1, 30*time.Second)) // six minutes, longer than idle
		c := testclient.LoginFTP(t, srv)
		if data, _, last, err := c.Get("RETR motd.txt"); data != "hello\nworld\n" || err != nil {
			t.Errorf("a long transfer: %q, %q, %v", data, last, err)
		}
		start := time.Now()
		if got := c.Reply(); !strings.HasPrefix(got, "421") {
			t.Errorf("reply %q", got)
		}
		if waited := time.Since(start); waited > 2*time.Minute {
			t.Errorf("idle for %v", waited)
		}
	})
}

// TestFTPStranger has another host connect to the data port first. It must receive nothing.
func TestFTPStranger(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = testclient.Content() })
	c := testclient.LoginFTP(t, srv)
	addr := conversation.DataAddr(srv.Addr, c.Expect("EPSV", "229"))
	stranger, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Skip("this machine has one loopback address: ", err)
	}
	defer stranger.Close()
	own := testclient.Dial(t, srv, addr)
	defer own.Close()
	c.Expect("RETR motd.txt", "150")
	if data, err := io.ReadAll(own); string(data) != "hello\nworld\n" || err != nil {
		t.Errorf("got %q, %v", data, err)
	}
	if got := c.Reply(); !strings.HasPrefix(got, "226") {
		t.Errorf("reply %q", got)
	}
	if data, err := io.ReadAll(stranger); len(data) > 0 || err != nil {
		t.Errorf("the stranger got %q, %v", data, err)
	}
}

func TestFTPNoDataConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory)
		c := testclient.LoginFTP(t, srv)
		c.Expect("EPSV", "229")
		c.Expect("RETR motd.txt", "150")
		if got := c.Reply(); !strings.HasPrefix(got, "425") {
			t.Errorf("reply %q", got)
		}
	})
}

func TestFTPClientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory)
		srv.On("RETR", 0, testserver.Drip(1, time.Minute))
		c := testclient.LoginFTP(t, srv)
		nc := c.Data()
		c.Expect("RETR motd.txt", "150")
		c.Close()
		start := time.Now()
		io.ReadAll(nc)
		if waited := time.Since(start); waited > time.Minute {
			t.Errorf("the transfer continued for %v", waited)
		}
	})
}

func TestFTPTranscript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory, func(s *ftptest.Server) { s.Greeting = "220-Welcome\n220 ready" })
		c := testclient.DialFTP(t, srv)
		c.Expect("USER anonymous", "331")
		c.Expect("PASS p\xff\xff", "230")
		io.WriteString(c, "NOOP\n")
		c.Reply()
		io.WriteString(c, "QUI")
		c.Close()
		synctest.Wait()
		want := `S: 220-Welcome
S: 220 ready
C: USER anonymous
S: 331 Guest login ok, send your e-mail address as password.
C: "PASS p\xff\xff\r\n"
S: 230 User logged in, proceed.
C: "NOOP\n"
S: 200 Ok.
C: "QUI"
`
		if got := srv.Transcript().String(); got != want {
			t.Errorf("transcript\n%swant\n%s", got, want)
		}
		if !srv.Transcript().Has(testserver.FromServer, "200 Ok.") {
			t.Error("Has does not find a line of the transcript")
		}
		srv.ResetTranscript()
		if got := srv.Transcript(); len(got) != 0 {
			t.Errorf("after a reset %v", got)
		}
	})
}

// Clients write to an overlay, not to the file system itself.
func TestFTPContentIsNotWritten(t *testing.T) {
	fsys := fstest.MapFS{"a": {Data: []byte("original")}}
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = fsys })
	c := testclient.LoginFTP(t, srv)
	if got := c.Put("STOR a", "changed"); !strings.HasPrefix(got, "226") {
		t.Fatal(got)
	}
	c.Expect("DELE a", "250")
	if string(fsys["a"].Data) != "original" {
		t.Errorf("content is now %q", fsys["a"].Data)
	}
	c.Expect("SIZE a", "550")
}

func TestCloseEndsSessionsAtOnce(t *testing.T) {
	testclient.InBubble(t, "memory", func(t *testing.T) { testClose(t, true) })
	t.Run("loopback", func(t *testing.T) { testClose(t, false) })
}

func testClose(t *testing.T, inMemory bool) {
	srv, err := ftptest.Start(t.Context(), "127.0.0.1:0", func(s *ftptest.Server) { s.Content, s.InMemory = testclient.Content(), inMemory })
	if err != nil {
		t.Fatal(err)
	}
	srv.On("RETR", 1, testserver.Drip(1, time.Hour))
	c := testclient.LoginFTP(t, srv)
	nc := c.Data()
	c.Expect("RETR motd.txt", "150")
	start := time.Now()
	srv.Close()
	if took := time.Since(start); inMemory && took > 0 {
		t.Errorf("Close took %v", took)
	}
	srv.Close() // a second time
	srv.Wait()
	for _, conn := range []net.Conn{c, nc} {
		_, _ = io.Copy(io.Discard, conn) // which ends, as the connection is closed
	}
	if _, err := srv.Dial(t.Context(), "tcp", srv.Addr); err == nil {
		t.Error("the server still accepts")
	}
}
