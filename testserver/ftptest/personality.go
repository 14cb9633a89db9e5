package ftptest

import (
	"slices"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Personalities returns the configure functions of this package by their names, in a new slice. The
// servers come first, then the ways in which servers differ. A personality sets fields; configure
// functions that follow it may set them again.
func Personalities() []testserver.Personality[*Server] {
	return slices.Concat(servers(), ways())
}

// servers are those that imitate a server.
func servers() []testserver.Personality[*Server] {
	return []testserver.Personality[*Server]{
		{Name: "vsftpd", Source: "vsftpd 3.0.3", Configure: VSFTPD,
			Summary: "It has no MLSD, and lists a name that does not exist as an empty directory."},
		{Name: "proftpd", Source: "ProFTPD 1.3.8", Configure: ProFTPD,
			Summary: "It refuses SIZE in type A, and LIST of a missing name with 450 after 150."},
		{Name: "pure-ftpd", Source: "Pure-FTPd 1.0.50", Configure: PureFTPd,
			Summary: "It logs anonymous in without PASS, has replies of several lines, and loses commands sent during a transfer."},
		{Name: "inetutils", Source: "GNU inetutils ftpd 2.4", Configure: Inetutils,
			Summary: "It runs ls, whose first line is the total, and requires a login for FEAT."},
		{Name: "pyftpdlib", Source: "pyftpdlib 1.5.7", Configure: Pyftpdlib,
			Summary: "It replies 125 to transfers, and breaks off if a command comes during one."},
		{Name: "ftp-srv", Source: "ftp-srv 4.6.3 (npm)", Configure: FtpSrv,
			Summary: "It has no MLSD, the errors of Node in its replies, and loses commands sent during a transfer."},
		{Name: "ftpserverlib", Source: "ftpserverlib 0.25.0 (Go)", Configure: Ftpserverlib,
			Summary: "It refuses SIZE in type A and LIST of a missing name with 450."},
		{Name: "goftp", Source: "goftp.io/server 2.0.1 (Go)", Configure: GoFTP,
			Summary: "It lists all files as executable, and replies 450 and 551 where others reply 550."},
		{Name: "twisted", Source: "Twisted 22.4.0", Configure: Twisted,
			Summary: "It has no EPSV, REST or APPE, and NLST requires an argument."},
		{Name: "nodeftpd", Source: "nodeftpd 0.2.16 (npm ftpd)", Configure: Nodeftpd,
			Summary: "It reads one command at a time and loses the others; its listings have no year."},
		{Name: "iis", Source: "IIS 7 to 10, public transcripts", Configure: IIS,
			Summary: "It lists in the style of MS-DOS, has no MLSD, and reads names in a code page until OPTS UTF8 ON."},
		{Name: "wu-ftpd", Source: "wu-ftpd 2.4 to 2.6.2, public transcripts", Configure: WuFTPD,
			Summary: "It has no FEAT, EPSV or MLSD, and runs ls, whose first line is the total."},
	}
}

// ways are those that change one thing.
func ways() []testserver.Personality[*Server] {
	return []testserver.Personality[*Server]{
		{Name: "no-rest", Source: "RFC 959 §5.1, which does not require REST", Configure: NoREST,
			Summary: "It does not know REST, so that no transfer can be resumed."},
		{Name: "rest-ignored", Source: "its test", Configure: RESTIgnored,
			Summary: "It accepts REST and then sends the file from its beginning."},
		{Name: "no-mlsd", Source: "its test; vsftpd, IIS and others", Configure: NoMLSD,
			Summary: "It knows neither MLSD nor MLST."},
		{Name: "mlsd-refused", Source: "its test", Configure: MLSDRefused,
			Summary: "FEAT lists MLST, but MLSD is refused with 550."},
		{Name: "lists-nothing", Source: "its test", Configure: ListsNothing,
			Summary: "Its listings are empty, although files can be fetched."},
		{Name: "truncating-list", Source: "its test", Configure: TruncatingList,
			Summary: "Its listings lack the second half of the entries, and end with 226."},
		{Name: "inetd-limit", Source: "its test; inetd and tcpsvd with a limit", Configure: InetdLimit,
			Summary: "It closes a third connection without a greeting while two are open."},
		{Name: "tls-session-reuse", Source: "its test; vsftpd with require_ssl_reuse", Configure: TLSSessionReuse,
			Summary: "With TLS, it refuses a data connection that does not resume the session of the control connection."},
		{Name: "late-226", Source: "its test", Configure: Late226,
			Summary: "It sends the last reply to a transfer 30 seconds after the data."},
		{Name: "silent-abor", Source: "its test", Configure: SilentABOR,
			Summary: "It ignores ABOR: there is no reply, and the transfer continues."},
		{Name: "unasked-refusal", Source: "its test", Configure: UnaskedRefusal,
			Summary: "After the login it sends a 550 that no command has asked for."},
		{Name: "stor-refused", Source: "its test", Configure: STORRefused,
			Summary: "It refuses an upload with 552 after 64 KiB, and closes the data connection at once."},
		{Name: "stor-refused-drained", Source: "its test", Configure: STORRefusedDrained,
			Summary: "It reads an upload to its end and then refuses it with 552 if it has more than 64 KiB."},
		{Name: "rename-refused", Source: "its test; vsftpd with cmds_denied=RNTO", Configure: RenameRefused,
			Summary: "It accepts RNFR, and refuses RNTO with 550."},
		{Name: "pasv-silent", Source: "its test", Configure: PASVSilent,
			Summary: "It accepts data connections, and then sends and reads nothing."},
		{Name: "pasv-unaccepted", Source: "its test", Configure: PASVUnaccepted,
			Summary: "It does not accept data connections; after ten seconds it replies 425."},
		{Name: "pasv-refused", Source: "its test", Configure: PASVRefused,
			Summary: "The ports in its replies to PASV and EPSV are closed."},
		{Name: "eplf", Source: "https://cr.yp.to/ftp/list/eplf.html", Configure: EPLF,
			Summary: "It lists in the format EPLF, as publicfile and anonftpd do."},
	}
}

// with adds texts to Replies.
func (s *Server) with(texts Replies) { s.Replies = core.Merged(s.Replies, texts) }
