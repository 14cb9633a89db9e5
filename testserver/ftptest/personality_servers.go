package ftptest

import (
	"cmp"
	"fmt"
	"io/fs"
	"strings"
)

// The servers, as testdata/personalities has them.

// Reasons, in keys of Replies.
const (
	missing = " no such file or directory"
	denied  = " permission denied"
)

// VSFTPD is the personality vsftpd.
func VSFTPD(s *Server) {
	s.Greeting, s.SizeInASCII = "220 (vsFTPd 3.0.3)", SizeRaw
	s.Hide = append(s.Hide, "MLSD", "MLST", "MFMT")
	s.LoginFirst = append(s.LoginFirst, "SYST", "HELP", "STAT", "NOOP")
	s.with(Replies{
		"ALLO 202": "202 ALLO command ignored.", "ABOR 226 no transfer": "225 No transfer to ABOR.", "OPTS 200": "200 Always in UTF8 mode.",
		"CWD ": "550 Failed to change directory.",
		"500":  "500 Unknown command.", "502": "500 Unknown command.",
		"331": "331 Please specify the password.", "PASS 230": "230 Login successful.",
		"FEAT 211": "211-Features:\n EPRT\n EPSV\n MDTM\n PASV\n REST STREAM\n SIZE\n TVFS\n211 End",
		"HELP 214": "214-The following commands are recognized.\n" +
			" ABOR ACCT ALLO APPE CDUP CWD  DELE EPRT EPSV FEAT HELP LIST MDTM MKD\n" +
			" MODE NLST NOOP OPTS PASS PASV PORT PWD  QUIT REIN REST RETR RMD  RNFR\n" +
			" RNTO SITE SIZE SMNT STAT STOR STOU STRU SYST TYPE USER XCUP XCWD XMKD\n" +
			" XPWD XRMD\n214 Help OK.",
		"NOOP 200": "200 NOOP ok.", "PWD 257": `257 "{dir}" is the current directory`,
		"TYPE A 200": "200 Switching to ASCII mode.", "TYPE 200": "200 Switching to Binary mode.",
		"SIZE 550": "550 Could not get file size.", "MDTM 550": "550 Could not get file modification time.",
		"CWD 250": "250 Directory successfully changed.", "CDUP 250": "250 Directory successfully changed.",
		"CWD 550": "550 Failed to change directory.", "RETR 550": "550 Failed to open file.",
		"LIST 226": "226 Directory send OK.", "LIST 226" + missing: "226 Directory send OK.",
		"NLST 226": "226 Directory send OK.", "NLST 226" + missing: "226 Directory send OK.",
		"LIST 226" + denied: unopened, "NLST 226" + denied: unopened,
		"REST 350": "350 Restart position accepted ({arg}).",
		"RETR 150": "150 Opening {mode} mode data connection for {arg} ({size} bytes).",
		"STOR 553": "553 Could not create file.", "STOR 550": "553 Could not create file.",
		"MKD 257": `257 "{path}" created`, "MKD 550": "550 Create directory operation failed.",
		"RMD 250": "250 Remove directory operation successful.", "RMD 550": "550 Remove directory operation failed.",
		"RNFR 550": "550 RNFR command failed.", "RNTO 250": "250 Rename successful.", "RNTO 550": "550 Rename failed.",
		"DELE 250": "250 Delete operation successful.", "DELE 550": "550 Delete operation failed.",
	})
	s.Listing = func(l Listing) []string {
		return l.likeLS().lines("%s %4d ftp      ftp      %8d %s %s", "Jan 02", nil)
	}
}

// unopened is the reply of vsftpd after the listing of a directory that it cannot read.
const unopened = "226 Transfer done (but failed to open directory)."

