package ftp

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// hiddenFiles has a directory without other files, an empty one, and one with many.
func hiddenFiles() fstest.MapFS {
	files := fstest.MapFS{
		".htaccess": {}, "a.txt": {}, "only/.hidden": {}, "sub/.well-known/x": {}, "sub/b.txt": {}, "dash/-a": {}, "dash/c.txt": {},
		"empty": {Mode: 0o755 | 1<<31}, "dir/-a/inner.txt": {}, "dir/d.txt": {}, "dashed/-a": {},
	}
	for range 1000 {
		files["many/"+strings.Repeat("x", len(files)%200+1)+string(rune('a'+len(files)%26))] = &fstest.MapFile{}
	}
	return files
}

// listings lists directories with f, and returns the names and the commands.
func listings(t *testing.T, f *Fetcher, srv *ftptest.Server, opt Options, dirs ...string) (names, commands []string) {
	t.Helper()
	for _, dir := range dirs {
		items, err := list(t, f, srv.URL+dir, &opt)
		if err != nil {
			t.Errorf("%s: %v", dir, err)
		}
		for _, item := range items {
			names = append(names, strings.TrimPrefix(dir, "/")+item.Name)
		}
	}
	for _, line := range sent(srv) {
		if strings.HasPrefix(line, "LIST") || strings.HasPrefix(line, "MLSD") || strings.HasPrefix(line, "NLST") {
			commands = append(commands, line)
		}
	}
	return names, commands
}

// asAName makes the server take the argument of LIST for a name, whatever it is.
func asAName(s *ftptest.Server) {
	usual := s.Listing
	s.Listing = func(l ftptest.Listing) []string {
		if l.All {
			return nil
		}
		if usual != nil {
			return usual(l)
		}
		return l.Usual()
	}
}

