package simulation

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing/fstest"
	"time"

	verb "github.com/fetch1738/fetch1738/cmd/fetch1738/internal/mirror"
	"github.com/fetch1738/fetch1738/deploy"
)

// Uploads of trees. The documents are files on the disk then, below source, and their names are
// those on the server. Events that change documents change the files.

const (
	source = home + "/site"
	known  = home + "/.local/state" // what this user's programs know
	states = known + "/fetch1738"
	aside  = "elsewhere/own.txt" // a file of others on the server, outside of the tree
)

// uploads reports whether the operation brings files to the server.
func (p *Plan) uploads() bool {
	return p.Operation == "Upload" || p.Operation == "mirror to"
}

// local returns the path of a document on the disk.
func local(d *document) string { return source + strings.TrimPrefix(d.name, "pub") }

// isState reports whether a file has, or may have, the state of an upload.
func isState(name string) bool {
	return strings.HasPrefix(name, source+"/.fetch1738/") || strings.HasPrefix(name, states+"/")
}

// hasState reports whether the folder has a state before the first run of the command. It stays in
// use.
func (p *Plan) hasState() bool { return p.Operation == "mirror to" && p.Variant/256%4 == 0 }

// keepsInside reports whether the state is in the folder.
func (p *Plan) keepsInside() bool {
	return p.hasState() || p.Operation == "Upload" && p.Variant/512%2 == 0
}

// putState puts an empty state into the folder.
func (s *site) putState() {
	sum := sha256.Sum256([]byte(s.stateURL()))
	name := fmt.Sprintf("%s/.fetch1738/to-%x.jsonl", source, sum[:8])
	s.w.disk.Put(name, fmt.Appendf(nil, `{"url":%q,"size":-1,"start":true}`+"\n", s.stateURL()), time.Now())
}

// stateURL returns the URL in a state.
func (s *site) stateURL() string { return strings.Replace(s.tree(), ":"+password, "", 1) }

// store makes the file on the disk the last version of a document.
func (s *site) store(d *document) {
	if v := d.last(); v.gone {
		s.w.disk.Delete(local(d))
	} else {
		s.w.disk.Put(local(d), v.data, v.mod)
	}
}

// begin sets what the disk and the server have before an upload.
func (s *site) begin() {
	now := fstest.MapFS{aside: {Data: ownText}}
	add := func(name string, data []byte, mod time.Time) {
		now[name] = &fstest.MapFile{Data: data, ModTime: mod, Mode: 0o644}
		s.addOther(name, data)
	}
	s.others = map[string][][]byte{aside: {ownText}}
	way := s.w.plan.Variant / 64 % 4
	for i, d := range s.documents {
		s.store(d)
		if s.Scheme == "http" { // PUT creates no directories
			now[path.Dir(d.name)] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
		}
		v := d.last()
		switch {
		case way < 2 || i%3 == 2:
		case way == 3: // of another size
			add(d.name, d.make(13, len(v.data)/2), v.mod.AddDate(-1, 0, 0))
		case i%2 == 0: // only the bytes differ
			add(d.name, d.make(13, len(v.data)), v.mod.AddDate(-1, 0, 0))
		default:
			add(d.name, v.data, v.mod)
		}
	}
	if way > 0 {
		add("pub/theirs.txt", ownText, v1994)
		add("pub/sub/theirs.txt", ownText, v1994)
	}
	s.files.now.Store(&now)
}

var v1994 = time.Date(1994, 11, 1, 10, 0, 0, 0, time.UTC)

// hold keeps what a server has when it ends.
func (s *site) hold() {
	now := fstest.MapFS{}
	files := s.server().Files()
	_ = fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		f := &fstest.MapFile{Mode: info.Mode(), ModTime: info.ModTime()}
		if !e.IsDir() {
			if f.Data, err = fs.ReadFile(files, name); err != nil {
				return err
			}
		}
		now[name] = f
		return nil
	})
	s.files.now.Store(&now)
}

// has returns what the server has under a name.
func (s *site) has(name string) ([]byte, bool) {
	data, err := fs.ReadFile(s.server().Files(), name)
	return data, err == nil
}

// names returns the names of the files that the server has.
func (s *site) names() (names []string) {
	_ = fs.WalkDir(s.server().Files(), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, name)
		}
		return nil
	})
	return names
}

// onServer is before the names of files of the server in once.had.
const onServer = "server:"

// serverFiles returns what the server has.
func (w *world) serverFiles() map[string]string {
	all := make(map[string]string)
	for _, name := range w.sites[0].names() {
		data, _ := w.sites[0].has(name)
		all[onServer+name] = string(data)
	}
	return all
}

// meddle changes every other file on the server, as another user of it would. Some keep their size,
// but only where the server shows their times.
func meddle(w *world, e Event) {
	s := w.sites[0]
	for i, d := range s.documents {
		data, exists := s.has(d.name)
		if !exists || i%2 != e.N%2 {
			continue
		}
		w.acts(e)
		with := d.make(14, d.otherSize(len(edited)))
		if e.N/2%2 == 0 && s.showsTimes() {
			with = d.make(14, len(data))
		}
		s.addOther(d.name, with)
		s.mu.Lock()
		s.meddled[d.name] = time.Now()
		s.mu.Unlock()
		if err := s.server().PutModified(d.name, with, time.Now().Add(time.Hour)); err != nil {
			w.breaks("%s cannot be changed on the server: %v", d.name, err)
		}
	}
}

