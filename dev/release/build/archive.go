package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// A file is one of an archive.
type file struct {
	name string // with slashes, relative to the directory of the archive
	data []byte
	exec bool
}

func (f file) mode() fs.FileMode {
	if f.exec {
		return 0o755
	}
	return 0o644
}

// pages returns what an archive has besides the program: the texts of the project, the manual page
// and the completions that the program prints.
func pages(ctx context.Context, program string) ([]file, error) {
	var list []file
	for _, pattern := range []string{"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md", "docs/*.md", "docs/*.png", "docs/*.svg", "docs/decisions/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			return nil, fmt.Errorf("no %s here; run this in the root of the repository", pattern)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			list = append(list, file{name: filepath.ToSlash(name), data: data})
		}
	}
	desktop, err := os.ReadFile("dev/release/fetch1738-gateway.desktop")
	if err != nil {
		return nil, err
	}
	list = append(list, file{name: "fetch1738-gateway.desktop", data: desktop})
	for _, page := range []struct{ name, args string }{
		{"fetch1738.1", "manual"},
		{"completions/fetch1738.bash", "completion bash"},
		{"completions/_fetch1738", "completion zsh"},
		{"completions/fetch1738.fish", "completion fish"},
	} {
		data, err := exec.CommandContext(ctx, program, strings.Fields(page.args)...).Output()
		if err != nil {
			return nil, fmt.Errorf("fetch1738 %s: %w", page.args, err)
		}
		list = append(list, file{name: page.name, data: data})
	}
	return list, nil
}

// stem returns the name of the target's archive without its suffix.
func (r *release) stem(t target) string {
	return fmt.Sprintf("fetch1738_%s_%s_%s", r.version, t.os, t.arch)
}

// archive writes the archive of the target: zip for Windows, otherwise tar.gz.
func (r *release) archive(t target, program []byte) error {
	dir := r.stem(t)
	list := append([]file{{name: t.program(), data: program, exec: true}}, r.pages...)
	for i := range list {
		list[i].name = path.Join(dir, list[i].name)
	}
	pack := tarred
	if t.os == "windows" {
		pack = zipped
	}
	data, err := pack(list, r.date)
	return errors.Join(err, r.write(r.archiveName(t), data))
}

// archiveName returns the file name of the target's archive.
func (r *release) archiveName(t target) string {
	if t.os == "windows" {
		return r.stem(t) + ".zip"
	}
	return r.stem(t) + ".tar.gz"
}

// write writes a file of the release.
func (r *release) write(name string, data []byte) error {
	return os.WriteFile(filepath.Join(r.dist, name), data, 0o644)
}

// tarred returns a compressed tar archive in which each file belongs to root and has one date.
func tarred(list []file, date time.Time) ([]byte, error) {
	var buf bytes.Buffer
	gz, err := gzip.NewWriterLevel(&buf, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(gz)
	for _, f := range list {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(f.data)), Mode: int64(f.mode()),
			ModTime: date, Uname: "root", Gname: "root", Format: tar.FormatUSTAR,
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(w.Close(), gz.Close()); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// zipped returns a zip archive in which each file has one date.
func zipped(list []file, date time.Time) ([]byte, error) {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, f := range list {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: date}
		h.SetMode(f.mode())
		part, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// checksums returns the SHA-256 of each file of the release, by its name.
func (r *release) checksums() (map[string]string, error) {
	found, err := os.ReadDir(r.dist)
	if err != nil {
		return nil, err
	}
	sums := make(map[string]string)
	for _, entry := range found {
		if entry.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(r.dist, entry.Name()))
		if err != nil {
			return nil, err
		}
		sums[entry.Name()] = fmt.Sprintf("%x", sha256.Sum256(data))
	}
	return sums, nil
}