// TestHidden lists directories with files whose names begin with a dot. The server is asked for them
// as long as it has not shown that "-a" is a name for it.
func TestHidden(t *testing.T) {
	noFacts := func(s *ftptest.Server) { s.Hide = append(s.Hide, "MLSD", "MLST") }
	visible := []string{"a.txt", "dash", "dashed", "dir", "empty", "many", "only", "sub"}
	all := append([]string{".htaccess"}, visible...)
	for name, tc := range map[string]struct {
		server   func(*ftptest.Server)
		opt      Options
		dirs     []string
		names    []string
		commands []string
	}{
		"vsftpd": {ftptest.VSFTPD, Options{Hidden: true}, []string{"/", "/only/", "/empty/", "/sub/"},
			slices.Concat(all, []string{"only/.hidden", "sub/.well-known", "sub/b.txt"}), []string{"LIST -a", "LIST -a", "LIST -a", "LIST -a"}},
		"vsftpd, empty first": {ftptest.VSFTPD, Options{Hidden: true}, []string{"/empty/", "/only/"}, []string{"only/.hidden"}, []string{"LIST -a", "LIST -a"}},
		"vsftpd, not asked":   {ftptest.VSFTPD, Options{}, []string{"/", "/only/"}, visible, []string{"LIST", "LIST"}},
		"facts":               {nil, Options{Facts: true, Hidden: true}, []string{"/"}, all, []string{"MLSD"}},
		"facts refused":       {noFacts, Options{Facts: true, Hidden: true}, []string{"/"}, all, []string{"LIST -a", "LIST"}},
		"names only":          {nil, Options{ListOnly: true, Hidden: true}, []string{"/"}, all, []string{"NLST"}},
		"a command":           {noFacts, Options{ListCommand: "LIST -l", Hidden: true}, []string{"/"}, all, []string{"LIST -l"}},
		"raw commands":        {noFacts, Options{Quote: []string{"NOOP"}, Hidden: true}, []string{"/"}, all, []string{"LIST"}},
		// Without ".", LIST must list the same, once.
		"no dots": {noFacts, Options{Hidden: true}, []string{"/empty/", "/", "/only/", "/empty/"}, append(slices.Clone(all), "only/.hidden"),
			[]string{"LIST -a", "LIST", "LIST -a", "LIST", "LIST -a", "LIST -a"}},
		"no dots, hidden only": {func(s *ftptest.Server) {
			s.Listing = func(l ftptest.Listing) []string {
				lines := l.Usual()
				if !l.All {
					lines = slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, " .") })
				}
				return lines
			}
		}, Options{Hidden: true}, []string{"/only/", "/", "/only/"}, slices.Concat([]string{"only/.hidden"}, all, []string{"only/.hidden"}), []string{"LIST -a", "LIST", "LIST -a", "LIST", "LIST -a"}},
		// "-a" is a name that does not exist, or of which nothing is listed.
		"refused": {func(s *ftptest.Server) {
			s.On("LIST -a", 0, testserver.Reply("550 -a: No such file or directory."))
		}, Options{Hidden: true}, []string{"/", "/only/", "/empty/"}, append(slices.Clone(all), "only/.hidden"), []string{"LIST -a", "LIST", "LIST", "LIST"}},
		"refused, no files": {func(s *ftptest.Server) {
			s.On("LIST -a", 0, testserver.Reply("550 No files found."))
		}, Options{Hidden: true}, []string{"/", "/only/"}, append(slices.Clone(all), "only/.hidden"), []string{"LIST -a", "LIST", "LIST"}},
		"unknown": {func(s *ftptest.Server) {
			s.On("LIST -a", 0, testserver.Reply("501 Syntax error."))
		}, Options{Hidden: true}, []string{"/", "/only/"}, append(slices.Clone(all), "only/.hidden"), []string{"LIST -a", "LIST", "LIST"}},
		"refused at the end": {func(s *ftptest.Server) {
			s.On("LIST -a", 0, testserver.Data(""))
			s.On("END", 1, testserver.Reply("451 -a: No such file or directory."))
		}, Options{Hidden: true}, []string{"/", "/only/"}, append(slices.Clone(all), "only/.hidden"), []string{"LIST -a", "LIST", "LIST"}},
		"nothing, and no files": {func(s *ftptest.Server) {
			s.On("LIST -a", 1, testserver.Data(""))
			s.On("LIST", 2, testserver.Reply("550 No files found."))
		}, Options{Hidden: true}, []string{"/empty/", "/"}, all, []string{"LIST -a", "LIST", "LIST -a", "LIST"}},
		"nothing": {asAName, Options{Hidden: true}, []string{"/empty/", "/", "/only/"}, append(slices.Clone(all), "only/.hidden"), []string{"LIST -a", "LIST", "LIST -a", "LIST", "LIST"}},
		// "-a" exists: in ftptest, which takes it for the file or directory then.
		"a file":        {noFacts, Options{Hidden: true}, []string{"/dash/", "/"}, slices.Concat([]string{"dash/-a", "dash/c.txt"}, all), []string{"LIST -a", "LIST", "LIST"}},
		"a file, alone": {noFacts, Options{Hidden: true}, []string{"/dashed/", "/"}, slices.Concat([]string{"dashed/-a"}, all), []string{"LIST -a", "LIST", "LIST -a", "LIST"}},
		"a directory":   {noFacts, Options{Hidden: true}, []string{"/dir/", "/"}, slices.Concat([]string{"dir/-a", "dir/d.txt"}, all), []string{"LIST -a", "LIST", "LIST"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = hiddenFiles() }, func(s *ftptest.Server) {
				if tc.server != nil {
					tc.server(s)
				}
			})
			f := &Fetcher{}
			names, commands := listings(t, f, srv, tc.opt, tc.dirs...)
			f.Close()
			if !slices.Equal(names, tc.names) {
				t.Errorf("%q\nwant %q", names, tc.names)
			}
			if !slices.Equal(commands, tc.commands) {
				t.Errorf("sent %q\nwant %q", commands, tc.commands)
			}
		})
	}
}