// showsTimes reports whether the server has the times that an upload sets, and lists them to the
// second. What others change on another one just after it was sent, without changing its size, is
// not seen; nor is it where files are not renamed.
func (s *site) showsTimes() bool {
	return s.Scheme == "ftp" && len(s.Habits) == 0 && slices.Contains([]string{"", "proftpd", "pure-ftpd", "out of turn", "closes", "no REST"}, s.Way) &&
		!slices.ContainsFunc(s.w.plan.Events, func(e Event) bool {
			return slices.Contains([]string{"FEAT", "MFMT", "MLSD", "LIST", "DATA", "END", "RNFR", "RNTO"}, e.Name)
		})
}

// addOther notes what others have put on the server under a name.
func (s *site) addOther(name string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others[name] = append(s.others[name], data)
}

// isOf reports whether data is what others have put on the server under a name.
func (s *site) isOf(name string, data []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.others[name], func(other []byte) bool { return bytes.Equal(other, data) })
}

// isDirect reports whether a process has said that it stores files under their names.
func (w *world) isDirect() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.direct || slices.ContainsFunc(w.processes, (*process).storesDirectly)
}

func (p *process) storesDirectly() bool {
	return strings.Contains(p.text.String(), "are stored under their names")
}

// storesLate reports whether a server refuses an upload and performs it: it may store it after everything else.
func (p *Plan) storesLate() bool {
	return slices.ContainsFunc(p.Events, func(e Event) bool { return e.Name == "STOR" && strings.HasPrefix(e.Fault, "Octets") })
}

// watch checks that no file on the server is half, at any moment.
func (w *world) watch() {
	if !w.plan.uploads() {
		return
	}
	s := w.sites[0]
	for _, d := range s.documents {
		data, exists := s.has(d.name)
		if exists && !d.has(data, time.Time{}, time.Now()) && !s.isOf(d.name, data) && !w.folded(d) && !w.isDirect() && !w.plan.storesLate() {
			w.breaks("%s on the server has %d bytes that no version has: %s", d.name, len(data), d.differs(data))
		}
	}
}

// folded reports whether the disk has another document under the same name.
func (w *world) folded(d *document) bool { return w.plan.Disk.FoldCase && w.folds(d) }

// bring is the library's upload of a tree.
func bring(o *once) error {
	r := o.resolver()
	defer r.Close()
	req, err := r.Request(o.context(), o.w.sites[0].tree())
	if err != nil {
		return err
	}
	v := o.w.plan.Variant
	m := deploy.Upload{
		Fetcher: r, Start: req.Locator, From: req.From, Dir: source, Delete: o.w.plan.deletes(), Connections: o.w.plan.connections(),
		Checksums: v/128%8 == 0, Modes: v/256%2 == 0,
		Report: func(e deploy.Event) {
			if e.Err != nil {
				o.says(e.Err)
			}
		},
	}
	if v/32%8 == 1 {
		m.RemoteState = remoteState
	}
	if !o.w.plan.keepsInside() {
		m.StateDir = states
	}
	if v/64%4 == 1 {
		m.Order = []string{"*.bin", "sub/**"}
	}
	if v/8%3 == 0 {
		m.Retry = func(ctx context.Context, n int, err error) bool {
			time.Sleep(time.Second)
			return n < 2 && ctx.Err() == nil
		}
	}
	if o.w.plan.tries() {
		err := o.foretells(func() error {
			try := m
			try.DryRun = true
			_, err := try.Run(o.context())
			return err
		})
		if err != nil {
			return err
		}
	}
	_, err = m.Run(o.context())
	return err
}

const remoteState = "state.jsonl"

// bringCommand is the verb mirror with the folder first.
func bringCommand(o *once) error {
	p := o.w.plan
	args := []string{"-q", "--no-progress-meter", "--connections", strconv.Itoa(p.connections())}
	if p.deletes() {
		args = append(args, "--delete")
	}
	if p.Variant/8%2 == 0 {
		args = append(args, "--retry", "2")
	}
	args = append(args, source, o.w.sites[0].tree())
	run := func(args []string) error {
		return o.exits(verb.Command().Run(o.context(), args, o.streams()))
	}
	if p.tries() {
		if err := o.foretells(func() error { return run(append([]string{"--dry-run"}, args...)) }); err != nil {
			return err
		}
	}
	return run(args)
}

// foretells does a dry run, which must change nothing, neither here nor on the server.
func (o *once) foretells(run func() error) error {
	state := func() map[string]string {
		all := o.w.serverFiles()
		for name, data := range o.w.disk.Files() {
			if !strings.HasPrefix(name, source) || isState(name) {
				all[name] = string(data)
			}
		}
		return all
	}
	before := state()
	err := run()
	if !o.w.plan.Twice && !maps.Equal(before, state()) && !o.w.meddles() {
		o.w.breaks("a dry run has changed files")
	}
	return err
}

