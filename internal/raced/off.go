//go:build !race

package raced

// Enabled reports whether the race detector is on.
const Enabled = false
