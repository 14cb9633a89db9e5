package ftp

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

func editable(t *testing.T, configure ...func(*ftptest.Server)) *ftptest.Server {
	return ftptest.New(t, append([]func(*ftptest.Server){func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"dir/a": {Data: []byte("abc")}, "dir/b": {Data: []byte("b")}, "dir/sub/c": {Data: []byte("c")}}
	}}, configure...)...)
}

func TestEdit(t *testing.T) {
	srv := editable(t)
	f := new(Fetcher)
	then := time.Date(2020, 3, 4, 5, 6, 7, 0, time.UTC)
	edits := []fetch.Edit{
		{Kind: fetch.EditSize, Name: "a"}, {Kind: fetch.EditTime, Name: "a", Time: then}, {Kind: fetch.EditRename, Name: "a", To: "new name"},
		{Kind: fetch.EditRename, Name: "none", To: "x"}, {Kind: fetch.EditRemove, Name: "b"}, {Kind: fetch.EditMakeDir, Name: "made"},
		{Kind: fetch.EditRemoveDir, Name: "sub"}, {Kind: fetch.EditSize, Name: "gone"}, {Kind: fetch.EditSum, Name: "a"}, {Kind: fetch.EditLink, Name: "l", To: "../x"},
	}
	if err := f.Edit(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/dir/")}, edits); err != nil {
		t.Fatal(err)
	}
	if edits[0].Size != 3 {
		t.Errorf("size %d", edits[0].Size)
	}
	for i, want := range []error{nil, nil, nil, fs.ErrNotExist, nil, nil, fetch.ErrNotFound, fs.ErrNotExist, fetch.ErrUnsupported, fetch.ErrUnsupported} {
		if e := edits[i]; !e.Done || !errors.Is(e.Err, want) {
			t.Errorf("edit %d: %+v, want %v", i, e, want)
		}
	}
	info, err := fs.Stat(srv.Files(), "dir/new name")
	if err != nil || !info.ModTime().Equal(then) {
		t.Errorf("%v, %v", info, err)
	}
	f.Close()
	wantSent(t, srv, "USER anonymous", "PASS anonymous@", "PWD", "TYPE I", "CWD dir", "FEAT", "SIZE a", "MFMT 20200304050607 a", "RNFR a", "RNTO new name",
		"RNFR none", "RNTO x", "DELE b", "MKD made", "RMD sub", "SIZE gone", "SITE SYMLINK ../x l", "QUIT")
}