// brought checks the server after an upload.
func brought(o *once, err error) {
	w, s := o.w, o.w.sites[0]
	w.watch()
	for _, name := range slices.Sorted(maps.Keys(s.others)) {
		isDocument := slices.ContainsFunc(s.documents, func(d *document) bool { return d.name == name })
		if data, _ := s.has(name); !isDocument && !s.isOf(name, data) {
			w.breaks("%s of others on the server is changed", name)
		}
	}
	w.readable()
	if p := w.plan; err != nil && !o.killed() && !o.crashed && len(p.Events) == 0 && !p.Twice && p.Disk.Capacity == 0 {
		w.breaks("it fails, although nothing is wrong: %v", err)
	}
	for _, d := range s.documents {
		data, exists := s.has(d.name)
		had, existed := o.had[onServer+d.name]
		seen := d.during(o.began, time.Now())
		switch {
		case w.folded(d):
		case existed && !exists && (err != nil || wasGone(seen)) && w.deletesFirst():
		case existed && !exists && !w.plan.deletes():
			w.breaks("%s was deleted from the server, although nothing was to be deleted", d.name)
		case existed && !exists && !wasGone(seen):
			w.breaks("%s was deleted from the server, although the folder has it", d.name)
		case existed && !exists && !w.plan.Twice && !d.has([]byte(had), time.Time{}, time.Now()):
			w.breaks("%s was deleted from the server, although no run has sent it", d.name)
		case err != nil || wasGone(seen) || !s.meddled[d.name].Before(o.began):
		case !exists:
			w.breaks("%s is not on the server, although the run succeeded", d.name)
		case !d.has(data, o.began, time.Now()):
			w.breaks("%s on the server is not what the folder has, although the run succeeded: %s", d.name, d.differs(data))
		}
	}
}

// deletesFirst reports whether a file may be missing because the server does not replace it by
// RNTO, and something else has ended the run before the new one had its name, or the folder has it
// no more at that moment.
func (w *world) deletesFirst() bool {
	return slices.Contains(w.sites[0].Habits, "RNTO refused") || len(w.plan.Events) > 1 && slices.ContainsFunc(w.plan.Events, func(e Event) bool {
		return e.Name == "RNTO" || e.Name == "RNFR" && (strings.HasPrefix(e.Fault, "ExtraReply") || strings.HasPrefix(e.Fault, "Octets")) // which RNTO gets
	})
}

// wantsBrought checks the server after an undisturbed upload.
func wantsBrought(w *world) {
	s := w.sites[0]
	for _, d := range s.documents {
		data, exists := s.has(d.name)
		switch v := d.last(); {
		case w.folded(d):
		case !v.gone && !bytes.Equal(data, v.data), !v.gone && !exists:
			w.breaks("in the end %s on the server has %d bytes, and not those of the folder", d.name, len(data))
		case v.gone && exists && w.plan.deletes() && !s.isOf(d.name, data) && w.remembers() && s.showsTimes():
			w.breaks("in the end %s is on the server, although the folder has it no more", d.name)
		}
	}
	for _, name := range s.names() {
		if strings.HasPrefix(path.Base(name), "fetch1738-") && w.remembers() && !w.plan.storesLate() {
			w.breaks("in the end the server has a part: %s", name)
		}
	}
}

// remembers reports whether the state has everything that was done. A server that stalls stores the
// file after its last reply, when the client may have deleted it.
func (w *world) remembers() bool {
	late := func(e Event) bool {
		return e.Kind == "short" || strings.HasPrefix(e.Fault, "Stall") && slices.Contains([]string{"STOR", "APPE"}, e.Name)
	}
	return !w.everCrashed && !w.failsDisk() && !lies(w.plan) && !slices.ContainsFunc(w.plan.Events, late)
}

// readable checks the state of an upload: it is at its place, and nowhere else, it begins with the
// URL of the server, and its lines are JSON, but for those that something has cut.
func (w *world) readable() {
	damaged := w.everCrashed || w.crashed || w.plan.Disk.Capacity > 0 || slices.ContainsFunc(w.plan.Events, func(e Event) bool {
		return slices.Contains([]string{"short", "crash", "crash after"}, e.Kind)
	})
	first := fmt.Appendf(nil, `{"url":%q,`, w.sites[0].stateURL())
	for name, data := range w.disk.Files() {
		if isState(name) && strings.HasPrefix(name, source) != w.plan.keepsInside() {
			w.breaks("%s is not where the state is", name)
		}
		isState := isState(name) && strings.HasSuffix(name, ".jsonl")
		switch {
		case damaged || !isState || len(data) == 0: // it has just been created
		case !bytes.HasPrefix(data, first):
			w.breaks("the state does not begin with its URL: %.100q", data)
		}
		for line := range bytes.Lines(data) {
			if isState && !damaged && !json.Valid(line) {
				w.breaks("a line of the state is not JSON: %.100q", line)
			}
		}
	}
}
