package ftptest

import (
	"maps"

	"github.com/fetch1738/fetch1738/testserver"
)

// Personalities returns the configure functions of this package by their names, in a new slice. The
// servers come first, then the ways in which servers differ. A personality sets fields; configure
// functions that follow it may set them again.
func Personalities() []testserver.Personality[*Server] {
	type p = testserver.Personality[*Server]
	return []p{
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
	}
}

// with adds texts to Replies.
func (s *Server) with(texts Replies) {
	all := maps.Clone(s.Replies)
	if all == nil {
		all = make(Replies)
	}
	maps.Copy(all, texts)
	s.Replies = all
}
