package control

import (
	"slices"
	"strings"
)

// Routes returns the routes in the form of openapi.yaml, sorted.
func Routes(a *API) (list []string) {
	for _, r := range a.routes() {
		list = append(list, strings.ReplaceAll(r.pattern, "...", ""))
	}
	slices.Sort(list)
	return list
}

// Held returns how much memory files and requests hold.
func Held(a *API) int64 { return a.content.Load() }
