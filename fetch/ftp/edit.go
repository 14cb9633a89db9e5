package ftp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
	"github.com/fetch1738/fetch1738/locator"
)

// edit performs edits. If the server closes the connection after a reply, the rest is for another
// session.
func (r runner) edit(a *access, edits []fetch.Edit) error {
	for _, e := range edits {
		if err := checkEdit(a, e); err != nil {
			return a.fail(fetch.OpCheck, err)
		}
		a.utf8 = a.utf8 || !a.exact && isBeyondASCII(e.Name, e.To)
		if to, ok := e.ToDir.(*locator.FTP); ok && !a.exact {
			a.utf8 = a.utf8 || isBeyondASCII(to.CWD...)
		}
	}
	for {
		before, closed := 0, false
		s, err := r.do(a, commands.enterOnly, func(s *session) error {
			before = done(edits)
			err := (&editor{session: s}).perform(edits)
			closed = isClosed(s.ctl.Err)
			return err
		})
		switch {
		case err == nil:
			r.release(s)
			return nil
		case !closed || done(edits) == before:
			return err
		}
	}
}

// done returns the number of edits that have a result.
func done(edits []fetch.Edit) (n int) {
	for _, e := range edits {
		if e.Done {
			n++
		}
	}
	return n
}

// checkEdit refuses names that are no component of a path, or cannot be part of a command, and another
// directory that a name alone does not reach.
func checkEdit(a *access, e fetch.Edit) error {
	names := []string{e.Name}
	switch e.Kind {
	case fetch.EditRename:
		names = append(names, e.To)
		if err := checkToDir(a, e.ToDir); err != nil {
			return err
		}
	case fetch.EditLink:
		if err := checkLine("a target of a link", e.To); err != nil {
			return err
		}
	}
	for _, name := range names {
		if name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
			return &fetch.Error{Kind: fetch.ErrBadURL, Err: fmt.Errorf("%q is not the name of a file in a directory", name)}
		}
		if err := checkLine("a file name", name); err != nil {
			return err
		}
	}
	return nil
}

// checkToDir refuses the directory of a new name if RNTO cannot name it, or it is another user's.
func checkToDir(a *access, dir locator.Locator) error {
	if dir == nil {
		return nil
	}
	to, ok := dir.(*locator.FTP)
	switch {
	case !ok || to.Name != "" || !locator.SameServer(to, a.loc):
		return &fetch.Error{Kind: fetch.ErrBadURL, Err: fmt.Errorf("%s is not a directory of this server", dir.Redacted())}
	case to.Login != a.loc.Login && (to.Login == nil || a.loc.Login == nil || *to.Login != *a.loc.Login): // pointers; nil is the anonymous user
		return &fetch.Error{Kind: fetch.ErrBadURL, Err: errors.New("the directory of the new name has another login")}
	case slices.Contains(to.CWD, ""):
		return &fetch.Error{Kind: fetch.ErrBadURL, Err: errors.New("only the server knows where an empty part of a path leads")}
	}
	return driver.CheckOctets(to)
}

// newName returns the argument of RNTO: the path from the root, if the directory is another one. It
// returns "" if the paths of the server do not begin with a slash.
func (e *editor) newName(edit *fetch.Edit) string {
	to, ok := edit.ToDir.(*locator.FTP)
	if !ok || slices.Equal(to.CWD, e.access.loc.CWD) {
		return e.spelled(edit.To)
	}
	path := e.entry
	for _, dir := range to.CWD {
		if strings.HasPrefix(dir, "/") {
			path = ""
		} else {
			path = strings.TrimSuffix(path, "/") + "/"
		}
		path += dir
	}
	if !strings.HasPrefix(path, "/") {
		return ""
	}
	return strings.TrimSuffix(path, "/") + "/" + edit.To
}

// An editor performs edits on a session.
type editor struct {
	*session
	library *library // nil until it is needed
}