// ProFTPD is the personality proftpd.
func ProFTPD(s *Server) {
	s.Greeting, s.SizeInASCII = "220 ProFTPD Server (test) [127.0.0.1]", SizeRefused
	s.with(Replies{
		"MODE 200": "200 Mode set to S", "STRU 200": "200 Structure set to F", "ALLO 202": "200 ALLO command successful", "ABOR 226": "226 Abort successful",
		"OPTS 200": "200 UTF8 set to on", "OPTS 200 MLST": "200 {usual}", "OPTS 501 MLST": "200 MLST OPTS ", "CWD ": "501 Invalid number of parameters", "SIZE 550 is a directory": "550 {arg}: not a regular file",
		"MDTM 550 is a directory": "550 {arg}: not a plain file", "RETR 550 is a directory": "550 {arg}: Not a regular file",
		"500": "500 {verb} not understood", "530": "530 Please login with USER and PASS", "550": "550 {arg}: {Error}",
		"USER 331": "331 Password required for {user}", "PASS 230": "230 User {user} logged in", "PASS 530": "530 Login incorrect.",
		"USER 331 anonymous": "331 Anonymous login ok, send your complete email address as your password",
		"PASS 230 anonymous": "230 Anonymous access granted, restrictions apply",
		"FEAT 211": "211-Features:\n CLNT\n CSID\n EPRT\n EPSV\n HOST\n LANG C.UTF-8*\n MDTM\n MFF modify;UNIX.group;UNIX.mode;\n MFMT\n" +
			" MLST modify*;perm*;size*;type*;unique*;UNIX.group*;UNIX.groupname*;UNIX.mode*;UNIX.owner*;UNIX.ownername*;\n" +
			" RANG STREAM\n REST STREAM\n SIZE\n TVFS\n UTF8\n211 End",
		"HELP 214": "214-The following commands are recognized (* =>'s unimplemented):\n" +
			" CWD     XCWD    CDUP    XCUP    SMNT*   QUIT    PORT    PASV    \n" +
			" EPRT    EPSV    ALLO    RNFR    RNTO    DELE    MDTM    RMD     \n" +
			" XRMD    MKD     XMKD    PWD     XPWD    SIZE    SYST    HELP    \n" +
			" NOOP    FEAT    OPTS    HOST    CLNT    AUTH*   CCC*    CONF*   \n" +
			" ENC*    MIC*    PBSZ*   PROT*   TYPE    STRU    MODE    RETR    \n" +
			" STOR    STOU    APPE    REST    ABOR    RANG    USER    PASS    \n" +
			" ACCT*   REIN*   LIST    NLST    STAT    SITE    MLSD    MLST    \n" +
			"214 Direct comments to root@localhost",
		"NOOP 200": "200 NOOP command successful", "PWD 257": `257 "{dir}" is the current directory`,
		"TYPE A 200": "200 Type set to A", "TYPE 200": "200 Type set to I", "SIZE 550": "550 SIZE not allowed in ASCII mode",
		"SIZE 550" + missing: "550 {arg}: {Error}",
		"CWD 250":            "250 CWD command successful", "CDUP 250": "250 CDUP command successful",
		"150": "150 Opening {mode} mode data connection for {arg}", "226": "226 Transfer complete",
		"LIST 150": "150 Opening {mode} mode data connection for file list", "LIST 226" + missing: "450 {arg}: {Error}",
		"NLST 150": "150 Opening {mode} mode data connection for file list", "NLST 550": "450 {arg}: {Error}",
		"MLSD 150": "150 Opening {mode} mode data connection for MLSD",
		"MLST 250": "250-Start of list for {arg}\n {listing}\n250 End of list",
		"RETR 150": "150 Opening {mode} mode data connection for {arg} ({left} bytes)",
		"REST 350": "350 Restarting at {arg}. Send STORE or RETRIEVE to initiate transfer",
		"MKD 257":  `257 "{path}" - Directory successfully created`, "RMD 250": "250 RMD command successful",
		"RNFR 350": "350 File or directory exists, ready for destination name", "RNTO 250": "250 Rename successful",
		"DELE 250": "250 DELE command successful",
	})
	s.Listing = func(l Listing) []string {
		facts := func(name, typ, perm, modify, size string, mode fs.FileMode) string {
			return fmt.Sprintf("modify=%s;perm=%s;%stype=%s;unique=FE01U%s;UNIX.group=65534;UNIX.groupname=nogroup;UNIX.mode=%04o;UNIX.owner=65534;UNIX.ownername=ftp;",
				modify, perm, size, typ, l.unique(name), mode.Perm())
		}
		lines := l.lines("%s %3d ftp      ftp      %8d %s %s", "Jan _2", func(e fs.FileInfo, modify string) string {
			if e.IsDir() {
				return facts(e.Name(), "dir", l.perm("flcdmpe"), modify, "", e.Mode())
			}
			return facts(e.Name(), "file", l.perm("adfrw"), modify, fmt.Sprintf("size=%d;", e.Size()), e.Mode())
		})
		if l.Command == "MLSD" {
			modify := l.Self.ModTime().UTC().Format(timeFormat)
			lines = append(lines, facts(".", "cdir", l.perm("flcdmpe"), modify, "", 0o755)+" .", facts("..", "pdir", l.perm("fle"), modify, "", 0o755)+" ..")
		}
		return lines
	}
}

