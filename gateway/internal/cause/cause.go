// Package cause says what an error of an access means to a person who reads a page.
package cause

import (
	"net/http"

	"github.com/fetch1738/fetch1738/fetch"
)

// RetryAfter is how many seconds a client should wait before it asks a busy server again.
const RetryAfter = "30"

// Useless is what Again says where the same request has the same answer.
const Useless = "Trying again does not help."

// A Cause says what happened, whether trying again helps and what else to do.
type Cause struct {
	Status          int // of HTTP
	Text, Again, Do string
	Own             bool // the error is one of the gateway, in words for its reader
}

// Of returns what is to be said about an error of a kind, if there is more to say than its text.
func Of(kind fetch.ErrorKind) (c Cause, ok bool) {
	if int(kind) < len(causes) {
		c = causes[kind]
	}
	return c, c.Text != ""
}

var causes = [...]Cause{
	fetch.ErrNotFound:        {Status: http.StatusNotFound, Text: "The server has no such document.", Again: Useless, Do: "Check the spelling of the URL, or look for the document in a folder or menu above it."},
	fetch.ErrPermission:      {Status: http.StatusForbidden, Text: "The server denies access.", Again: Useless, Do: "The server shows this to some users only, or to nobody."},
	fetch.ErrRefused:         {Status: http.StatusForbidden, Text: "The gateway's policy refuses this URL.", Again: Useless, Own: true},
	fetch.ErrUnauthenticated: {Status: http.StatusUnauthorized, Text: "The server requires a login."},
	fetch.ErrBadURL:          {Status: http.StatusBadRequest, Text: "This is not a URL that the gateway can read.", Do: "Check the spelling of the URL.", Own: true},
	fetch.ErrNoOctets:        {Status: http.StatusBadRequest, Text: "There is no document at this URL.", Again: Useless, Do: "Open the page of the URL, without “raw”.", Own: true},
	fetch.ErrUnsupported:     {Status: http.StatusBadRequest, Text: "The gateway does not show this kind of URL.", Again: Useless, Own: true},
	fetch.ErrBadRange:        {Status: http.StatusRequestedRangeNotSatisfiable, Text: "The document does not have this part.", Again: Useless, Do: "Request the whole document."},
	fetch.ErrTooLarge:        {Status: http.StatusRequestEntityTooLarge, Text: "The answer is larger than the gateway permits.", Again: Useless},
	fetch.ErrUnresolved:      {Status: http.StatusBadGateway, Text: "The name of the server has no address.", Again: "Trying again helps only if the network was down.", Do: "Check the spelling of the name. The server may not exist any more."},
	fetch.ErrUnreachable:     {Status: http.StatusBadGateway, Text: "The server cannot be reached.", Again: "Trying again later helps if the server or the network is down for a while.", Do: "Check the name and the port in the URL. The server may not exist any more."},
	fetch.ErrTimeout:         {Status: http.StatusGatewayTimeout, Text: "The server did not answer in time.", Again: "Trying again often helps: the server or the network may be slow."},
	fetch.ErrBusy:            {Status: http.StatusServiceUnavailable, Text: "The server is busy.", Again: "Trying again helps when others have left the server. Wait " + RetryAfter + " seconds."},
	fetch.ErrMoved:           {Status: http.StatusBadGateway, Text: "The document has moved.", Again: Useless},
	fetch.ErrTooManyHops:     {Status: http.StatusBadGateway, Text: "The document has moved too many times.", Again: Useless},
	fetch.ErrTruncated:       {Status: http.StatusBadGateway, Text: "The server ended the transfer early.", Again: "Trying again often helps."},
	fetch.ErrProtocol:        {Status: http.StatusBadGateway, Text: "The server does not keep to its protocol.", Again: "Trying again rarely helps.", Do: "It may be a server of another kind: check the scheme and the port of the URL."},

	fetch.ErrConnectionFailed: {Status: http.StatusBadGateway, Text: "The connection to the server broke.", Again: "Trying again often helps."},
	fetch.ErrLocalIO:          {Status: http.StatusInternalServerError, Text: "The gateway cannot read or write a file of its own.", Again: "Trying again helps after the operator of the gateway has corrected this."},
}
