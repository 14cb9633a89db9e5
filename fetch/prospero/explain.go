package prospero

import (
	"context"
	"fmt"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/codec/ardp"
)

// sending describes how a message of several packets is sent.
func sending(packets int) string {
	if packets == 1 {
		return "send one packet by ARDP over UDP, with this header:"
	}
	return fmt.Sprintf("send %d packets by ARDP over UDP, each with a header like this one of the first:", packets)
}

// Explain implements [driver.Explainer]. The Explanation shows the first message with its header
// explained. The connection id is shown as 1738; a real one is random.
func (f *Fetcher) Explain(req *fetch.Request) (*fetch.Explanation, error) {
	c, err := f.prepare(context.Background(), req)
	if err != nil {
		return nil, err
	}
	e := &fetch.Explanation{Network: "udp", Host: c.at.host, Port: c.at.port}
	when := ""
	if c.needsWords() {
		e.Steps = append(e.Steps, fetch.Step{Do: "ask for search words"})
		e.Notes = append(e.Notes, "no connection is made without search words")
		c.at.object, when = c.at.object+"/(words)", "when search words are given"
	}
	text := listRequest(c, &c.at)
	packets, ok := ardp.Split(1738, []byte(text))
	if !ok {
		return nil, driver.Fail(fetch.OpExplain, c.loc, fetch.ErrBadURL, ardp.ErrTooLong)
	}
	e.Steps = append(e.Steps, fetch.Step{Do: sending(len(packets)), When: when})
	header := *packets[0]
	header.Data = nil
	for _, line := range ardp.Annotate(header.Append(nil)) {
		e.Steps = append(e.Steps, fetch.Step{Do: "  " + line, When: when})
	}
	e.Steps = append(e.Steps,
		fetch.Step{Send: text, When: when},
		fetch.Step{Do: "repeat after 4, 12 and 28 s, fail after 60 s; a server may ask the client to wait longer", When: when},
	)
	if !isComputed(c.at.object) {
		e.Steps = append(e.Steps,
			fetch.Step{Send: infoRequest(c, &c.at), When: "when it is not a directory, to get its access methods"},
			fetch.Step{Send: contentsRequest(c, &c.at), When: "when the first usable access method is PROSPERO-CONTENTS"},
			fetch.Step{Do: "go to the URL of the first usable access method", When: "when that is another one"},
		)
	}
	e.Notes = append(e.Notes,
		"the connection id is random, shown here as 1738; each request has its own id and socket",
		"a directory is a menu of links; the directories of its union links are listed too",
		"files of other hosts (LOCAL, NFS, AFS) are shown and never opened",
	)
	if req.Offset > 0 {
		e.Notes = append(e.Notes, "the server sends the whole object; the client discards the bytes before the offset")
	}
	return e, nil
}
