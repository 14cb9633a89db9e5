package fetch

// An Op is the operation that failed: a command or method as the protocol spells it, such as
// "RETR", or a step. The constants are the steps that several schemes have; the others are "init",
// "search" and "retrieve" of WAIS, "choose" of Gopher+, "query" of phone books, "union" of Prospero
// and "greeting" of SMTP.
type Op string

// The steps that several schemes have.
const (
	OpParse        Op = "parse"            // reading a URL
	OpCheck        Op = "check"            // checking a request, before a lookup
	OpExplain      Op = "explain"          // describing what Fetch would do
	OpResolve      Op = "resolve"          // looking up the address of a host
	OpConnect      Op = "connect"          // connecting, up to the greeting of the server; asking the policy
	OpProxyConnect Op = "connect by proxy" // connecting to a proxy, and through it
	OpTLS          Op = "TLS handshake"    // starting TLS
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
	OpList         Op = "list"   // reading a directory
	OpMatch        Op = "match"  // finding the names that match a pattern
	OpMirror       Op = "mirror" // mirroring a tree
)
