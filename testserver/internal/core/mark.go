package core

// Marks tell which servers have a fault. Each type of fault has the methods of the servers that have
// it, and the interface Fault of a server's package requires the method of that server. So a fault
// of another server does not compile.
type (
	FTP      struct{}
	Web      struct{}
	Gopher   struct{}
	NNTP     struct{}
	WAIS     struct{}
	Prospero struct{}
	CSO      struct{}
	Telnet   struct{}
	SMTP     struct{}

	// Streams are the servers of connections, All are all.
	Streams struct {
		// A new server goes here.
		FTP
		Web
		Gopher
		NNTP
		WAIS
		CSO
		Telnet
		SMTP
	}
	All struct {
		Streams
		Prospero
	}
	// Answers are the servers that answer each command or request, on a connection that stays.
	Answers struct {
		FTP
		Web
		NNTP
		CSO
		SMTP
	}
	Documents struct {
		FTP
		Web
		Gopher
		NNTP
		WAIS
		Telnet
		Prospero
	}
	Partial struct {
		FTP
		Web
	}
	Texts struct {
		Gopher
		NNTP
	}
	Replies struct {
		FTP
		NNTP
		CSO
		SMTP
	}
)

func (FTP) OfFTP()           {}
func (Web) OfWeb()           {}
func (Gopher) OfGopher()     {}
func (NNTP) OfNNTP()         {}
func (WAIS) OfWAIS()         {}
func (Prospero) OfProspero() {}
func (CSO) OfCSO()           {}
func (Telnet) OfTelnet()     {}
func (SMTP) OfSMTP()         {}
