package wais

import (
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/codec/z3950"
)

// A Diagnostic is an error message from a server. A *[fetch.Error] caused by one wraps it.
type Diagnostic struct {
	// Code has two letters or digits, such as "S1".
	Code string
	// Text is the server's message.
	Text string
	// Surrogate reports whether the diagnostic replaces a record.
	Surrogate bool
}

// Error returns a text such as "S1 permanent system error: no such database".
func (d Diagnostic) Error() string {
	text := d.Code
	if meaning := z3950.Diagnostic(d).Meaning(); meaning != "" {
		text += " " + meaning
	}
	if d.Text != "" {
		text += ": " + d.Text
	}
	return text
}

// failure returns the first diagnostic of a response that reports a failure, or nil.
func failure(r *z3950.SearchResponse) *Diagnostic {
	for d := range r.Diagnostics() {
		if d.Code != "T1" { // T1 means a partial result
			d := Diagnostic(d)
			return &d
		}
	}
	return nil
}

// kind returns the error kind of a diagnostic. Servers use S1 for nearly every failure.
func (d *Diagnostic) kind() fetch.ErrorKind {
	switch d.Code {
	case "S1":
		text := strings.ToLower(d.Text)
		if strings.Contains(text, "syntax") || strings.Contains(text, "field") || strings.Contains(text, "words") {
			return fetch.ErrBadURL
		}
		return fetch.ErrNotFound
	case "S3", "S5", "S6", "S7", "S8", "S9", "SA", "SB", "SC", "SD":
		return fetch.ErrBadURL
	case "SF":
		if d.beyond() {
			return fetch.ErrBadRange
		}
		return fetch.ErrNotFound
	case "SH", "T2", "T3", "T4":
		return fetch.ErrPermission
	case "SI", "SJ":
		return fetch.ErrTooLarge
	case "S2", "SG", "ST", "SU", "SV", "SW", "SX", "SY", "SZ":
		return fetch.ErrBusy
	}
	return fetch.ErrProtocol
}

// unavailable reports whether the database does not exist. Only the text of S1 shows that.
func (d *Diagnostic) unavailable() bool {
	return d.Code == "S1" && strings.Contains(strings.ToLower(d.Text), "not available")
}

// beyond reports whether the diagnostic is about the range. Servers use SF for many failures, so
// beyond checks its text.
func (d *Diagnostic) beyond() bool {
	return d.Code == "SF" && strings.Contains(strings.ToLower(d.Text), "out of range")
}
