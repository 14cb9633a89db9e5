package ftp

import (
	"fmt"

	"github.com/fetch1738/fetch1738/fetch"
)

// portSteps are the steps that lead to a data connection.
func (a *access) portSteps() []fetch.Step {
	var steps []fetch.Step
	send := func(line, when string) { steps = append(steps, fetch.Step{Send: line + "\r\n", When: when}) }
	act := func(what string) { steps = append(steps, fetch.Step{Do: what}) }
	switch {
	case a.active != nil:
		act("listen on a local port")
		refused := ""
		if !a.active.DisableEPRT {
			send("EPRT |<1 or 2>|<local address>|<port>|", "")
			refused = "when the server refuses EPRT, over IPv4"
		}
		send("PORT <local address, port>", refused)
		return steps
	case a.opt.PRET:
		send("PRET "+a.transferLine(a.name), "")
	}
	if a.noEPSV {
		send("PASV", "")
	} else {
		send("EPSV", "")
		send("PASV", "when EPSV fails, over IPv4")
	}
	act("connect to the port that the server names, at the address of the control connection")
	return steps
}

// transferSteps are the steps of a transfer.
func (a *access) transferSteps() []fetch.Step {
	var steps []fetch.Step
	switch from := a.req.Offset; {
	case from < 0:
		steps = append(steps, fetch.Step{Send: fmt.Sprintf("REST <size - %d>\r\n", -from)})
	case from > 0:
		steps = append(steps, fetch.Step{Send: fmt.Sprintf("REST %d\r\n", from)})
	}
	steps = append(steps, fetch.Step{Send: a.transferLine(a.name) + "\r\n"})
	if a.active != nil {
		steps = append(steps, fetch.Step{Do: "accept a connection from the address of the control connection"})
	}
	if secured := a.implicit() || a.wantsTLS(); secured && a.protection() == "P" {
		steps = append(steps, fetch.Step{Do: "TLS handshake on the data connection"})
	}
	return steps
}
