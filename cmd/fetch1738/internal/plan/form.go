package plan

import (
	"net/http"
	"strings"
)

// A Field is one of a form. A form of HTTP is posted, one of Gopher+ is answered.
type Field struct {
	Name  string
	Text  string // the value as it was given, or that of a file: the answer to a question of Gopher+
	Part  Part   // the value for HTTP, unless there are files
	Files []Part // in place of Part
}

// A Part is what HTTP posts of a field.
type Part struct {
	Content  string
	File     string  // the name of a file whose content it is; or ""
	Type     string  // a media type; "" for none or, of a file, the one that its name means
	Filename *string // to say to the server; nil for that of the file, if there is one
	Headers  []string
	Encoder  string // a transfer encoding; "" for none
}

// An Answer answers the question of a form with this name or number.
type Answer struct{ Name, Value string }

// Answers returns the answers to a form of Gopher+.
func (o *Operation) Answers() (all []Answer) {
	for _, f := range o.Form {
		all = append(all, Answer{strings.TrimSpace(f.Name), f.Text})
	}
	return all
}

// Cookies says which cookies HTTP requests have.
type Cookies struct {
	Given       []string       // in the form in which they are sent
	Files       []string       // to read; "" reads none, but cookies are stored
	File        string         // to write; "" for none
	JunkSession bool           // skip those in Files that last for a session
	Jar         http.CookieJar // of all Operations that store cookies; nil if this one does not
}

// Stored reports whether the cookies of servers are stored, and sent.
func (c *Cookies) Stored() bool { return len(c.Files) > 0 || c.File != "" }