// PureFTPd is the personality pure-ftpd.
func PureFTPd(s *Server) {
	s.Greeting = "220---------- Welcome to Pure-FTPd [privsep] [TLS] ----------\n220-You are user number 1 of 50 allowed.\n" +
		"220-Local time is now 12:00. Server port: 21.\n220-IPv6 connections are also welcome on this server.\n" +
		"220 You will be disconnected after 15 minutes of inactivity."
	s.SizeInASCII, s.NoAnonymousPassword, s.NullCWD = SizeRaw, true, "/"
	s.Ahead, s.AheadInTransfers = AheadLost, true
	const moved = "226-File successfully transferred\n226 0.000 seconds (measured here), 1.00 Mbytes per second"
	s.with(Replies{
		"MODE 200": "200 S OK", "STRU 200": "200 F OK", "ALLO 202": "200 A L'HUILE", "ABOR 226": "226 Since you see this ABOR must've succeeded",
		"OPTS 200": "504 Unknown command", "OPTS 501": "504 Unknown command",
		"OPTS 501 MLST": "200  MLST OPTS type;size;sizd;modify;UNIX.mode;UNIX.uid;UNIX.gid;unique;",
		"OPTS 200 MLST": "200  MLST OPTS type;size;sizd;modify;UNIX.mode;UNIX.uid;UNIX.gid;unique;", "550 is a directory": "550 I can only retrieve regular files",
		"SIZE 550 is a directory": "550 I can only retrieve regular files", "MDTM 550 is a directory": "550 I can only retrieve regular files",
		"RETR 550 is a directory": "550 I can only retrieve regular files",
		"500":                     "500 Unknown command", "530": "530 You aren't logged in",
		"331": "331 User {user} OK. Password required", "PASS 530": "530 Login authentication failed",
		"PASS 230": "230 OK. Current restricted directory is {dir}", "USER 230 anonymous": "230 Anonymous user logged in",
		"PASS 202": "230 Any password will work",
		"FEAT 211": "211-Extensions supported:\n UTF8\n EPRT\n IDLE\n MDTM\n SIZE\n MFMT\n REST STREAM\n" +
			" MLST type*;size*;sizd*;modify*;UNIX.mode*;UNIX.uid*;UNIX.gid*;unique*;\n MLSD\n PRET\n AUTH TLS\n PBSZ\n PROT\n TVFS\n ESTA\n PASV\n EPSV\n ESTP\n211 End.",
		"HELP 214": "214-The following SITE commands are recognized\n ALIAS\n CHMOD\n IDLE\n UTIME\n214 Pure-FTPd - http://pureftpd.org/",
		"NOOP 200": "200 Zzz...", "PWD 257": `257 "{dir}" is your current location`,
		"TYPE A 200": "200 TYPE is now ASCII", "TYPE 200": "200 TYPE is now 8-bit binary",
		"SIZE 550": "550 Can't check for file existence", "MDTM 550": "550 Can't check for file existence",
		"CWD 250": "250 OK. Current directory is {dir}", "CDUP 250": "250 OK. Current directory is {dir}",
		"CWD 550":  "550 Can't change directory to {arg}: {Error}",
		"PASV 227": "227 Entering Passive Mode ({numbers})", "EPSV 229": "229 Extended Passive mode OK ({numbers})",
		"150": "150 Accepted data connection", "226": "226 {lines} matches total",
		"LIST 226": "226-Options: -l \n226 {lines} matches total", "LIST 226" + missing: "226-Options: -l \n226 0 matches total",
		"LIST 226" + denied: "226-Sorry, we were unable to read [.]\n226-Options: -l \n226 0 matches total",
		"NLST 550":          "550 Can't check for file existence", "MLST 250": "250-Begin\n {listing}\n250 End.",
		"RETR 226": moved, "STOR 226": moved, "APPE 226": moved, "RETR 550": "550 Can't open {arg}: {Error}",
		"REST 350": "350 Restarting at {arg}", "MKD 257": `257 "{arg}" : The directory was successfully created`,
		"RMD 250":  "250 The directory was successfully removed",
		"RNFR 350": "350 RNFR accepted - file exists, ready for destination", "RNTO 250": "250 File successfully renamed or moved",
		"DELE 250": "250 Deleted {arg}", "DELE 550": "550 Could not delete {arg}: {Error}",
		"QUIT 221": "221-Goodbye. You uploaded 0 and downloaded 0 kbytes.\n221 Logout.",
	})
	s.Listing = pureListing
}

