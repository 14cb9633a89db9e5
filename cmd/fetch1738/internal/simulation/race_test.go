//go:build race

package simulation

// With the race detector, the runtime changes the order of goroutines at random, and a world takes
// ten times as long.
const raced = true
