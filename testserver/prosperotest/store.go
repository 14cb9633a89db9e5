package prosperotest

import (
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"

	proto "github.com/fetch1738/fetch1738/internal/codec/prospero"
)

// A Store has the directories and objects of a [Server] in place of Content, Links, Forwarded and
// Site, such as those of an archive. Its methods are called concurrently. fs.ErrNotExist means that
// there is no such directory or object; other errors are answered with SERVER-FAILED.
type Store interface {
	// List returns the whole answer to LIST, which is sent octet for octet, and whether that is an
	// answer of version 1 of the protocol. Such a directory is not sent in version 5, nor the other
	// way round.
	List(o Object) (answer []byte, version1 bool, err error)
	// Info returns the lines that answer GET-OBJECT-INFO, such as
	// "ATTRIBUTE OBJECT INTRINSIC ACCESS-METHOD SEQUENCE PROSPERO-CONTENTS '' '' '' ''\n".
	Info(o Object) ([]byte, error)
	// Contents returns the contents of an object. They are sent after they have been read to the end.
	Contents(o Object) (io.ReadCloser, error)
}

// Object names an object as a client does.
type Object struct {
	NameType string // usually "ASCII"
	Name     string // the hsoname
	Version  int
	// Fields are the values that fields of the object must have, in order: name and value.
	Fields [][2]string
}

// selected adds a line "SELECT OBJECT FIELD name SEQUENCE value…".
func (o *Object) selected(l []string) {
	if len(l) > 5 && l[0] == "SELECT" && l[1] == "OBJECT" && l[2] == "FIELD" {
		o.Fields = append(o.Fields, [2]string{l[3], strings.Join(l[5:], " ")})
	}
}

// named sets the name by its words: type, name and, if there is one, version.
func (o *Object) named(words []string) {
	o.NameType, o.Name = words[0], words[1]
	if len(words) > 2 {
		o.Version, _ = strconv.Atoi(words[2])
	}
}

// fromStore answers from the Store.
type fromStore struct{ *answerer }

// list answers LIST.
func (a fromStore) list(names []string) {
	if len(names) > 0 {
		a.fail("FAILURE", "UNIMPLEMENTED")
		return
	}
	answer, version1, err := a.srv.Store.List(a.object)
	switch {
	case err != nil:
		a.refuse(err, "NOT-A-DIRECTORY")
		return
	case version1 && !a.plain:
		a.out.WriteString("VERSION-NOT-SUPPORTED TRY 1-1")
	case a.plain && !version1:
		a.out.WriteString("VERSION-NOT-SUPPORTED TRY 5-5")
	default:
		a.out.Reset() // the answer has a line VERSION of its own
		a.out.Write(answer)
	}
	a.over = true
}

// info answers GET-OBJECT-INFO.
func (a fromStore) info(contents bool) {
	if !contents {
		lines, err := a.srv.Store.Info(a.object)
		if err != nil {
			a.refuse(err, "NOT-FOUND")
			return
		}
		a.out.Write(lines)
		return
	}
	in, err := a.srv.Store.Contents(a.object)
	if err != nil {
		a.refuse(err, "NOT-FOUND")
		return
	}
	defer in.Close()
	octets, err := io.ReadAll(io.LimitReader(in, a.srv.MaxUpload+1))
	if err == nil && int64(len(octets)) > a.srv.MaxUpload {
		err = errors.New("longer than MaxUpload")
	}
	if err != nil {
		a.refuse(err, "NOT-FOUND")
		return
	}
	a.out.Write(contentsLine(octets))
}

// refuse ends the answer with the reply for an error of the Store.
func (a fromStore) refuse(err error, absent string) {
	if errors.Is(err, fs.ErrNotExist) {
		a.fail("FAILURE", absent)
		return
	}
	a.fail("FAILURE", "SERVER-FAILED "+proto.Token(strings.ReplaceAll(err.Error(), "\n", " ")))
}
