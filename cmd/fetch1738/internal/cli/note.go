package cli

import (
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/used"
)

// maxNoted is how many URLs of an Operation are noted.
const maxNoted = 20

// NoteServers adds the servers of the URLs of a command line that has succeeded to notes, for the
// completion of remote paths. It notes none that args led to by another way or with another login:
// completion would have to know that, too.
func NoteServers(notes *used.Notes, c *curl.CommandLine, args []string) {
	if notes == nil || curl.Reroutes(args) {
		return
	}
	for _, op := range c.Operations {
		for i, url := range op.URLs[:min(len(op.URLs), maxNoted)] {
			ref, err := op.Reading.Parse(url)
			if err != nil || op.Listed[i] || op.Gateways[ref.Locator.Scheme()] != "" {
				continue
			}
			notes.Note(ref.Locator, client.Via(op, ref.Locator))
		}
	}
}
