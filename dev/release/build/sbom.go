package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

const modulePath = "github.com/fetch1738/fetch1738"

// An object is one of JSON.
type object = map[string]any

// sbom writes the SPDX document, version 2.3: the module, and what is linked into the program.
func (r *release) sbom() error {
	main := linked{path: modulePath, version: "v" + string(r.version), licence: "MIT"}
	packages := []object{main.spdx()}
	relationships := []object{relationship("SPDXRef-DOCUMENT", "DESCRIBES", main.spdxID())}
	for _, m := range r.modules {
		packages = append(packages, m.spdx())
		relationships = append(relationships, relationship(main.spdxID(), "STATIC_LINK", m.spdxID()))
	}
	text, err := json.MarshalIndent(object{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
		"name":              "fetch1738-" + string(r.version),
		"documentNamespace": r.url("fetch1738_" + string(r.version) + ".spdx.json"),
		"creationInfo": object{
			"created":  r.date.Format(time.RFC3339),
			"creators": []string{"Organization: fetch1738", "Tool: release-build-" + string(r.version)},
		},
		"packages": packages, "relationships": relationships,
	}, "", "  ")
	if err != nil {
		return err
	}
	return r.write(fmt.Sprintf("fetch1738_%s.spdx.json", r.version), append(text, '\n'))
}

func relationship(from, kind, to string) object {
	return object{"spdxElementId": from, "relationshipType": kind, "relatedSpdxElement": to}
}

var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func (m linked) spdxID() string {
	return "SPDXRef-Package-" + strings.Trim(notInID.ReplaceAllString(m.path, "-"), "-")
}

// spdx returns the package for a module.
func (m linked) spdx() object {
	download := fmt.Sprintf("https://proxy.golang.org/%s/@v/%s.zip", m.path, m.version)
	if m.path == "stdlib" {
		download = fmt.Sprintf("https://go.dev/dl/go%s.src.tar.gz", m.version)
	}
	return object{
		"SPDXID": m.spdxID(), "name": m.path, "versionInfo": m.version, "downloadLocation": download, "filesAnalyzed": false,
		"licenseConcluded": m.licence, "licenseDeclared": m.licence, "copyrightText": "NOASSERTION",
		"externalRefs": []object{{
			"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:golang/" + m.path + "@" + m.version,
		}},
	}
}
