package fetch

// An Op is what was being done when something failed: a step of ours, or a command
// in the protocol's own spelling. All are here but the methods of HTTP that a
// caller makes up; the exit codes of the command line hang on them.
type Op string

// The steps.
const (
	OpParse        Op = "parse"            // reading a URL
	OpCheck        Op = "check"            // judging a request, before anything is looked up
	OpExplain      Op = "explain"          // saying what would be done
	OpResolve      Op = "resolve"          // finding the address of a host
	OpConnect      Op = "connect"          // reaching a server, up to its greeting; asking the policy
	OpProxyConnect Op = "connect by proxy" // the same, of a proxy and what it reaches
	OpTLS          Op = "TLS handshake"    // beginning TLS
	OpGreeting     Op = "greeting"         // SMTP: the server's first reply
	OpInit         Op = "init"             // WAIS: making the server's acquaintance
	OpLogin        Op = "login"            // finding a name and password, or an account
	OpAccept       Op = "accept"           // FTP: waiting for the server to connect to us
	OpAccess       Op = "access"           // the operations of RFC 1738 §2 as a whole
	OpAttributes   Op = "attributes"
	OpUpdate       Op = "update"
	OpReplace      Op = "replace"
	OpUpload       Op = "upload" // update or replace
	OpFetch        Op = "fetch"  // access, also where the request cannot be one
	OpFollow       Op = "follow" // going where a referral leads
	OpGateway      Op = "gateway"
	OpSend         Op = "send"     // sending a request or a message
	OpRead         Op = "read"     // receiving; reading a file, or what is to be sent
	OpWrite        Op = "write"    // passing on what came; writing a file
	OpTransfer     Op = "transfer" // keeping to a pace, or above a least one
	OpOpen         Op = "open"     // a file
	OpSeek         Op = "seek"     // going to where a range begins
	OpClose        Op = "close"
	OpList         Op = "list"     // reading what a directory holds
	OpUnion        Op = "union"    // Prospero: reading the parts of one
	OpMatch        Op = "match"    // looking for names that fit a pattern
	OpMirror       Op = "mirror"   // a tree
	OpChoose       Op = "choose"   // Gopher+: one of an item's views
	OpQuery        Op = "query"    // asking a phone book, or a person at the terminal
	OpSearch       Op = "search"   // WAIS: for documents
	OpRetrieve     Op = "retrieve" // WAIS: a document
)

// Commands, of which those that do alike stand together.
const (
	// FTP (RFC 959, 2228, 2389, 2428, 3659, 4217).
	OpAUTH, OpPBSZ, OpPROT, OpCCC Op = "AUTH", "PBSZ", "PROT", "CCC" // TLS
	OpUSER, OpPASS, OpACCT        Op = "USER", "PASS", "ACCT"        // the login
	OpPWD, OpCWD, OpMKD           Op = "PWD", "CWD", "MKD"           // directories
	OpFEAT, OpTYPE, OpREST        Op = "FEAT", "TYPE", "REST"        // what can be and how it shall be done
	OpSIZE, OpMDTM                Op = "SIZE", "MDTM"                // attributes
	OpPRET, OpEPSV, OpPASV        Op = "PRET", "EPSV", "PASV"        // the data connection, also making it
	OpEPRT, OpPORT                Op = "EPRT", "PORT"                // that the server makes; also opening the port
	OpRETR, OpSTOR, OpAPPE        Op = "RETR", "STOR", "APPE"        // files, to the end of the transfer
	OpLIST, OpNLST, OpMLSD        Op = "LIST", "NLST", "MLSD"        // listings; LIST also of NNTP and Prospero
	OpQuote                       Op = "QUOTE"                       // any command of the caller's

	// NNTP (RFC 3977, 4642, 4643).
	OpSTARTTLS                Op = "STARTTLS"             // also of SMTP
	OpCAPABILITIES, OpMODE    Op = "CAPABILITIES", "MODE" // what the server can
	OpAUTHINFO                Op = "AUTHINFO"             // the login
	OpGROUP, OpLISTGROUP      Op = "GROUP", "LISTGROUP"
	OpOVER, OpXOVER           Op = "OVER", "XOVER"
	OpARTICLE, OpHEAD, OpSTAT Op = "ARTICLE", "HEAD", "STAT" // HEAD also of HTTP

	// SMTP (RFC 5321), HTTP and Prospero.
	OpEHLO, OpMAIL, OpRCPT Op = "EHLO", "MAIL", "RCPT" // EHLO or HELO
	OpDATA                 Op = "DATA"                 // with the message
	OpGET, OpPUT, OpPOST   Op = "GET", "PUT", "POST"   // POST also of NNTP
	OpGetObjectInfo        Op = "GET-OBJECT-INFO"
)