// perform performs edits. If the session fails, those with a reply keep their results.
func (e *editor) perform(edits []fetch.Edit) error {
	for len(edits) > 0 {
		var lines []string
		n := 0
		for ; n < len(edits); n++ {
			commands, err := e.linesOf(&edits[n])
			if err != nil {
				return err
			}
			if len(lines)+len(commands) > maxAhead {
				break
			}
			if lines = append(lines, commands...); !e.isAhead(&edits[n]) {
				n++
				break
			}
		}
		if n == len(edits) && e.isAhead(&edits[n-1]) && e.transfers().wantsNextPort() {
			lines = append(lines, e.passiveCommand())
		}
		if len(lines) > 1 && e.pipelines() {
			e.ctl.began = e.ctl.began || slices.ContainsFunc(edits[:n], changes)
		}
		if err := e.sendAhead(lines); err != nil {
			return err
		}
		for i := range edits[:n] {
			if err := e.finish(&edits[i]); err != nil {
				return err
			}
		}
		edits = edits[n:]
	}
	return nil
}

// changes reports whether an edit changes something on the server. Kinds up to EditSum only ask.
func changes(edit fetch.Edit) bool { return edit.Kind > fetch.EditSum }

// isAhead reports whether commands may be sent before the replies to this edit. If a name has two
// spellings, more commands may follow.
func (e *editor) isAhead(edit *fetch.Edit) bool {
	return !strings.HasPrefix(edit.Name, "~") && !strings.HasPrefix(edit.To, "~")
}

// linesOf returns the commands of an edit. An edit that is done already, or that the server has no
// command for, has no commands.
func (e *editor) linesOf(edit *fetch.Edit) ([]string, error) {
	if edit.Done {
		return nil, nil
	}
	name := e.spelled(edit.Name)
	switch edit.Kind {
	case fetch.EditSize:
		return []string{"SIZE " + name}, nil
	case fetch.EditRename:
		if to := e.newName(edit); to != "" {
			return []string{"RNFR " + name, "RNTO " + to}, nil
		}
		return nil, nil
	case fetch.EditRemove:
		return []string{"DELE " + name}, nil
	case fetch.EditMakeDir:
		return []string{"MKD " + name}, nil
	case fetch.EditRemoveDir:
		return []string{"RMD " + name}, nil
	case fetch.EditMode:
		return []string{fmt.Sprintf("SITE CHMOD %04o %s", edit.Mode.Perm(), name)}, nil
	case fetch.EditLink:
		return []string{"SITE SYMLINK " + edit.To + " " + name}, nil
	case fetch.EditTime:
		stamp := edit.Time.UTC().Format("20060102150405")
		way, err := e.modTimeCommand()
		switch way {
		case "":
			return nil, err
		case "SITE UTIME":
			return []string{fmt.Sprintf("SITE UTIME %s %[2]s %[2]s %[2]s UTC", name, stamp)}, err
		}
		return []string{way + " " + stamp + " " + name}, err
	case fetch.EditSum:
		way, err := e.checksumCommand()
		if way == "" {
			return nil, err
		}
		return []string{way + " " + name}, err
	}
	return nil, e.failure(&fetch.Error{Kind: fetch.ErrUnsupported, Err: fmt.Errorf("edit of kind %d", edit.Kind)})
}

// modTimeCommand returns the command that sets a modification time, without its arguments. vsftpd
// has its own meaning of MDTM: with a time before the name it sets it.
func (e *editor) modTimeCommand() (string, error) {
	f, err := e.features()
	_, mfmt := f["MFMT"]
	switch {
	case err != nil, e.noTime:
		return "", err
	case mfmt:
		return "MFMT", nil
	case e.program.name == "vsftpd":
		return "MDTM", nil
	}
	return "SITE UTIME", nil
}

// checksumCommand returns the best command for a checksum that the server has. XSHA256 precedes
// HASH, for which the server chooses the function.
func (e *editor) checksumCommand() (string, error) {
	f, err := e.features()
	for _, command := range []string{"XSHA256", "HASH", "XSHA1", "XMD5"} {
		if _, ok := f[command]; ok {
			return command, err
		}
	}
	return "", err
}

