package ftptest

import (
	"cmp"
	"slices"
	"strings"
)

// newCommands returns the commands of the server, in the order in which the documentation lists
// those with a fault. It is a function because the commands use the table, by Server.commands.
func newCommands() commands {
	return commands{
		{"USER", doUSER, beforeLogin | credential},
		{"PASS", doPASS, beforeLogin | credential},
		{"ACCT", doACCT, beforeLogin},
		{"REIN", doREIN, beforeLogin | interferes},
		{"QUIT", doQUIT, beforeLogin},

		{"AUTH", doAUTH, beforeLogin | interferes | turnsTLS},
		{"PBSZ", doPBSZ, beforeLogin},
		{"PROT", doPROT, beforeLogin | interferes},
		{"CCC", doCCC, interferes | turnsTLS},

		{"NOOP", says("200 Ok."), beforeLogin},
		{"HELP", says("214 A test server: RFC 959, 1123, 2389, 2428, 3659, 4217."), beforeLogin},
		{"SYST", says("215 UNIX Type: L8"), beforeLogin},
		{"FEAT", doFEAT, beforeLogin},
		{"OPTS", doOPTS, beforeLogin},
		{"ALLO", says("202 No storage allocation necessary."), 0},

		{"PWD", doPWD, 0},
		{"CWD", doCWD, 0},
		{"CDUP", doCDUP, 0},

		{"TYPE", doTYPE, 0},
		{"MODE", only("S", "200 Mode set to S.", "504 Only stream mode is implemented."), 0},
		{"STRU", only("F", "200 Structure set to F.", "504 Only file structure is implemented."), 0},
		{"PASV", doPASV, interferes},
		{"EPSV", doEPSV, interferes},
		{"PORT", doPORT, interferes},
		{"EPRT", doEPRT, interferes},
		{"PRET", doPRET, 0},

		{"REST", doREST, 0},
		{"RETR", doRETR, download | interferes},
		{"STOR", doSTOR, upload | interferes},
		{"STOU", doSTOU, upload | interferes},
		{"APPE", doAPPE, upload | interferes},
		{"NLST", doLIST, download | interferes},
		{"LIST", doLIST, download | interferes},
		{"MLSD", doMLSD, download | interferes},
		{"ABOR", doABOR, 0},

		{"MLST", doMLST, 0},
		{"STAT", doSTAT, 0},
		{"SIZE", doSIZE, 0},
		{"MDTM", doMDTM, 0},
		{"MFMT", doMFMT, 0},
		{"DELE", doDELE, 0},
		{"MKD", doMKD, 0},
		{"RMD", doRMD, 0},
		{"RNFR", doRNFR, interferes},
		{"RNTO", doRNTO, interferes},
	}
}

// oldNames are the names of commands by those of RFC 1123 §4.1.3.1.
var oldNames = map[string]string{"XPWD": "PWD", "XCWD": "CWD", "XCUP": "CDUP", "XMKD": "MKD", "XRMD": "RMD"}

// commands is a table of commands.
type commands []command

// command is a row. Its function carries the command out and replies; an error ends the session.
type command struct {
	verb string
	do   func(f *session, arg string) error
	traits
}

// traits are what a session must know of a command before it is carried out.
type traits uint8

const (
	beforeLogin traits = 1 << iota // needs no login
	credential                     // is refused without TLS if RequireTLS
	turnsTLS                       // may turn TLS on or off, so that the bytes behind it may have another form
	download                       // uses a data connection, to the client
	upload                         // uses a data connection, from the client
	interferes                     // would disturb a transfer that is under way
)

// has reports whether a command has one of some traits.
func (t traits) has(some traits) bool { return t&some != 0 }

// of returns the command in a line. If it is not known, only its verb is set.
func (all commands) of(line string) command {
	name, _, _ := strings.Cut(line, " ")
	name = strings.ToUpper(name)
	name = cmp.Or(oldNames[name], name)
	if i := slices.IndexFunc(all, func(c command) bool { return c.verb == name }); i >= 0 {
		return all[i]
	}
	return command{verb: name}
}

// with returns the verbs of the commands that have one of some traits.
func (all commands) with(some traits) (verbs []string) {
	for _, c := range all {
		if c.has(some) {
			verbs = append(verbs, c.verb)
		}
	}
	return verbs
}

// says returns a command without effect.
func says(reply string) func(*session, string) error {
	return func(f *session, _ string) error { return f.reply(reply) }
}

// only returns a command that accepts one value, and has no effect.
func only(value, accepted, refused string) func(*session, string) error {
	return func(f *session, arg string) error {
		if strings.EqualFold(arg, value) {
			return f.reply(accepted)
		}
		return f.reply(refused)
	}
}
