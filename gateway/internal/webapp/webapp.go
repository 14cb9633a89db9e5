// Package webapp describes the gateway to a browser that installs it as an app.
package webapp

import "encoding/json"

// Path is the path of the manifest, below that of the gateway.
const Path = "/manifest.webmanifest"

// A manifest is a W3C Web Application Manifest.
type manifest struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	ShortName   string    `json:"short_name"`
	Description string    `json:"description"`
	Start       string    `json:"start_url"`
	Scope       string    `json:"scope"`
	Display     string    `json:"display"`
	Background  string    `json:"background_color"`
	Theme       string    `json:"theme_color"`
	Icons       []icon    `json:"icons"`
	Handlers    []handler `json:"protocol_handlers"`
}

type icon struct {
	Source  string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose"`
}

type handler struct {
	Protocol string `json:"protocol"`
	URL      string `json:"url"`
}

// Manifest returns the manifest of a gateway at the path home. The schemes are those that browsers let
// a page register; they accept others only with "web+" before them.
func Manifest(home string, schemes []string) []byte {
	m := manifest{
		ID: home, Start: home, Scope: home, Name: "fetch1738 gateway", ShortName: "fetch1738", Description: "Pages of ftp, gopher, news and wais",
		Display: "minimal-ui", Background: "#ffffff", Theme: "#0b4fb3", // as in the icon; minimal-ui has "back" and "reload"
		Icons: []icon{
			{home + "icon.svg", "any", "image/svg+xml", "any"}, {home + "icon-192.png", "192x192", "image/png", "any"},
			{home + "icon-512.png", "512x512", "image/png", "any"}, {home + "icon-512.png", "512x512", "image/png", "maskable"},
		},
	}
	for _, scheme := range append(schemes, "web+gopher", "web+gophers", "web+wais") {
		m.Handlers = append(m.Handlers, handler{scheme, home + "open?url=%s"})
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // only texts
	}
	return text
}