// finish reads the replies to the commands of an edit and sets its results. The error is that of
// the session.
func (e *editor) finish(edit *fetch.Edit) error {
	if edit.Done {
		return nil
	}
	name := edit.Name
	if edit.Kind == fetch.EditRename && strings.HasPrefix(edit.To, "~") {
		name = edit.To
	}
	var err error
	refused := e.trySpellings(name, func() (refused error) {
		refused, err = e.reply(edit)
		return refused
	})
	if err != nil || edit.Done {
		return err
	}
	edit.Done = true
	if refused != nil {
		edit.Err, e.noTime = refused, e.noTime || edit.Kind == fetch.EditTime && !errors.Is(refused, fetch.ErrNotFound)
	}
	return nil
}

// reply reads the replies to the commands of an edit, and returns the error of a command that is
// refused. The second error is that of the session.
func (e *editor) reply(edit *fetch.Edit) (refused, err error) {
	commands, err := e.linesOf(edit)
	if err != nil {
		return nil, err
	}
	if len(commands) == 0 {
		edit.Done, edit.Err = true, e.access.fail(fetch.OpCheck, &fetch.Error{Kind: fetch.ErrUnsupported, Err: errors.New("the server has no command for it")})
		return nil, nil
	}
	var last talk.Reply
	e.ctl.began = e.ctl.began || changes(*edit)
	for i, line := range commands {
		if last, err = e.transmit(line); err != nil {
			return nil, e.failure(err)
		}
		done := last.Class() == 2
		if i < len(commands)-1 { // RNFR; of a server that replies 250 or 226, the reply to RNTO decides
			done = done || last.Class() == 3
		}
		if refused == nil {
			if refused = e.check(last, done, nil); e.ctl.Err != nil {
				return nil, refused
			}
		}
		if refused != nil && !e.ctl.isNext(commands[len(commands)-1]) {
			break // the second command was not sent
		}
	}
	if refused != nil {
		return refused, nil
	}
	e.results(edit, commands[0], last.Text)
	return nil, nil
}

// transmit sends a command of an edit, and returns the reply to it.
func (e *editor) transmit(line string) (r talk.Reply, err error) {
	verb, name, _ := strings.Cut(line, " ")
	if libraryEdits[verb] == nil {
		return e.ctl.ask(line)
	}
	if e.library == nil {
		if e.library, err = newLibrary(e.ctl); err != nil {
			return r, err
		}
	}
	return e.library.perform(verb, name)
}

// results sets the results of an edit that the server has performed.
func (e *editor) results(edit *fetch.Edit, command, text string) {
	switch edit.Kind {
	case fetch.EditSize:
		edit.Size = fileSize(text)
	case fetch.EditSum:
		if edit.Sum = checksumIn(command, text); edit.Sum == "" {
			edit.Err = e.access.fail(fetch.OpCheck, &fetch.Error{Kind: fetch.ErrUnsupported, Err: fmt.Errorf("no checksum in the reply %q", text)})
		}
	}
}

// checksumIn returns the checksum in the reply to a command: XSHA256 and the like reply with the
// hexadecimal digits, HASH with the function, the range, the digits and the name
// (draft-bryan-ftpext-hash §4).
func checksumIn(command, text string) string {
	verb, _, _ := strings.Cut(command, " ")
	function := map[string]string{"XSHA256": "sha256", "XSHA1": "sha1", "XMD5": "md5"}[verb]
	words := strings.Fields(text)
	if verb == "HASH" && len(words) > 0 {
		function = strings.ToLower(strings.ReplaceAll(words[0], "-", ""))
	}
	digits := map[string]int{"sha256": 64, "sha1": 40, "md5": 32, "sha512": 128}[function]
	for _, word := range words {
		if len(word) == digits && strings.Trim(word, "0123456789abcdefABCDEF") == "" {
			return function + ":" + strings.ToLower(word)
		}
	}
	return ""
}
