package ftp

import "github.com/fetch1738/fetch1738/fetch"

// Info is the type of Resource.Info for ftp and ftps URLs.
type Info struct {
	// Greeting is the text of the server's first reply, without the code.
	Greeting string
	// Welcome is the text of the reply to the login, and Message that of the reply to the last CWD,
	// without the code. Servers send messages for people in both, in several lines. They are empty
	// if the session needed no login or no CWD.
	Welcome, Message string
	// EntryPath is the working directory after the login, from the reply to PWD. It is
	// empty if PWD was not sent or failed.
	EntryPath string
	// Type is the type of the transfer: 'A' or 'I'.
	Type byte
	// Announced is the number of bytes that the first reply to the transfer states, or -1. Some servers
	// state the size of the file there, and others how much of it they will send.
	Announced int64
	// Unwanted reports that the file was not fetched because Options.Wanted returned false.
	Unwanted bool
	// Unread counts the lines of a listing that are not entries in any supported format, and a
	// last line without a line end, which may be truncated. Entries may be missing then. It is
	// complete when the loop over Items has ended, and does not count lines in whose place the
	// entries are listed by NLST. See [UnreadError].
	Unread int
	// Names reports that a listing is by NLST, and that directories may be missing in it, or listed as
	// files: the kind of an entry is not known if it has no size. It is valid when the loop over Items
	// has ended.
	Names bool
	// Asked reports that the server was asked about names of NLST one by one, because lines of LIST are
	// not understood: a symbolic link looks like what it leads to. It is valid when the loop over Items
	// has ended.
	Asked bool
	// Facts reports that a listing is by MLSD, so that sizes are in bytes and times are UTC.
	Facts bool
	// Hides reports that names which begin with a dot may be missing in a listing: it is by LIST or
	// NLST, and has none, not even an entry ".". It is valid when the loop over Items has ended.
	Hides bool

	unread *fetch.Error // see UnreadError
}

// UnreadError returns an error if lines of a listing were not understood, so that entries are
// missing in its Items, of the kind [fetch.ErrProtocol]. It is to be called after the loop over
// them. If no line was understood, the loop has had the error.
func UnreadError(res *fetch.Resource) error {
	if info, ok := res.Info.(*Info); ok && info.unread != nil {
		return info.unread
	}
	return nil
}