// TestHiddenBody tests that the Body is that of one listing, and so is what the Trace gets,
// although two have been requested; and Info.Hides.
func TestHiddenBody(t *testing.T) {
	for name, tc := range map[string]struct {
		server func(*ftptest.Server)
		hides  string // directories
	}{
		"by a dot":      {ftptest.VSFTPD, ""},
		"by LIST":       {func(s *ftptest.Server) { s.Hide = []string{"MLSD", "MLST"} }, "/many/"}, // nothing shows that -a has an effect
		"not supported": {func(s *ftptest.Server) { ftptest.VSFTPD(s); asAName(s) }, "/many/ /sub/"},
	} {
		srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = hiddenFiles() }, tc.server)
		f := &Fetcher{}
		for _, dir := range []string{"/many/", "/sub/"} {
			var traced strings.Builder
			counted := int64(0)
			ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Octets: func(b []byte) { traced.Write(b) }, Body: func(n int64) { counted += n }})
			res, err := f.Fetch(ctx, &fetch.Request{Locator: parse(t, srv.URL+dir), Options: &Options{Facts: true, Hidden: true}})
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			res.Close()
			if err != nil || string(body) != traced.String() || int64(len(body)) != counted || !strings.HasSuffix(string(body), "\n") {
				t.Errorf("%s: %d octets, of which the trace has %d and counts %d; %v", name, len(body), traced.Len(), counted, err)
			}
			res, err = f.Fetch(ctx, &fetch.Request{Locator: parse(t, srv.URL+dir), Options: &Options{Facts: true, Hidden: true}})
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range res.Items {
				if err != nil {
					t.Error(err)
				}
			}
			res.Close()
			if hides := res.Info.(*Info).Hides; hides != strings.Contains(tc.hides, dir) {
				t.Errorf("%s: %s hides: %v", name, dir, hides)
			}
		}
		f.Close()
	}
}

// TestHiddenFails tests that a listing that fails is an error, whichever of the two it is.
// TestRefusalEndsSession tests servers that end the session after they have refused a command for listings.
// The directory is listed in another session; what a server refuses is not sent to it again.
func TestRefusalEndsSession(t *testing.T) {
	for name, tc := range map[string]struct {
		hide     []string
		refuse   string // a command
		commands []string
	}{
		"LIST -a": {[]string{"MLSD", "MLST"}, "LIST -a", []string{"LIST -a", "LIST", "LIST"}},
		"MLSD":    {nil, "MLSD", []string{"MLSD", "LIST -a", "LIST", "LIST -a"}},
		"all":     {nil, "MLSD|LIST -a", []string{"MLSD", "LIST -a", "LIST", "LIST"}},
	} {
		srv := ftptest.New(t, func(s *ftptest.Server) { s.Content, s.Hide = hiddenFiles(), tc.hide })
		for command := range strings.SplitSeq(tc.refuse, "|") {
			srv.On(command, 0, testserver.Reply("502 no"), testserver.Hangup())
		}
		f := &Fetcher{}
		names, commands := listings(t, f, srv, Options{Hidden: true, Facts: true}, "/sub/", "/empty/")
		if !slices.Contains(names, "sub/b.txt") || !slices.Equal(commands, tc.commands) {
			t.Errorf("%s: %q by %q, want %q", name, names, commands, tc.commands)
		}
		f.Close()
	}
}

func TestHiddenFails(t *testing.T) {
	for name, tc := range map[string]struct {
		arm  func(*ftptest.Server)
		kind fetch.ErrorKind
	}{
		"not readable": {func(s *ftptest.Server) {
			s.On("LIST", 0, testserver.Data(""))
			s.On("END", 0, testserver.Reply("226 Transfer done (but failed to open directory)."))
		}, fetch.ErrPermission},
		"cut":     {func(s *ftptest.Server) { s.On("LIST -a", 1, testserver.Truncate(30), testserver.Reply("426 broken")) }, fetch.ErrTruncated},
		"refused": {func(s *ftptest.Server) { s.On("LIST", 0, testserver.Reply("550 Permission denied.")) }, fetch.ErrPermission},
	} {
		srv := ftptest.New(t, func(s *ftptest.Server) { s.Content, s.Hide = hiddenFiles(), []string{"MLSD", "MLST"} }, tc.arm)
		f := &Fetcher{}
		if _, err := list(t, f, srv.URL+"/", &Options{Hidden: true}); fetch.KindOf(err) != tc.kind && !errors.Is(err, tc.kind) {
			t.Errorf("%s: %v, want %v", name, err, tc.kind)
		}
		f.Close()
	}
}
