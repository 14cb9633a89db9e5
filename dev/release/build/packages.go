package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// nfpm makes the packages.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2"

const (
	maintainer  = "fetch1738 developers <fetch1738@users.noreply.github.com>"
	homepage    = "https://github.com/fetch1738/fetch1738"
	summary     = "fetches ftp, gopher, news, wais and the other URLs of RFC 1738"
	description = `A command with curl's options and exit codes for the URLs of RFC 1738: ftp,
http, gopher, news, nntp, wais, telnet, mailto, file and prospero; a gateway
that shows them in any web browser; and test servers for the same protocols.`
)

// A packageFormat is one of the formats of packages. Distributions differ in where completions are,
// in how an architecture is called, and in the syntax of a version.
type packageFormat struct {
	name    string // for nfpm
	arch    map[string]string
	zsh     string                        // the directory of zsh's completions
	file    string                        // the name of the package's file
	version func(version) (string, error) // by the rules of the format
	format  map[string]any                // fields of nfpm for this format
	about   string                        // the description; the first line of that of deb is the summary
	extra   func(r *release) []file       // files that only this format has, by path
	kind    func(path string) string      // nfpm's type of a file; nil for plain files
	owned   []string                      // directories that, as those in them, are not removed with their last file
}

var formats = []packageFormat{
	{
		name: "deb", arch: map[string]string{"amd64": "amd64", "arm64": "arm64"}, zsh: "vendor-completions",
		file:    "fetch1738_%s_%s.deb",
		version: func(v version) (string, error) { return v.tilde(), nil },
		format:  map[string]any{"compression": "xz"},
		about:   summary + "\n" + description,
		extra: func(r *release) []file {
			return []file{
				{name: "usr/share/doc/fetch1738/copyright", data: copyright(r)},
				{name: "usr/share/doc/fetch1738/changelog.gz", data: gzipped(debianChangelog(r))},
				{name: "usr/share/lintian/overrides/fetch1738", data: []byte("# Go programs are linked statically.\nfetch1738: statically-linked-binary\n")},
			}
		},
	},
	{
		name: "rpm", arch: map[string]string{"amd64": "x86_64", "arm64": "aarch64"}, zsh: "site-functions",
		file:    "fetch1738-%s-1.%s.rpm",
		version: func(v version) (string, error) { return v.tilde(), nil },
		format:  map[string]any{"group": "Applications/Internet", "summary": summary, "buildhost": "localhost"},
		about:   description,
		extra:   licenceFiles,
		kind: func(path string) string {
			switch {
			case strings.HasPrefix(path, "usr/share/doc/"):
				return "doc"
			case strings.HasPrefix(path, "usr/share/licenses/"):
				return "license"
			}
			return ""
		},
		owned: []string{"usr/share/doc/fetch1738", "usr/share/licenses/fetch1738"},
	},
	{
		name: "apk", arch: map[string]string{"amd64": "x86_64", "arm64": "aarch64"}, zsh: "site-functions",
		file:    "fetch1738_%s_%s.apk",
		version: version.alpine,
		about:   summary,
		extra:   licenceFiles,
	},
}