// Inetutils is the personality inetutils.
func Inetutils(s *Server) {
	s.Greeting = "220 localhost FTP server (GNU inetutils 2.4) ready."
	s.Hide = append(s.Hide, "MLSD", "MLST", "MFMT")
	s.LoginFirst = append(s.LoginFirst, "FEAT")
	s.with(Replies{
		"MODE 200": "200 MODE S ok.", "STRU 200": "200 STRU F ok.", "ALLO 202": "202 ALLO command ignored.",
		"ABOR 226 no transfer": "225 ABOR command successful.", "ABOR 226": "226 ABOR command successful.", "OPTS": "501 No options are available.",
		"550 is a directory": "550 {arg}: not a plain file.", "MDTM 550 is a directory": "550 {arg}: not a plain file.",
		"500": "500 '{line}': command not recognized", "502": "500 '{line}': command not recognized", "550": "550 {arg}: {Error}.",
		"USER 331": "331 Password required for {user}.", "USER 331 anonymous": "331 Guest login ok, type your name as password.",
		"PASS 230": "230 User {user} logged in.", "PASS 230 anonymous": "230 Guest login ok, access restrictions apply.",
		"SYST 215": "215 UNIX Type: L8 Version: Linux 6.1",
		"FEAT 211": "211- Supported extensions:\n MDTM\n SIZE\n REST STREAM\n EPRT\n EPSV\n LPRT\n LPSV\n211 End",
		"HELP 214": "214- The following commands are recognized (* =>'s unimplemented).\n" +
			"   USER    QUIT    STOR    ABOR    SITE    XPWD    MLFL*   EPRT    CONF*\n" +
			"   PASS    PORT    STOU    DELE    SYST    XCUP    MAIL*   EPSV    ENC*\n" +
			"   ACCT*   PASV    APPE    RMD     STAT    XCWD    MSND*   LPRT    MIC*\n" +
			"   CWD     TYPE    ALLO    MKD     HELP    FEAT    MSOM*   LPSV    PBSZ*\n" +
			"   CDUP    STRU    REST    PWD     NOOP    OPTS    MSAM*   ADAT*   PROT*\n" +
			"   SMNT*   MODE    RNFR    LIST    XMKD    SIZE    MRSQ*   AUTH*\n" +
			"   REIN*   RETR    RNTO    NLST    XRMD    MDTM    MRCP*   CCC*\n" +
			"214 Direct comments to ftp-bugs@localhost.",
		"NOOP 200": "200 NOOP command successful.", "PWD 257": `257 "{dir}" is current directory.`,
		"SIZE 550": "550 {arg}: not a plain file.", "MDTM 550": "550 {arg}: {Error}",
		"CWD 250": "250 CWD command successful.", "CDUP 250": "250 CWD command successful.",
		"PASV 227": "227 Entering Passive Mode ({numbers})",
		"150":      "150 Opening {mode} mode data connection for '{arg}'.", "226": "226 Transfer complete.",
		"LIST 150": "150 Opening {mode} mode data connection for '/bin/ls'.", "LIST 226" + missing: "226 Transfer complete.",
		"NLST 150": "150 Opening {mode} mode data connection for 'file list'.",
		"RETR 150": "150 Opening {mode} mode data connection for '{arg}' ({size} bytes).",
		"REST 350": "350 Restarting at {arg}. Send STORE or RETRIEVE to initiate transfer.",
		"MKD 257":  `257 "{path}" new directory created.`, "RMD 250": "250 RMD command successful.",
		"RNFR 350": "350 File exists, ready for destination name", "RNTO 250": "250 RNTO command successful.",
		"DELE 250": "250 DELE command successful.",
	})
	s.Listing = lsListing
}

// Pyftpdlib is the personality pyftpdlib.
func Pyftpdlib(s *Server) {
	s.Greeting, s.SizeInASCII, s.BareNLST = "220 pyftpdlib 1.5.7 ready.", SizeRefused, true
	s.Ahead, s.AheadInTransfers = AheadCloses, true
	s.with(Replies{
		"MODE 200": "200 Transfer mode set to: S", "STRU 200": "200 File transfer structure set to: F.",
		"ABOR 226 no transfer": "225 No transfer to abort.", "OPTS UTF8 ON 200": "501 Invalid argument.", "OPTS 501": "501 Invalid argument.", "SIZE 550 is a directory": "550 {path} is not retrievable.",
		"500": `500 Command "{verb}" not understood.`, "530": "530 Log in with USER and PASS first.", "550": "550 {Error}.",
		"331": "331 Username ok, send password.", "PASS 230": "230 Login successful.", "PASS 530": "530 Authentication failed.",
		"FEAT 211": "211-Features supported:\n EPRT\n EPSV\n MDTM\n MFMT\n MLST type*;perm*;size*;modify*;unique*;unix.mode;unix.uid;unix.gid;\n" +
			" REST STREAM\n SIZE\n TVFS\n UTF8\n211 End FEAT.",
		"HELP 214": "214-The following commands are recognized:\n ABOR   ALLO   APPE   CDUP   CWD    DELE   EPRT   EPSV  \n" +
			" FEAT   HELP   LIST   MDTM   MFMT   MKD    MLSD   MLST  \n MODE   NLST   NOOP   OPTS   PASS   PASV   PORT   PWD   \n" +
			" QUIT   REIN   REST   RETR   RMD    RNFR   RNTO   SITE  \n SIZE   STAT   STOR   STOU   STRU   SYST   TYPE   USER  \n" +
			" XCUP   XCWD   XMKD   XPWD   XRMD  \n214 Help command successful.",
		"NOOP 200": "200 I successfully did nothing'.", "TYPE A 200": "200 Type set to: ASCII.", "TYPE 200": "200 Type set to: Binary.",
		"SIZE 550": "550 SIZE not allowed in ASCII mode.", "SIZE 550" + missing: "550 {path} is not retrievable.",
		"MDTM 550": "550 {path} is not retrievable",
		"CWD 250":  `250 "{dir}" is the current directory.`, "CDUP 250": `250 "{dir}" is the current directory.`,
		"PASV 227": "227 Entering passive mode ({numbers}).", "EPSV 229": "229 Entering extended passive mode ({numbers}).",
		"150": "125 Data connection already open. Transfer starting.", "REST 350": "350 Restarting at position {arg}.",
		"MLST 250": "250-Listing \"{path}\":\n {listing}\n250 End MLST.",
		"MKD 257":  `257 "{path}" directory created.`, "RMD 250": "250 Directory removed.",
		"RNFR 350": "350 Ready for destination name.", "RNTO 250": "250 Renaming ok.", "DELE 250": "250 File removed.",
	})
	s.Listing = func(l Listing) []string {
		return l.lines("%s %3d ftp      ftp      %8d %s %s", "Jan 02", func(e fs.FileInfo, modify string) string {
			typ, perm := "file", l.perm("radfwMT")
			if e.IsDir() {
				typ, perm = "dir", l.perm("eldfmMTcp")
			}
			return fmt.Sprintf("modify=%s;perm=%s;size=%d;type=%s;unique=fe01g%s;", modify, perm, onDisk(e), typ, l.unique(e.Name()))
		})
	}
}

