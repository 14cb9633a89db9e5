package prospero

import (
	"context"
	"fmt"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/ardp"
)

// sending says how a message goes out.
func sending(packets int) string {
	if packets == 1 {
		return "send one packet by ARDP over UDP, behind this header:"
	}
	return fmt.Sprintf("send %d packets by ARDP over UDP, each behind a header as this one of the first:", packets)
}

// Explain implements [fetch.Explainer]. The first message is shown with its
// header taken apart; a connection id of 1738 stands for the random one.
func (f *Fetcher) Explain(req *fetch.Request) (*fetch.Plan, error) {
	c, err := f.prepare(context.Background(), req)
	if err != nil {
		return nil, err
	}
	p := &fetch.Plan{Network: "udp", Host: c.at.host, Port: c.at.port}
	when := ""
	if c.needsWords() {
		p.Steps = append(p.Steps, fetch.Step{Do: "ask for search words"})
		p.Notes = append(p.Notes, "nothing is dialled without words")
		c.at.object, when = c.at.object+"/(words)", "when search words are given"
	}
	text := list(c, &c.at)
	packets, ok := ardp.Split(1738, []byte(text))
	if !ok {
		return nil, fetch.Fail(fetch.OpExplain, c.loc, fetch.ErrBadURL, ardp.ErrTooLong)
	}
	p.Steps = append(p.Steps, fetch.Step{Do: sending(len(packets)), When: when})
	header := *packets[0]
	header.Data = nil
	for _, line := range ardp.Annotate(header.Append(nil)) {
		p.Steps = append(p.Steps, fetch.Step{Do: "  " + line, When: when})
	}
	p.Steps = append(p.Steps,
		fetch.Step{Send: text, When: when},
		fetch.Step{Do: "repeat after 4, 12 and 28 s, give up after 60 s; a server may ask for patience", When: when},
	)
	if !computed(c.at.object) {
		p.Steps = append(p.Steps,
			fetch.Step{Send: info(c, &c.at), When: "when it is no directory: what are its access methods?"},
			fetch.Step{Send: octets(c, &c.at), When: "when the first that can be used is PROSPERO-CONTENTS"},
			fetch.Step{Do: "go to the URL of the first access method that can be used", When: "when that is another one"},
		)
	}
	p.Notes = append(p.Notes,
		"the connection id is random, shown here as 1738; each request has one and a socket of its own",
		"a directory is a menu of links; its union links are listed too",
		"files of other hosts (LOCAL, NFS, AFS) are shown, never opened",
	)
	if req.Offset > 0 {
		p.Notes = append(p.Notes, "prospero sends all of it; what is before the offset is dropped here")
	}
	return p, nil
}
