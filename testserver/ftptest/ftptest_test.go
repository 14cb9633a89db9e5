package ftptest_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
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

// TestFTPDialogues tests the reply to each command. A line is a
// command and the beginning of its reply.
func TestFTPDialogues(t *testing.T) {
	login := "USER anonymous => 331\nPASS me@example.test => 230\n"
	for _, tt := range []struct {
		name      string
		configure func(*ftptest.Server)
		script    string
	}{
		{"anonymous", nil, "USER anonymous => 331\nPASS => 230\nQUIT => 221 "},
		{"ftp is anonymous", nil, "user ftp => 331\npass x => 230\nQUIT => 221"},
		{"anonymous refused", func(s *ftptest.Server) { s.Anonymous = false },
			"USER anonymous => 331\nPASS me => 530\nPWD => 530"},
		{"password", lab, "USER lab => 331\nPASS wrong => 530\nPASS secret => 503\nUSER lab => 331\nPASS secret => 230\nPASS secret => 202"},
		{"unknown user", lab, "USER nobody => 331\nPASS => 530"},
		{"no password asked", lab, "USER open => 230\nPWD => 257"},
		{"password and account", lab, "USER vms => 331\nACCT acct => 503\nPASS secret => 332\nPWD => 530\nACCT acct => 230\nACCT acct => 202\nPWD => 257"},
		{"wrong account", lab, "USER vms => 331\nPASS secret => 332\nACCT x => 530\nACCT acct => 503"},
		{"account alone", lab, "USER ledger => 332\nACCT acct => 230"},
		{"too many wrong logins", lab, strings.Repeat("USER lab => 331\nPASS x => 530\n", 9) + "USER lab => 331\nPASS x => 421"},
		{"before login", nil, "SYST => 215\nNOOP => 200\nHELP => 214\nFEAT => 211\nCWD / => 530\nRETR x => 530\nXYZZY => 500\n => 500"},
		{"reinitialize", nil, login + "CWD pub => 250\nREIN => 220\nPWD => 530\n" + login + `PWD => 257 "/"`},
		{"directories", nil, login + `PWD => 257 "/"
CWD pub => 250
CWD sub => 250
PWD => 257 "/pub/sub"
CDUP => 250
PWD => 257 "/pub"
CWD /with space => 250
PWD => 257 "/with space"
CWD .. => 250
CDUP => 250
PWD => 257 "/"
CWD ../../.. => 250
CWD motd.txt => 550
CWD nowhere => 550
CWD secret => 550`},
		{"absolute CWD, as of %2Fpub%2Fsub", nil, login + "CWD /pub/sub => 250\nPWD => 257 \"/pub/sub\""},
		{"login directory", func(s *ftptest.Server) { s.LoginDir = "/pub" }, login +
			"PWD => 257 \"/pub\"\nSIZE a.txt => 213\nCWD sub => 250\nCWD  => 250\nPWD => 257 \"/pub\"\nCWD / => 250\nPWD => 257 \"/\""},
		{"null CWD to the root", func(s *ftptest.Server) { s.LoginDir, s.NullCWD = "/pub", "/" }, login + "CWD  => 250\nPWD => 257 \"/\""},
		{"null CWD refused", func(s *ftptest.Server) { s.NullCWD = "550 Failed to change directory." }, login + "CWD  => 550 Failed to change directory.\nCWD => 550 Failed"},
		{"parameters", nil, login + "TYPE A => 200\nTYPE A N => 200\nTYPE I => 200\nTYPE L 8 => 200\ntype i => 200\nTYPE D => 504\nTYPE E => 504\nMODE S => 200\nMODE B => 504\nSTRU F => 200\nSTRU R => 504\nALLO 10 => 202"},
		{"size", nil, login + "TYPE I => 200\nSIZE motd.txt => 213 12\nTYPE A => 200\nSIZE motd.txt => 213 14\nSIZE crlf.txt => 213 10\nSIZE pub => 550\nSIZE nix => 550\nSIZE secret/key.txt => 550 Permission"},
		{"raw size", func(s *ftptest.Server) { s.SizeInASCII = ftptest.SizeRaw }, login + "SIZE motd.txt => 213 12"},
		{"no size in ASCII", func(s *ftptest.Server) { s.SizeInASCII = ftptest.SizeRefused }, login + "SIZE motd.txt => 550\nTYPE I => 200\nSIZE motd.txt => 213 12"},
		{"times", nil, login + "MDTM motd.txt => 213 19950304050607\nMDTM crlf.txt => 213 19941201120000\nMDTM pub => 550\nMFMT 20010203040506 motd.txt => 213 Modify=20010203040506; motd.txt\nMDTM motd.txt => 213 20010203040506\nMFMT x motd.txt => 501\nMFMT 20010203040506 pub => 550"},
		{"facts", nil, login + "MLST pub => 250-Listing\n type=dir;modify=19941201120000;perm=elcmpd; /pub\n250 End\nMLST nix => 550"},
		{"status", nil, login + "STAT => 211\nSTAT pub => 213-Status of pub:\n -rw-r--r--    1 ftp      ftp                 1 Dec  1  1994 a.txt\n drwxr-xr-x\nSTAT nix => 550"},
		{"remove", nil, login + "DELE pub => 550\nRMD pub => 550\nRMD motd.txt => 550\nDELE motd.txt => 250\nSIZE motd.txt => 550\nDELE motd.txt => 550\nDELE secret/key.txt => 550"},
		{"make directories", nil, login + "MKD new => 257 \"/new\"\nMKD new => 550\nCWD new => 250\nMKD in\"side => 257 \"/new/in\"\"side\"\nCWD / => 250\nRMD new => 550\nRMD new/in\"side => 250\nRMD new => 250\nCWD new => 550\nMKD x/y => 550"},
		{"rename", nil, login + "RNTO x => 503\nRNFR nix => 550\nRNFR motd.txt => 350\nRNTO pub/moved => 250\nTYPE I => 200\nSIZE pub/moved => 213 12\nSIZE motd.txt => 550\nRNFR pub => 350\nRNTO public => 250\nSIZE public/sub/deep.txt => 213 5\nSIZE public/moved => 213 12\nCWD pub => 550\nRNFR public => 350\nRNTO public/x => 553"},
		{"read only", func(s *ftptest.Server) { s.ReadOnly = true }, login + "STOR x => 550\nDELE motd.txt => 550\nMKD x => 550\nRNFR motd.txt => 350\nRNTO x => 550\nMFMT 20010203040506 motd.txt => 550"},
		{"restart", nil, login + "REST 5 => 350\nREST -1 => 501\nREST x => 501"},
		{"no data connection", nil, login + "RETR motd.txt => 425\nNLST => 425\nSTOR x => 425\nABOR => 226"},
		{"not a command", nil, login + "\x00 => 500\nMDTM nix => 550\nSIZE => 550\nDELE => 553\nMKD => 553"},
		{"refused before the transfer", nil, login + "PASV => 227\nRETR nix => 550\nRETR pub => 550\nRETR secret/key.txt => 550 Permission\nNLST nix => 550\nNLST *.nix => 550\nLIST secret/* => 550\nMLSD * => 550\nSTOU secret/x => 550\nMLSD motd.txt => 501\nSTOR nix/x => 550\nSTOR pub => 550"},
		{"EPSV ALL", nil, login + "EPSV ALL => 200\nPASV => 503\nPORT 127,0,0,1,200,1 => 503\nEPRT |1|127.0.0.1|6000| => 503\nEPSV => 229\nEPSV 1 => 229\nEPSV 2 => 522"},
		{"active mode only to the client", nil, login + "PORT 10,0,0,5,200,1 => 504\nPORT 127,0,0,1,0,80 => 504\nPORT 1,2 => 501\nPORT 1,2,3,4,5,256 => 501\nPORT 127,0,0,1,200,1 => 200\nEPRT |1|10.0.0.5|6000| => 504\nEPRT => 501\nEPRT |1|x|6000| => 501\nEPRT |3|127.0.0.1|6000| => 522\nEPRT |2|::1|6000| => 504\nEPRT |1|127.0.0.1|6000| => 200"},
		{"passive address", func(s *ftptest.Server) { s.PassiveHost = "10.0.0.5" }, login + "PASV => 227 Entering Passive Mode (10,0,0,5,"},
		{"passive port", func(s *ftptest.Server) { s.PassivePorts = [2]uint16{50000, 50000} }, login + "PASV => 227 Entering Passive Mode (127,0,0,1,195,80).\nEPSV => 229 Entering Extended Passive Mode (|||50000|)"},
		{"no passive port left", func(s *ftptest.Server) { s.PassivePorts = [2]uint16{21, 21} }, login + "PASV => 425\nEPSV => 425"},
		{"facts, read only", func(s *ftptest.Server) { s.ReadOnly = true }, login + "MLST motd.txt => 250-Listing\n type=file;size=12;modify=19950304050607;perm=r; /motd.txt\n250 End"},
		{"hidden commands", func(s *ftptest.Server) { s.Hide = []string{"feat", "EPSV", "SIZE"} }, login + "FEAT => 502\nEPSV => 502\nSIZE motd.txt => 502\nPASV => 227"},
		{"features", func(s *ftptest.Server) { s.Hide = []string{"MLST", "EPRT"} }, "FEAT => 211-Features:\n EPSV\n MDTM\n MFMT\n REST STREAM\n SIZE\n TVFS\n UTF8\n211 End"},
		{"options", nil, login + "OPTS UTF8 ON => 200\nOPTS MLST type;size; => 200\nOPTS X => 501"},
		{"facts chosen", nil, login + `OPTS MLST type; => 200 MLST OPTS type;
MLST motd.txt => 250-Listing
 type=file; /motd.txt
250 End
FEAT => 211-Features:
 EPRT
 EPSV
 MDTM
 MFMT
 MLST type*;size;modify;perm;
 REST
opts mlst Perm;perm;SIZE;none;unix.mode; => 200 MLST OPTS perm;size;
MLST motd.txt => 250-Listing
 size=12;perm=radfw; /motd.txt
250 End
MLST pub => 250-Listing
 perm=elcmpd; /pub
250 End
OPTS MLST type => 501
OPTS MLST type;size => 501
MLST pub => 250-Listing
 perm=elcmpd; /pub
250 End
OPTS MLST none; => 200 MLST OPTS
MLST with space/100% a.md => 250-Listing
  /with space/100% a.md
250 End
FEAT => 211-Features:
 EPRT
 EPSV
 MDTM
 MFMT
 MLST type;size;modify;perm;
 REST
OPTS MLST size; => 200 MLST OPTS size;
OPTS MLST => 200 MLST OPTS
MLST pub => 250-Listing
  /pub
250 End
REIN => 220
FEAT => 211-Features:
 EPRT
 EPSV
 MDTM
 MFMT
 MLST type*;size*;modify*;perm*;
 REST
`},
		{"no facts to choose", func(s *ftptest.Server) { s.Hide = []string{"mlst"} }, login + "OPTS MLST type; => 501"},
		{"facts of a list of the program", func(s *ftptest.Server) {
			s.Listing = func(ftptest.Listing) []string { return []string{"x.a=1;TYPE=file;Size=5; a b;c", "no facts"} }
			s.Replies = ftptest.Replies{"FEAT 211": "211-Features:\n MLST Size;X.a*;TYPE*;\n211 End"}
		}, login + "OPTS MLST size;x.A; => 200 MLST OPTS Size;X.a;\nMLST motd.txt => 250-Listing\n x.a=1;Size=5; a b;c\n no facts\n250 End\nFEAT => 211-Features:\n MLST Size*;X.a*;TYPE;\n211 End"},
		{"facts refused", func(s *ftptest.Server) { s.Replies = ftptest.Replies{"OPTS 200 MLST": "502 No."} }, login + "OPTS MLST size; => 502 No.\nMLST motd.txt => 250-Listing\n type=file;size=12;modify"},
		{"no TLS", nil, "AUTH TLS => 502\nPBSZ 0 => 503\nPROT P => 503\n" + login + "CCC => 533"},
		{"TLS that is required", func(s *ftptest.Server) { s.TLS, s.RequireTLS = new(tls.Config), true },
			"FEAT => 211-Features:\n EPRT\n EPSV\n MDTM\n MFMT\n MLST type*;size*;modify*;perm*;\n REST STREAM\n SIZE\n TVFS\n UTF8\n AUTH TLS\n CCC\n PBSZ\n PROT\n211 End\nUSER anonymous => 530\nPASS x => 530\nAUTH GSSAPI => 504"},
		{"PRET", func(s *ftptest.Server) { s.RequirePRET = true }, login + "PASV => 500\nEPSV => 500\nPRET NOOP => 501\nPRET RETR motd.txt => 200\nEPSV => 229\nPASV => 500\nPRET LIST => 200\nPASV => 227"},
		{"an endless command", nil, strings.Repeat("x", 20000) + " => 500\nNOOP => 200"},
		{"Telnet commands before a command", nil, login + "\xff\xf4\xff\xf2ABOR => 226\nCWD caf\xff\xff => 550"},
		{"Telnet options", nil, login + "\xff\xfe\x01NOOP => \xff\xfc\x01200\nNO\xff\xfd\x03\xff\xfb\x00OP => \xff\xfc\x03\xff\xfe\x00200\nMKD a\xff\xf1\xff\xff\xffb => 257 \"/a\xff\" created\nNOOP\xff => 200"},
		{"no Telnet", func(s *ftptest.Server) { s.BareIAC = true }, login + "\xff\xfe\x01NOOP => 500\nMKD a\xff\xf1\xff\xff => 257 \"/a\xff\xf1\xff\xff\" created"},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := ftptest.New(t, func(s *ftptest.Server) {
				s.InMemory, s.Content, s.Forbidden = true, testclient.Content(), []string{"secret"}
				if tt.configure != nil {
					tt.configure(s)
				}
			})
			c := testclient.DialFTP(t, srv)
			for _, step := range dialogue(tt.script) {
				c.Expect(step.command, step.reply)
			}
		})
	}
}

type step struct{ command, reply string }

// dialogue splits a script into steps. A reply continues on lines without "=>".
func dialogue(script string) []step {
	var steps []step
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		if command, reply, ok := strings.Cut(line, " => "); ok {
			steps = append(steps, step{command, reply})
		} else {
			steps[len(steps)-1].reply += "\n" + line
		}
	}
	return steps
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
	var port int
	reply := c.Expect("EPSV", "229")
	if _, err := fmt.Sscanf(reply[strings.Index(reply, "("):], "(|||%d|)", &port); err != nil {
		t.Fatal(err)
	}
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
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
