package fetch

// An Op is the operation that failed: a step of this module, or a command as the protocol spells
// it. The constants are all of them, except the HTTP methods that a caller invents. The exit codes
// of the command line depend on the Op.
type Op string

// The steps.
const (
	OpParse        Op = "parse"            // reading a URL
	OpCheck        Op = "check"            // checking a request, before a lookup
	OpExplain      Op = "explain"          // describing what Fetch would do
	OpResolve      Op = "resolve"          // looking up the address of a host
	OpConnect      Op = "connect"          // connecting, up to the greeting of the server; asking the policy
	OpProxyConnect Op = "connect by proxy" // connecting to a proxy, and through it
	OpTLS          Op = "TLS handshake"    // starting TLS
	OpGreeting     Op = "greeting"         // SMTP: the server's first reply
	OpInit         Op = "init"             // WAIS: the first request, which starts a session
	OpLogin        Op = "login"            // obtaining a login, or an account
	OpAccept       Op = "accept"           // FTP: waiting for the server to connect to us
	OpAccess       Op = "access"           // an operation of RFC 1738 §2 as a whole, like the next three
	OpAttributes   Op = "attributes"
	OpUpdate       Op = "update"
	OpReplace      Op = "replace"
	OpEdit         Op = "edit"
	OpUpload       Op = "upload" // Update or Replace
	OpFetch        Op = "fetch"  // Fetch, also for a request that is not valid
	OpFollow       Op = "follow" // following a referral
	OpGateway      Op = "gateway"
	OpSend         Op = "send"     // sending a request or a message
	OpRead         Op = "read"     // receiving; reading a file or the body of an upload
	OpWrite        Op = "write"    // passing on received bytes; writing a file
	OpTransfer     Op = "transfer" // limiting the rate, or enforcing a minimum rate
	OpOpen         Op = "open"     // opening a file
	OpSeek         Op = "seek"     // seeking to the start of a range
	OpClose        Op = "close"
	OpList         Op = "list"     // reading a directory
	OpUnion        Op = "union"    // Prospero: reading the parts of a union directory
	OpMatch        Op = "match"    // finding the names that match a pattern
	OpMirror       Op = "mirror"   // mirroring a tree
	OpChoose       Op = "choose"   // Gopher+: choosing a view of an item
	OpQuery        Op = "query"    // searching a phone book, or prompting at the terminal
	OpSearch       Op = "search"   // WAIS: searching for documents
	OpRetrieve     Op = "retrieve" // WAIS: retrieving a document
)

// The commands. Those with a similar purpose are on one line.
const (
	// FTP (RFC 959, 2228, 2389, 2428, 3659, 4217).
	OpAUTH, OpPBSZ, OpPROT, OpCCC Op = "AUTH", "PBSZ", "PROT", "CCC" // TLS
	OpUSER, OpPASS, OpACCT        Op = "USER", "PASS", "ACCT"        // the login
	OpPWD, OpCWD, OpMKD           Op = "PWD", "CWD", "MKD"           // directories
	OpFEAT, OpTYPE, OpREST        Op = "FEAT", "TYPE", "REST"        // features, transfer type, start of a range
	OpSIZE, OpMDTM                Op = "SIZE", "MDTM"                // attributes
	OpPRET, OpEPSV, OpPASV        Op = "PRET", "EPSV", "PASV"        // the data connection, including the connection itself
	OpEPRT, OpPORT                Op = "EPRT", "PORT"                // a data connection from the server, including the open port
	OpRETR, OpSTOR, OpAPPE        Op = "RETR", "STOR", "APPE"        // files, up to the end of the transfer
	OpRNFR, OpRNTO                Op = "RNFR", "RNTO"                // renaming
	OpDELE, OpRMD, OpMFMT         Op = "DELE", "RMD", "MFMT"         // deletion, modification times
	OpLIST, OpNLST, OpMLSD        Op = "LIST", "NLST", "MLSD"        // listings; LIST also of NNTP and Prospero
	OpQuote                       Op = "QUOTE"                       // any command of the caller

	// NNTP (RFC 3977, 4642, 4643).
	OpSTARTTLS                Op = "STARTTLS"             // also of SMTP
	OpCAPABILITIES, OpMODE    Op = "CAPABILITIES", "MODE" // the abilities of the server
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
