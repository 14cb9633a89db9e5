package main

import (
	"bytes"
	_ "embed" // for the formula
	"encoding/json"
	"fmt"
	"text/template"
)

// url returns where a file of the release can be downloaded.
func (r *release) url(name string) string {
	return fmt.Sprintf("%s/releases/download/v%s/%s", homepage, r.version, name)
}

// recipes writes the formula for Homebrew and the manifest for Scoop, if the release has the targets
// that they install.
func (r *release) recipes(built []target, sums map[string]string) error {
	has := make(map[string]bool)
	for _, t := range built {
		has[t.os] = true
	}
	if has["darwin"] && has["linux"] {
		if err := r.formula(sums); err != nil {
			return err
		}
	}
	if has["windows"] {
		return r.scoop(sums)
	}
	return nil
}

// An asset is an archive as a recipe names it.
type asset struct{ URL, Sum string }

// asset returns the archive of a target. It fails if that was not built.
func (r *release) asset(t target, suffix string, sums map[string]string) (asset, error) {
	name := r.stem(t) + suffix
	if sums[name] == "" {
		return asset{}, fmt.Errorf("%s was not built", name)
	}
	return asset{r.url(name), sums[name]}, nil
}

//go:embed formula.rb.tmpl
var formulaText string

// formula writes the formula for Homebrew.
func (r *release) formula(sums map[string]string) error {
	type system struct {
		Name       string
		ARM, Intel asset
	}
	data := struct {
		Homepage, Version string
		Systems           []system
	}{Homepage: homepage, Version: string(r.version)}
	for _, s := range []struct{ name, os string }{{"macos", "darwin"}, {"linux", "linux"}} {
		arm, err := r.asset(target{s.os, "arm64"}, ".tar.gz", sums)
		if err != nil {
			return err
		}
		intel, err := r.asset(target{s.os, "amd64"}, ".tar.gz", sums)
		if err != nil {
			return err
		}
		data.Systems = append(data.Systems, system{s.name, arm, intel})
	}
	var buf bytes.Buffer
	t, err := template.New("formula").Parse(formulaText)
	if err == nil {
		err = t.Execute(&buf, data)
	}
	if err != nil {
		return err
	}
	return r.write("fetch1738.rb", buf.Bytes())
}

// scoop writes the manifest for Scoop.
func (r *release) scoop(sums map[string]string) error {
	systems, update := make(map[string]any), make(map[string]any)
	for bits, arch := range map[string]string{"64bit": "amd64", "arm64": "arm64"} {
		t := target{"windows", arch}
		a, err := r.asset(t, ".zip", sums)
		if err != nil {
			return err
		}
		systems[bits] = map[string]string{"url": a.URL, "hash": a.Sum, "extract_dir": r.stem(t)}
		stem := fmt.Sprintf("fetch1738_$version_windows_%s", arch)
		update[bits] = map[string]string{
			"url":         fmt.Sprintf("%s/releases/download/v$version/%s.zip", homepage, stem),
			"extract_dir": stem,
		}
	}
	text, err := json.MarshalIndent(map[string]any{
		"version": r.version, "description": "Fetches ftp, gopher, news, wais and the other URLs of RFC 1738.",
		"homepage": homepage, "license": "MIT", "architecture": systems, "bin": "fetch1738.exe",
		"checkver": "github",
		"autoupdate": map[string]any{
			"architecture": update,
			"hash":         map[string]string{"url": homepage + "/releases/download/v$version/fetch1738_$version_checksums.txt"},
		},
	}, "", "  ")
	if err != nil {
		return err
	}
	return r.write("fetch1738.json", append(text, '\n'))
}
