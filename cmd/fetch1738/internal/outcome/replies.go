package outcome

import (
	"bytes"
	"slices"
)

// replies puts the replies of an FTP server in curl's order: the one to the command that opens the data
// connection comes before those to TYPE and SIZE, which curl sends after it.
type replies struct {
	awaited []string // the verbs of the commands to which no final reply has come
	held    []byte
}

// sent notes commands.
func (r *replies) sent(octets []byte) {
	for line := range bytes.Lines(octets) {
		verb, _, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(" "))
		r.awaited = append(r.awaited, string(bytes.ToUpper(verb)))
	}
}

var (
	opensData = []string{"EPSV", "PASV", "EPRT", "PORT"}
	// before are commands that curl sends before it opens the data connection.
	before = []string{"CWD", "MKD", "PWD", "FEAT", "OPTS", "SYST", "NOOP", "PRET"}
)

// next returns what is to be shown when a reply has come.
func (r *replies) next(reply []byte) []byte {
	if len(r.awaited) == 0 {
		return reply
	}
	verb := r.awaited[0]
	if reply[0] != '1' {
		r.awaited = r.awaited[1:]
	}
	switch opens := slices.Contains(opensData, verb); {
	case verb == "TYPE" || verb == "SIZE":
		r.held = append(r.held, reply...)
		return nil
	case opens && reply[0] == '2':
		return append(bytes.Clone(reply), r.rest()...)
	case opens || slices.Contains(before, verb):
		return reply
	}
	return append(r.rest(), reply...)
}

// rest returns the replies that are held, and holds none any more.
func (r *replies) rest() []byte {
	rest := r.held
	r.held = nil
	return rest
}
