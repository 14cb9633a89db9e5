package transfer

import (
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/listing"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/fetch"
)

// showHeads writes the heads of responses that led to a failure or to an upload elsewhere,
// for -i and -I. An existing file is not changed.
func showHeads(r *Result) {
	head := r.Heads.Shown()
	if !r.Op.Output.Include && !r.Op.Ask.Head || len(head) == 0 || r.Answer.ShownHead > 0 || r.Sink.Count > 0 || r.Sink.Exists() {
		return
	}
	r.Answer.ShownHead = len(head)
	_ = output.TakeHead(r.Sink, head) // there is an error already, or no document
}

// writeHead writes the heads of an HTTP response, and of the redirects to it, for -i
// and -I. For a file it writes lines in the same format.
func writeHead(r *Result, res *fetch.Resource) error {
	head := r.Heads.Shown()
	if res.Locator.Scheme() == "file" {
		head = []byte(listing.FileHead(&res.Attributes) + "\r\n")
		r.Heads.Add(string(head))
	}
	if !r.Op.Output.Include && !r.Op.Ask.Head {
		return nil
	}
	r.Answer.ShownHead = len(head)
	return output.TakeHead(r.Sink, head)
}