// FtpSrv is the personality ftp-srv.
func FtpSrv(s *Server) {
	s.Greeting, s.SizeInASCII, s.BareNLST = "220 Ready", SizeRaw, true
	s.Hide = append(s.Hide, "MLSD", "MLST", "MFMT")
	s.Ahead, s.AheadInTransfers = AheadLost, true
	const noEntry = "ENOENT: no such file or directory, stat '{path}'"
	s.with(Replies{
		"MODE 200": "200 The requested action has been successfully completed", "STRU 200": "200 The requested action has been successfully completed",
		"ALLO 202": "202 Superfluous command", "ABOR 226 no transfer": "225 Data connection open; no transfer in progress", "OPTS 200": "200 UTF8 encoding on", "OPTS 501": "501 Unknown option command",
		"CWD ": "550 Cannot read properties of null (reading 'replace')", "SIZE 550 is a directory": "213 4096", "MDTM 550 is a directory": "213 {time}.000",
		"RETR 550 is a directory": "551 Cannot read a directory",
		"500":                     "502 Command not allowed: {verb}", "502": "502 Command not allowed: {verb}", "530": "530 Command requires authentication: {verb}",
		"550": "550 {Error}", "550" + missing: "550 " + noEntry,
		"331": "331 Username okay, awaiting password", "PASS 230": "230 User logged in, proceed", "PASS 530": "530 Bad username or password",
		"FEAT 211": "211-Extensions supported\n AUTH TLS\n MDTM\n PBSZ\n PROT\n SIZE\n TYPE A,I,L\n UTF8\n211 End",
		"HELP 214": "211-Supported commands:\n211-ABOR\tALLO\tAPPE\tAUTH\tCDUP\n211-XCUP\tCWD\tXCWD\tDELE\tFEAT\n211-HELP\tLIST\tMDTM\tMKD\tXMKD\n" +
			"211-MODE\tNLST\tNOOP\tOPTS\tPASS\n211-PASV\tPORT\tPWD\tXPWD\tQUIT\n211-REST\tRETR\tRMD\tXRMD\tRNFR\n211-RNTO\tSITE\tSIZE\tSTAT\tSTOR\n" +
			"211-STOU\tSTRU\tSYST\tTYPE\tUSER\n211-PBSZ\tPROT\tEPRT\tEPSV\n211 Use \"HELP [command]\" for syntax help.",
		"NOOP 200": "200 The requested action has been successfully completed", "PWD 257": `257 "{dir}"`,
		"TYPE A 200": `200 Switch to "ascii" transfer mode.`, "TYPE 200": `200 Switch to "binary" transfer mode.`,
		"MDTM 213": "213 {usual}.000", "CWD 250": `250 "{dir}"`, "CDUP 250": `250 "{dir}"`, "CWD 550 not a directory": "550 Not a valid directory",
		"PASV 227": "227 PASV OK ({numbers})", "EPSV 229": "229 EPSV OK ({numbers})",
		"150": "150 File status okay; about to open data connection", "226": "226 Closing data connection",
		"RETR 226": "226 {path}", "STOR 226": "226 {path}", "APPE 226": "226 {path}",
		"LIST 550" + missing: "451 " + noEntry, "NLST 550" + missing: "451 " + noEntry, "RETR 550" + missing: "551 " + noEntry,
		"REST 350": "350 Restarting next transfer at {arg}", "MKD 257": `257 "{path}"`, "250": "250 Requested file action okay, completed",
		"RNFR 350": "350 Requested file action pending further information", "QUIT 221": "221 Client called QUIT",
	})
	s.Listing = func(l Listing) []string { return narrow(l, "Jan 02") }
}

