package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// A document is an SPDX document, version 2.3.
type document struct {
	Version       string         `json:"spdxVersion"`
	DataLicense   string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []spdxPackage  `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	ID        string      `json:"SPDXID"`
	Name      string      `json:"name"`
	Version   string      `json:"versionInfo"`
	Download  string      `json:"downloadLocation"`
	Analyzed  bool        `json:"filesAnalyzed"`
	Concluded string      `json:"licenseConcluded"`
	Declared  string      `json:"licenseDeclared"`
	Copyright string      `json:"copyrightText"`
	Refs      []reference `json:"externalRefs"`
}

type reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

const modulePath = "github.com/fetch1738/fetch1738"

// sbom writes the SPDX document: the module, and what is linked into the program.
func (r *release) sbom() error {
	main := spdxModule(linked{path: modulePath, version: "v" + string(r.version), licence: "MIT"})
	doc := document{
		Version: "SPDX-2.3", DataLicense: "CC0-1.0", ID: "SPDXRef-DOCUMENT",
		Name:          "fetch1738-" + string(r.version),
		Namespace:     r.url("fetch1738_" + string(r.version) + ".spdx.json"),
		Creation:      creation{r.date.Format(time.RFC3339), []string{"Organization: fetch1738", "Tool: release-build-" + string(r.version)}},
		Packages:      []spdxPackage{main},
		Relationships: []relationship{{"SPDXRef-DOCUMENT", "DESCRIBES", main.ID}},
	}
	for _, m := range r.modules {
		p := spdxModule(m)
		doc.Packages = append(doc.Packages, p)
		doc.Relationships = append(doc.Relationships, relationship{main.ID, "STATIC_LINK", p.ID})
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return r.write(fmt.Sprintf("fetch1738_%s.spdx.json", r.version), append(text, '\n'))
}

var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// spdxModule returns the package for a module.
func spdxModule(m linked) spdxPackage {
	download := fmt.Sprintf("https://proxy.golang.org/%s/@v/%s.zip", m.path, m.version)
	if m.path == "stdlib" {
		download = fmt.Sprintf("https://go.dev/dl/go%s.src.tar.gz", m.version)
	}
	return spdxPackage{
		ID:   "SPDXRef-Package-" + strings.Trim(notInID.ReplaceAllString(m.path, "-"), "-"),
		Name: m.path, Version: m.version, Download: download,
		Concluded: m.licence, Declared: m.licence, Copyright: "NOASSERTION",
		Refs: []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + m.path + "@" + m.version}},
	}
}
