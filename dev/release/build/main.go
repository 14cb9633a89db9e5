// Command build makes the files of a release from a checkout without changes:
//
//	go run ./dev/release/build [-o DIR] [-targets OS/ARCH,…] [-roots FILE]
//
// For each target it builds the program and an archive with its pages; for Linux packages (deb, rpm,
// apk) and the tree of a container image as well. The release has a list of the licences of all
// linked modules, an SPDX document of them, checksums, recipes for Homebrew and Scoop, and a table of
// sizes for its page.
//
// The version is the one that the go command derives from the tags of the repository. The same
// commit gives the same bytes, in every directory and at any time: every file in an archive has the
// time of the commit, and nothing of the machine is recorded. docs/release.md describes how a
// release is made.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// targets are the systems that a release is built for.
const targets = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64,freebsd/amd64,freebsd/arm64"

// roots is where Debian and its relatives keep the certificates of the authorities.
const roots = "/etc/ssl/certs/ca-certificates.crt"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	flags := flag.NewFlagSet("build", flag.ExitOnError)
	dist := flags.String("o", "dist", "the `directory` for the files; it must be empty or not exist")
	list := flags.String("targets", targets, "build for these `systems` only")
	authorities := flags.String("roots", roots, "the certificates for the container image, a `file` in PEM")
	_ = flags.Parse(os.Args[1:])
	r := &release{dist: *dist}
	var err error
	if flags.NArg() > 0 {
		err = errors.New("unexpected arguments")
	} else {
		err = r.build(ctx, strings.Split(*list, ","), *authorities)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// A release is what the files of one version have in common.
type release struct {
	dist    string    // where its files are written
	work    string    // a temporary directory
	version version   // as stamped by the go command
	date    time.Time // of the commit, for every file
	pages   []file    // what an archive has besides the program
	modules []linked  // what is linked into the program, for any target
	roots   []byte    // certificates of the authorities
}

// A target is one system that the program is built for.
type target struct{ os, arch string }

var here = target{runtime.GOOS, runtime.GOARCH}

// parseTarget returns a target by its name, such as linux/amd64. Whether it exists is for the go
// command to say.
func parseTarget(name string) target {
	system, arch, _ := strings.Cut(name, "/")
	return target{system, arch}
}

func (t target) String() string { return t.os + "/" + t.arch }

// program returns the name of the program on the target.
func (t target) program() string {
	if t.os == "windows" {
		return "fetch1738.exe"
	}
	return "fetch1738"
}

// build makes the files of the release for a list of targets.
func (r *release) build(ctx context.Context, list []string, authorities string) (err error) {
	if err := emptyDir(r.dist); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "release"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	if r.roots, err = os.ReadFile(authorities); err != nil {
		return fmt.Errorf("certificates for the image: %w; install ca-certificates, or name a file with -roots", err)
	}
	// This machine's program prints the pages that are generated.
	if err := r.compile(ctx, here, r.path(here)); err != nil {
		return err
	}
	if r.version, r.date, err = stamped(r.path(here)); err != nil {
		return err
	}
	if r.pages, err = pages(ctx, r.path(here)); err != nil {
		return err
	}
	var built []target
	for _, name := range list {
		t := parseTarget(name)
		if t != here { // that is built already
			if err := r.compile(ctx, t, r.path(t)); err != nil {
				return err
			}
		}
		built = append(built, t)
	}
	if r.modules, err = linkedModules(ctx); err != nil {
		return err
	}
	r.pages = append(r.pages, file{name: "THIRD-PARTY-LICENSES.txt", data: licences(r.modules)})
	slices.SortFunc(r.pages, func(a, b file) int { return strings.Compare(a.name, b.name) })
	for _, t := range built {
		if err := r.publish(ctx, t); err != nil {
			return fmt.Errorf("%v: %w", t, err)
		}
	}
	if err := r.finish(built); err != nil {
		return err
	}
	return r.sizes(built)
}

// emptyDir makes sure that the directory exists and is empty, so that no file of an earlier release
// is among the checksums.
func emptyDir(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	found, err := os.ReadDir(dir)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("%s is not empty; remove it, or choose another directory with -o", dir)
	}
	return err
}

// path returns where the program for the target is built.
func (r *release) path(t target) string {
	return filepath.Join(r.work, t.os+"_"+t.arch, t.program())
}

// compile builds the program for the target, and writes it to path: with the flags of any release of
// a Go program, without symbols and without the paths of this machine.
func (r *release) compile(ctx context.Context, t target, path string) error {
	cmd := goCommand(ctx, t, "build", "-o", path, "-buildvcs=true", "-trimpath", "-ldflags=-s -w", "./cmd/fetch1738")
	cmd.Stdout = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build for %v: %w", t, err)
	}
	return nil
}

// goCommand returns the go command with arguments, for a target. The environment does not change
// what it makes.
func goCommand(ctx context.Context, t target, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "GOOS="+t.os, "GOARCH="+t.arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFLAGS=")
	cmd.Stderr = os.Stderr
	return cmd
}

// publish writes the archive of the target; for Linux, packages and the image's tree.
func (r *release) publish(ctx context.Context, t target) error {
	program, err := os.ReadFile(r.path(t))
	if err != nil {
		return err
	}
	if err := r.archive(t, program); err != nil {
		return err
	}
	if t.os != "linux" {
		return nil
	}
	if err := r.image(t, program); err != nil {
		return err
	}
	return r.packages(ctx, t)
}

// finish writes what describes the files of all targets.
func (r *release) finish(built []target) error {
	if err := r.sbom(); err != nil {
		return err
	}
	sums, err := r.checksums()
	if err != nil {
		return err
	}
	if err := r.recipes(built, sums); err != nil {
		return err
	}
	if sums, err = r.checksums(); err != nil { // of the recipes too
		return err
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&text, "%s  %s\n", sums[name], name)
	}
	return r.write(fmt.Sprintf("fetch1738_%s_checksums.txt", r.version), []byte(text.String()))
}