// Ftpserverlib is the personality ftpserverlib.
func Ftpserverlib(s *Server) {
	s.Greeting, s.SizeInASCII = "220 ready", SizeRefused
	s.LoginFirst = append(s.LoginFirst, "HELP")
	const noStat = "stat {path}: no such file or directory"
	s.with(Replies{
		"MODE 200": "200 Using stream mode", "STRU": "502 This command hasn't been implemented !", "ALLO 202": "202 This extension hasn't been implemented !",
		"ABOR 226": "226 ABOR successful; closing transfer connection", "OPTS 200": "200 I'm in UTF8 only anyway",
		"OPTS 200 MLST": "500 Don't know this option", "OPTS 501": "500 Don't know this option",
		"SIZE 550 is a directory": "213 4096", "MDTM 550 is a directory": "213 {time}",
		"500": `500 Unknown command "{verb}"`, "530": "530 Please login with USER and PASS", "550": "550 Couldn't access {path}: {error}",
		"550" + missing: "550 Couldn't access {path}: " + noStat,
		"331":           "331 OK", "PASS 230": "230 Password ok, continue", "PASS 530": "530 Authentication error: wrong user or password",
		"FEAT 211": "211- These are my features\n CLNT\n UTF8\n SIZE\n MDTM\n REST STREAM\n EPRT\n EPSV\n MLSD\n MLST\n MFMT\n211 end",
		"HELP 214": "502 This command hasn't been implemented !", "NOOP 200": "200 OK", "PWD 257": `257 "{dir}" is the current directory`,
		"TYPE A 200": "200 Type set to ASCII", "TYPE 200": "200 Type set to binary", "SIZE 550": "550 SIZE not allowed in ASCII mode",
		"SIZE 550" + missing: "550 Couldn't access {path}: " + noStat,
		"CWD 250":            "250 CD worked on {dir}", "CDUP 250": "250 CDUP worked on {dir}", "CWD 550": "550 CD issue: {error}",
		"CWD 550" + missing: "550 CD issue: " + noStat, "CWD 550 not a directory": "550 Can't change directory to {path}: Not a Directory",
		"PASV 227": "227 Entering Passive Mode ({numbers})", "150": "150 Using transfer connection", "226": "226 Closing transfer connection",
		"LIST 550": "450 Could not list: file access error: {error}", "LIST 550" + missing: "450 Could not list: file access error: couldn't stat: " + noStat,
		"NLST 550": "450 Could not list: file access error: {error}", "NLST 550" + missing: "450 Could not list: file access error: couldn't stat: " + noStat,
		"MLST 250": "250-File details\n {listing}\n250 End", "REST 350": "350 OK",
		"RETR 550": "550 Could not access file: driver error: calling OpenFile: open {path}: {error}",
		"MKD 257":  `257 Created dir "{path}"`, "RMD 250": "250 Deleted dir {path}", "RNFR 350": "350 Sure, give me a target", "RNTO 250": "250 Done !",
		"DELE 250": "250 Removed file {path}", "DELE 550": "550 Couldn't delete {path}: remove {path}: {error}", "QUIT 221": "221 Goodbye",
	})
	s.Listing = func(l Listing) []string {
		lines := narrow(l, "Jan _2")
		if l.Command == "MLST" {
			lines[0] = strings.Replace(lines[0], "; /", "; ", 1)
		}
		return lines
	}
}