// Some servers reply to RNFR as to a command that has done all: the reply to RNTO decides.
func TestRenameReplies(t *testing.T) {
	for _, reply := range []string{"226 Transfer complete.", "250 Fine."} {
		srv := editable(t)
		srv.On("RNFR", 0, testserver.Reply(reply))
		f := new(Fetcher)
		edits := []fetch.Edit{{Kind: fetch.EditRename, Name: "a", To: "new"}, {Kind: fetch.EditRename, Name: "none", To: "x"}}
		err := f.Edit(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/dir/")}, edits)
		if _, missing := fs.Stat(srv.Files(), "dir/new"); err != nil || edits[0].Err != nil || missing != nil || edits[1].Err == nil {
			t.Errorf("%s: %v, %v, %v, %v", reply, err, edits[0].Err, missing, edits[1].Err)
		}
		f.Close()
	}
}

// Commands wait for each other on a server that is not known to bear more.
func TestEditOneByOne(t *testing.T) {
	srv := editable(t, ftptest.Nodeftpd)
	f := &Fetcher{DisablePipelining: true}
	defer f.Close()
	edits := []fetch.Edit{{Kind: fetch.EditRename, Name: "none", To: "x"}, {Kind: fetch.EditRename, Name: "a", To: "z"}, {Kind: fetch.EditRemove, Name: "b"}}
	if err := f.Edit(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/dir/")}, edits); err != nil || edits[0].Err == nil || edits[1].Err != nil || edits[2].Err != nil {
		t.Errorf("%v %+v", err, edits)
	}
	if got := sent(srv); slices.Contains(got, "RNTO x") || !slices.Contains(got, "RNTO z") {
		t.Errorf("%q", got)
	}
}

// If the connection ends, the edits before that keep their results, and the others have none.
func TestEditCut(t *testing.T) {
	srv := editable(t)
	for n := range 2 { // after the first time, commands are sent one by one
		srv.On("DELE", n+1, testserver.Close())
	}
	f := new(Fetcher)
	defer f.Close()
	edits := []fetch.Edit{{Kind: fetch.EditRename, Name: "a", To: "z"}, {Kind: fetch.EditRemove, Name: "b"}, {Kind: fetch.EditMakeDir, Name: "m"}}
	err := f.Edit(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/dir/")}, edits)
	if err == nil || !edits[0].Done || edits[1].Done || edits[2].Done {
		t.Errorf("%v %+v", err, edits)
	}
}

// What is no name of a file in a directory is refused before anything is dialled.
func TestEditRefused(t *testing.T) {
	f := &Fetcher{Env: &fetch.Env{Dial: func(context.Context, string, string) (net.Conn, error) {
		t.Error("something is dialled")
		return nil, errors.New("no network")
	}}}
	at := &fetch.Request{Locator: parse(t, "ftp://h/dir/")}
	for _, name := range []string{"", ".", "..", "a/b", "a\r\nDELE b", "a\x00b"} {
		for _, e := range []fetch.Edit{{Kind: fetch.EditRemove, Name: name}, {Kind: fetch.EditRename, Name: "a", To: name}} {
			if err := f.Edit(t.Context(), at, []fetch.Edit{e}); !errors.Is(err, fetch.ErrBadURL) {
				t.Errorf("%+v: %v", e, err)
			}
		}
	}
	if err := f.Edit(t.Context(), at, []fetch.Edit{{Kind: fetch.EditLink, Name: "a", To: "b\nc"}}); !errors.Is(err, fetch.ErrBadURL) {
		t.Error(err)
	}
	if err := f.Edit(t.Context(), &fetch.Request{Locator: parse(t, "ftp://h/file")}, nil); !errors.Is(err, fetch.ErrBadURL) {
		t.Errorf("a file: %v", err)
	}
}

func TestSums(t *testing.T) {
	md5, sha := strings.Repeat("0a", 16), strings.Repeat("0B", 32)
	for _, tc := range []struct{ command, reply, want string }{
		{"XMD5 a b", md5, "md5:" + md5},
		{"XSHA256 a", sha, "sha256:" + strings.ToLower(sha)},
		{"HASH a", "SHA-256 0-49 " + sha + " a", "sha256:" + strings.ToLower(sha)},
		{"HASH a", "MD5 0-49 " + md5 + " " + sha, "md5:" + md5},
		{"HASH a", "CRC32 0-49 01234567 a", ""},
		{"XSHA256 a", md5, ""},
		{"XSHA1 a", "", ""},
		{"HASH a", "", ""},
	} {
		if got := checksumIn(tc.command, tc.reply); got != tc.want {
			t.Errorf("%s, %q: %q, want %q", tc.command, tc.reply, got, tc.want)
		}
	}
}

// A file gets its new name in another directory by the path from the root.
func TestRenameIntoDirectory(t *testing.T) {
	srv := editable(t)
	f := new(Fetcher)
	defer f.Close()
	into := func(dir string) fetch.Edit {
		return fetch.Edit{Kind: fetch.EditRename, Name: "a", To: "new", ToDir: parse(t, dir)}
	}
	edits := []fetch.Edit{into(srv.URL + "/dir/sub/"), {Kind: fetch.EditRename, Name: "b", To: "b2", ToDir: parse(t, srv.URL+"/dir/")}}
	if err := f.Edit(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/dir/")}, edits); err != nil || edits[0].Err != nil || edits[1].Err != nil {
		t.Fatal(err, edits[0].Err, edits[1].Err)
	}
	if b, err := fs.ReadFile(srv.Files(), "dir/sub/new"); string(b) != "abc" {
		t.Errorf("%q, %v", b, err)
	}
	if got := sent(srv); !slices.Contains(got, "RNTO /dir/sub/new") || !slices.Contains(got, "RNTO b2") {
		t.Errorf("%q", got)
	}
	for _, dir := range []string{"ftp://other/", srv.URL + "/dir//x/", srv.URL + "/dir/file", "ftp://u@" + strings.TrimPrefix(srv.URL, "ftp://") + "/dir/"} {
		edits := []fetch.Edit{into(dir)}
		if err := f.Edit(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/dir/")}, edits); !errors.Is(err, fetch.ErrBadURL) {
			t.Errorf("%s: %v, %+v", dir, err, edits)
		}
	}
}
