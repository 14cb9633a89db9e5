package wais

import (
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/z3950"
)

// A Diagnostic is a server's complaint. It is what a *[fetch.Error] wraps whose
// cause is one.
type Diagnostic struct {
	// Code has two letters or digits, such as "S1".
	Code string
	// Text is in the server's words.
	Text string
	// Surrogate says that it stands in the place of a record.
	Surrogate bool
}

// Error is such as "S1 permanent system error: no such database".
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

// complaint is the first diagnostic of an answer that tells of a failure.
func complaint(r *z3950.SearchResponse) *Diagnostic {
	for d := range r.Diagnostics() {
		if d.Code != "T1" { // part of the result came
			d := Diagnostic(d)
			return &d
		}
	}
	return nil
}

// kind classifies a complaint. S1 is what servers say to nearly everything.
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

// unavailable reports whether the complaint is that there is no such database,
// which only the words of S1 tell.
func (d *Diagnostic) unavailable() bool {
	return d.Code == "S1" && strings.Contains(strings.ToLower(d.Text), "not available")
}

// beyond reports whether the complaint is about the range. Of the many things
// that go by SF only the words tell this one.
func (d *Diagnostic) beyond() bool {
	return d.Code == "SF" && strings.Contains(strings.ToLower(d.Text), "out of range")
}