// packages writes the packages of the target.
func (r *release) packages(ctx context.Context, t target) error {
	for _, f := range formats {
		if err := r.pack(ctx, t, f); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// pack writes one package. Its files are laid out in a directory first, with the date of the commit.
func (r *release) pack(ctx context.Context, t target, f packageFormat) error {
	number, err := f.version(r.version)
	if err != nil {
		return err
	}
	root := filepath.Join(r.work, f.name+"_"+t.arch)
	var contents []any
	program, err := os.ReadFile(r.path(t))
	if err != nil {
		return err
	}
	files := append(r.installed(program, f), f.extra(r)...)
	for _, file := range files {
		path := filepath.Join(root, filepath.FromSlash(file.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, file.data, 0o600); err != nil {
			return err
		}
		content := map[string]any{
			"src": path, "dst": "/" + file.name,
			"file_info": map[string]any{"mode": file.mode(), "mtime": r.date, "owner": "root", "group": "root"},
		}
		if f.kind != nil {
			content["type"] = f.kind(file.name)
		}
		contents = append(contents, content)
	}
	for _, dir := range ownedDirectories(files, f.owned) {
		contents = append(contents, map[string]any{
			"dst": "/" + dir, "type": "dir",
			"file_info": map[string]any{"mode": 0o755, "mtime": r.date, "owner": "root", "group": "root"},
		})
	}
	config := map[string]any{
		"name": "fetch1738", "arch": t.arch, "platform": "linux", "version": number, "version_schema": "none",
		"section": "net", "priority": "optional", "maintainer": maintainer, "vendor": "fetch1738", "homepage": homepage,
		"license": "MIT", "description": f.about, "mtime": r.date, "umask": 0o022, "disable_globbing": true,
		"contents": contents, f.name: f.format,
	}
	text, err := json.Marshal(config) // JSON is YAML
	if err != nil {
		return err
	}
	path := filepath.Join(r.work, f.name+"_"+t.arch+".yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	target, err := filepath.Abs(filepath.Join(r.dist, fmt.Sprintf(f.file, number, f.arch[t.arch])))
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "run", nfpm, "package", "-f", path, "-p", f.name, "-t", target)
	cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.date.Unix()))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("nfpm: %w\n%s", err, out)
	}
	return nil
}

// ownedDirectories returns the directories of files that are in one of roots, or are one, in order.
func ownedDirectories(files []file, roots []string) []string {
	dirs := make(map[string]bool)
	for _, f := range files {
		for _, root := range roots {
			for dir := path.Dir(f.name); dir == root || strings.HasPrefix(dir, root+"/"); dir = path.Dir(dir) {
				dirs[dir] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(dirs))
}

// installed returns the files of a package, by their paths.
func (r *release) installed(program []byte, f packageFormat) []file {
	list := []file{{name: "usr/bin/fetch1738", data: program, exec: true}}
	for _, page := range r.pages {
		switch {
		case page.name == "fetch1738.1":
			list = append(list, file{name: "usr/share/man/man1/fetch1738.1.gz", data: gzipped(page.data)})
		case page.name == "completions/fetch1738.bash":
			list = append(list, file{name: "usr/share/bash-completion/completions/fetch1738", data: page.data})
		case page.name == "completions/_fetch1738":
			list = append(list, file{name: "usr/share/zsh/" + f.zsh + "/_fetch1738", data: page.data})
		case page.name == "completions/fetch1738.fish":
			list = append(list, file{name: "usr/share/fish/vendor_completions.d/fetch1738.fish", data: page.data})
		case page.name == "fetch1738-gateway.desktop":
			list = append(list, file{name: "usr/share/applications/fetch1738-gateway.desktop", data: page.data})
		case strings.HasPrefix(page.name, "docs/") || page.name == "README.md" || page.name == "SECURITY.md":
			list = append(list, file{name: "usr/share/doc/fetch1738/" + page.name, data: page.data})
		}
	}
	return list
}

// licenceFiles are the licences where rpm and apk have them.
func licenceFiles(r *release) []file {
	list := r.legal()
	for i := range list {
		list[i].name = "usr/share/licenses/fetch1738/" + list[i].name
	}
	return list
}

// copyright returns the file of that name in a Debian package.
func copyright(r *release) []byte {
	var b bytes.Buffer
	for _, page := range r.legal() {
		fmt.Fprintf(&b, "%s\n", page.data)
	}
	return b.Bytes()
}

// debianChangelog returns the entry of this version in Debian's format.
func debianChangelog(r *release) []byte {
	return fmt.Appendf(nil, "fetch1738 (%s) unstable; urgency=medium\n\n  * The changes are listed in\n    %s/blob/main/CHANGELOG.md\n\n -- %s  %s\n",
		r.version.tilde(), homepage, maintainer, r.date.Format(time.RFC1123Z))
}

// gzipped compresses a file of a package, without name and date.
func gzipped(data []byte) []byte {
	var buf bytes.Buffer
	w, _ := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	_, _ = w.Write(data) // a bytes.Buffer accepts everything
	_ = w.Close()
	return buf.Bytes()
}