// GoFTP is the personality goftp.
func GoFTP(s *Server) {
	s.Greeting, s.SizeInASCII, s.BareNLST = "220 Welcome to the Go FTP Server", SizeRaw, true
	s.Hide = append(s.Hide, "MLST", "MFMT", "HELP")
	s.LoginFirst = append(s.LoginFirst, "SYST")
	s.with(Replies{
		"MODE 200": "200 OK", "STRU 200": "200 OK", "ALLO 202": "202 Obsolete", "ABOR": "500 Command not found", "OPTS 200": "200 UTF8 mode enabled", "OPTS 501": "550 Unknow params",
		"CWD ": "553 action aborted, required param missing", "SIZE 550 is a directory": "213 4096", "MDTM 550 is a directory": "213 {time}",
		"500": "500 Command not found", "502": "500 Command not found", "530": "530 not logged in",
		"331": "331 User name ok, password required", "PASS 230": "230 Password ok, continue", "PASS 530": "530 Incorrect password, not logged in",
		"FEAT 211": "211-Extensions supported:\n UTF8\n EPRT\n EPSV\n MLSD\n CLNT\n LPRT\n\n211 END",
		"NOOP 200": "200 OK", "PWD 257": `257 "{dir}" is the current directory`, "TYPE A 200": "200 Type set to ASCII", "TYPE 200": "200 Type set to binary",
		"SIZE 550": "450 path {arg} not found", "MDTM 550": "450 File not available",
		"CWD 250": "250 Directory changed to {dir}", "CDUP 250": "250 Directory changed to {dir}",
		"CWD 550": "550 Directory change to {path} failed.", "CWD 550 not a directory": "550 Directory change to {path} is a file",
		"PASV 227": "227 Entering Passive Mode ({numbers})",
		"150":      "150 Opening ASCII mode data connection for file list", "226": "226 Closing data connection, sent {bytes} bytes",
		"LIST 550": "550 lstat {path}: {error}", "NLST 550": "550 lstat {path}: {error}",
		"RETR 150": "150 Data transfer starting {left} bytes", "RETR 550": "551 File not available", "REST 350": "350 Start transfer from {arg}",
		"STOR 150": "150 Data transfer starting", "STOR 226": "226 OK, received {bytes} bytes",
		"APPE 150": "150 Data transfer starting", "APPE 226": "226 OK, received {bytes} bytes",
		"MKD 257": "257 Directory created", "RMD 250": "250 Directory deleted", "RNFR 350": "350 Requested file action pending further information.",
		"RNTO 250": "250 File renamed", "DELE 250": "250 File deleted", "DELE 550": "550 File delete failed. ", "QUIT 221": "221 Goodbye",
	})
	s.Listing = func(l Listing) []string {
		lines := narrow(l, "Jan _2")
		for i, line := range lines {
			switch l.Command {
			case "LIST":
				lines[i] = line[:1] + "rwxrwxrwx" + line[10:]
			case "MLSD":
				e := l.Entries[i]
				lines[i] = fmt.Sprintf("Type=%s;Modify=%s;Size=%d; %s", typeOf(e), e.ModTime().UTC().Format(timeFormat), onDisk(e), e.Name())
			}
		}
		return lines
	}
}

// Twisted is the personality twisted.
func Twisted(s *Server) {
	s.Greeting, s.SizeInASCII, s.BareNLST = "220 Twisted 22.4.0 FTP Server", SizeRaw, true
	s.Hide = append(s.Hide, "EPSV", "EPRT", "MLSD", "MLST", "MFMT", "REST", "APPE", "ALLO", "ABOR")
	s.LoginFirst = append(s.LoginFirst, "SYST", "NOOP", "HELP")
	s.with(Replies{
		"MODE 200": "200 Command OK", "STRU 200": "200 Command OK", "OPTS": "502 Option '{arg}' not implemented.", "HELP": "502 Command 'HELP' not implemented",
		"CWD ": "500 Syntax error: CWD requires an argument.", "SIZE 550 is a directory": "213 4096", "MDTM 550 is a directory": "213 {time}",
		"RETR 550 is a directory": "550 {arg}: {error}",
		"500":                     "502 Command '{verb}' not implemented", "502": "502 Command '{verb}' not implemented", "550": "550 ['{arg}']: {Error}.",
		"331": "331 Password required for {user}.", "USER 331 anonymous": "331 Guest login ok, type your email address as password.",
		"PASS 230": "230 User logged in, proceed", "PASS 230 anonymous": "230 Anonymous login ok, access restrictions apply.",
		"PASS 530": "530 Sorry, Authentication failed.", "FEAT 211": "211-Features:\n FEAT\n MDTM\n PASV\n SIZE\n TYPE A;I\n211 End",
		"NOOP 200": "200 Command OK", "PWD 257": `257 "{dir}"`, "250": "250 Requested File Action Completed OK",
		"CWD 550 not a directory": "550 Cannot rmd, ['{arg}'] is not a directory",
		"425":                     "503 Incorrect sequence of commands: must send PORT or PASV before RETR", "NLST ": "500 Syntax error: NLST requires an argument.",
		"150": "125 Data connection already open, starting transfer", "226": "226 Transfer Complete.", "NLST 226" + missing: "226 Transfer Complete.",
		"RETR 550": "550 {arg}: {Error}.", "MKD 257": `257 "{arg}" created`, "RNFR 350": "350 Requested file action pending further information.",
	})
	s.Listing = func(l Listing) []string {
		return l.lines("%s %3d ftp       ftp       %15d %s %s", "Jan 02", nil)
	}
}

