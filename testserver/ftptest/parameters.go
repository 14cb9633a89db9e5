package ftptest

import (
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// parameters are those of the next transfer.
type parameters struct {
	ascii bool  // the type is A, and not I
	rest  int64 // the offset of REST, for one transfer only
}

// mode returns the name of the type in replies.
func (p *parameters) mode() string {
	if p.ascii {
		return "ASCII"
	}
	return "BINARY"
}

// takeRest returns the offset at which a transfer begins.
func (p *parameters) takeRest() int64 {
	n := p.rest
	p.rest = 0
	return n
}

func doTYPE(f *session, arg string) error {
	switch strings.ToUpper(arg) {
	case "A", "A N":
		f.parameters.ascii = true
		return f.reply("200 Type set to A.")
	case "I", "L 8", "L8":
		f.parameters.ascii = false
		return f.reply("200 Type set to I.")
	}
	return f.reply("504 Type not implemented.")
}

func doREST(f *session, arg string) error {
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || n < 0 {
		return f.reply("501 REST takes a number of octets.")
	}
	if f.parameters.rest = n; f.now.faults.Acts(core.FromStart) || f.srv.IgnoreREST {
		f.parameters.rest = 0
	}
	return f.replyf("350 Restarting at %d.", n)
}
