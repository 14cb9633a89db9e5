package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// A linked is a module that is linked into the program, or Go's standard library.
type linked struct {
	path, version string // stdlib and 1.26.8 for the standard library
	licence       string // by its SPDX identifier
	texts         []file // licences, notices and patents
}

// linkedModules returns what is linked into the programs for all targets, also those that are not
// built, with its licences, sorted by path.
func linkedModules(ctx context.Context) ([]linked, error) {
	versions := make(map[string]string)
	for name := range strings.SplitSeq(targets, ",") {
		found, err := output(ctx, parseTarget(name), "list", "-deps", "-f",
			"{{with .Module}}{{if .Replace}}replaced {{end}}{{.Path}} {{.Version}}{{end}}", modulePath+"/cmd/fetch1738")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(found) {
			path, version, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch path {
			case "", modulePath:
			case "replaced":
				return nil, fmt.Errorf("%s is replaced; a release has no replaced modules", version)
			default:
				versions[path] = version
			}
		}
	}
	goroot, err := output(ctx, here, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	std := linked{path: "stdlib", version: strings.TrimPrefix(runtime.Version(), "go")}
	if err := std.read(goroot); err != nil {
		return nil, err
	}
	list := []linked{std}
	for path, version := range versions {
		m := linked{path: path, version: version}
		dir, err := output(ctx, here, "list", "-m", "-f", "{{.Dir}}", path)
		if err == nil {
			err = m.read(dir)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b linked) int { return strings.Compare(a.path, b.path) })
	return list, nil
}

// output runs the go command for a target and returns what it prints.
func output(ctx context.Context, t target, args ...string) (string, error) {
	cmd := goCommand(ctx, t, args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w", args[0], err)
	}
	return strings.TrimSpace(out.String()), nil
}

var legal = regexp.MustCompile(`^(?i)(licen[cs]e|copying|notice|patents)`)

// read reads the licences of a module from its directory.
func (m *linked) read(dir string) error {
	found, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range found {
		if entry.IsDir() || !legal.MatchString(entry.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return err
		}
		m.texts = append(m.texts, file{name: entry.Name(), data: text})
		if m.licence == "" {
			m.licence = licenceOf(text)
		}
	}
	if m.licence == "" {
		return fmt.Errorf("%s %s: unknown licence in %s; extend licenceOf after reading it", m.path, m.version, dir)
	}
	return nil
}

// licenceOf returns the SPDX identifier of a licence by its words; "" for those that no linked
// module has.
func licenceOf(text []byte) string {
	general, _, _ := strings.Cut(string(text), "\nFiles: ") // of klauspost/compress: the rest is about files that are not linked
	words := strings.Join(strings.Fields(general), " ")
	for _, known := range []struct{ id, words string }{
		{"MPL-2.0", "Mozilla Public License, version 2.0"},
		{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
		{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted"},
	} {
		if strings.Contains(words, known.words) {
			return known.id
		}
	}
	if strings.Contains(words, "Redistribution and use in source and binary forms, with or without modification, are permitted") {
		if strings.Contains(words, "The name of the author may not be used") || strings.Contains(words, "Neither the name") {
			return "BSD-3-Clause"
		}
	}
	if strings.Contains(words, "Apache License Version 2.0, January 2004") {
		return "Apache-2.0"
	}
	return ""
}

// legal returns the pages with the licences of the program and of what is linked into it.
func (r *release) legal() (list []file) {
	for _, page := range r.pages {
		if page.name == "LICENSE" || page.name == "THIRD-PARTY-LICENSES.txt" {
			list = append(list, page)
		}
	}
	return list
}

// licences returns a text with the licence of each module.
func licences(modules []linked) []byte {
	var b bytes.Buffer
	b.WriteString("fetch1738 contains the following software, under these licences. The source of each module\n" +
		"is at https://proxy.golang.org/MODULE/@v/VERSION.zip, that of the standard library (stdlib)\n" +
		"at https://go.dev/dl/.\n")
	for _, m := range modules {
		fmt.Fprintf(&b, "\n%s\n%s %s (%s)\n", strings.Repeat("=", 80), m.path, m.version, m.licence)
		for _, text := range m.texts {
			fmt.Fprintf(&b, "\n%s:\n\n%s\n", text.name, bytes.TrimSpace(text.data))
		}
	}
	return b.Bytes()
}