// Nodeftpd is the personality nodeftpd.
func Nodeftpd(s *Server) {
	s.Greeting, s.SizeInASCII, s.BareNLST, s.Ahead = "220 FTP server (nodeftpd) ready", SizeRaw, true, AheadLost
	s.Hide = append(s.Hide, "MLSD", "MLST", "MFMT", "REST", "HELP")
	s.with(Replies{
		"MODE": "502 Command not implemented.", "STRU": "502 Command not implemented.", "ALLO 202": "202 Command not implemented, superfluous at this site.",
		"ABOR": "502 Command not implemented.", "OPTS 200": "200 OK", "OPTS 501": "451 Not supported", "SIZE 550 is a directory": "213 4096", "MDTM 550 is a directory": "213 {time}",
		"500": "502 Command not implemented.", "502": "502 Command not implemented.", "530": "530 Not logged in.",
		"331": "331 User name okay, need password.", "PASS 230": "230 User logged in, proceed.",
		"SYST 215": "215 UNIX Type: I", "FEAT 211": "211-Features\n SIZE\n UTF8\n MDTM\n211 end",
		"NOOP 200": "200 OK", "TYPE 200": "200 OK", "PWD 257": `257 "{dir}" is current directory`,
		"SIZE 550": "450 Failed to get size of file", "MDTM 550": "550 File unavailable",
		"CWD 250": `250 CWD successful. "{dir}" is current directory`, "CDUP 250": `250 Directory changed to "{dir}"`,
		"CWD 550": "550 Directory not found.", "CWD 550 not a directory": "550 Not a directory", "PASV 227": "227 Entering Passive Mode ({numbers})",
		"LIST 150": "150 Here comes the directory listing", "LIST 226": "226 Transfer OK", "LIST 226" + missing: "226 Transfer OK",
		"NLST 150": "150 Here comes the directory listing", "NLST 226": "226 Transfer OK", "NLST 226" + missing: "226 Transfer OK",
		"RETR 150": "150 Opening ASCII mode data connection", "RETR 226": "226 Closing data connection, sent {bytes} bytes", "RETR 550": "550 Not Found",
		"150": "150 Ok to send data", "226": "226 Closing data connection", "MKD 257": `257 "{path}" directory created`, "RMD 250": `250 "{path}" directory removed`,
		"RNFR 350": "350 Ready for destination name", "RNTO 250": "250 File renamed successfully", "DELE 250": "250 File deleted",
		"DELE 550": "550 Permission denied", "QUIT 221": "221 Goodbye",
	})
	s.Listing = func(l Listing) []string {
		return l.files(func(e fs.FileInfo) string {
			size := cmp.Or(e.Size(), onDisk(e))
			return fmt.Sprintf("%s 1 ftp ftp %12d %s %s", e.Mode(), size, e.ModTime().UTC().Format("Jan _2 15:04"), e.Name())
		})
	}
}

// IIS is the personality iis.
func IIS(s *Server) {
	s.Greeting, s.SizeInASCII, s.CodePage = "220 Microsoft FTP Service", SizeRaw, true
	s.Hide = append(s.Hide, "MLSD", "MLST", "MFMT")
	s.with(Replies{
		"500": "500 Command not understood.", "502": "500 Command not understood.", "550" + missing: "550 The system cannot find the file specified. ",
		"550 permission denied": "550 Access is denied. ", "550 not a directory": "550 The directory name is invalid. ",
		"USER 331": "331 Password required", "USER 331 anonymous": "331 Anonymous access allowed, send identity (e-mail name) as password.",
		"PASS 230": "230 User logged in.", "PASS 530": "530 User cannot log in.", "SYST 215": "215 Windows_NT",
		"FEAT 211":         "211-Extended features supported:\n LANG EN*\n UTF8\n AUTH TLS;TLS-C;SSL;TLS-P;\n PBSZ\n PROT C;P;\n CCC\n HOST\n SIZE\n MDTM\n REST STREAM\n211 END",
		"OPTS UTF8 ON 200": "200 OPTS UTF8 command successful - UTF8 encoding now ON.", "PWD 257": `257 "{dir}" is current directory.`,
		"CWD 250": "250 CWD command successful.", "CDUP 250": "250 CDUP command successful.",
		"150": "125 Data connection already open; Transfer starting.",
	})
	s.Listing = DOSListing
}

// WuFTPD is the personality wu-ftpd.
func WuFTPD(s *Server) {
	s.Greeting = "220 localhost FTP server (Version wu-2.6.2-11.1204.1ubuntu) ready."
	s.Hide = append(s.Hide, "FEAT", "OPTS", "EPSV", "EPRT", "MLSD", "MLST", "MFMT")
	s.with(Replies{
		"500": "500 '{line}': command not understood.", "502": "500 '{line}': command not understood.", "550": "550 {arg}: {Error}.",
		"USER 331": "331 Password required for {user}.", "USER 331 anonymous": "331 Guest login ok, send your complete e-mail address as password.",
		"PASS 230": "230 User {user} logged in.", "PASS 230 anonymous": "230 Guest login ok, access restrictions apply.",
		"PWD 257": `257 "{dir}" is current directory.`, "CWD 250": "250 CWD command successful.", "CDUP 250": "250 CWD command successful.",
		"PASV 227": "227 Entering Passive Mode ({numbers})", "LIST 150": "150 Opening {mode} mode data connection for directory listing.",
		"QUIT 221": "221-You have transferred 0 bytes in 0 files.\n221-Total traffic for this session was 0 bytes in 0 transfers.\n" +
			"221-Thank you for using the FTP service on localhost.\n221 Goodbye.",
	})
	s.Listing = func(l Listing) []string {
		return withTotal(l, l.lines("%s %3d root     root     %8d %s %s", "Jan _2", nil))
	}
}
