// Package simulation runs what writes files in simulated worlds: servers in memory that misbehave,
// a disk that fails, a network that breaks, processes that are killed. A number, the seed, decides
// all of it, so that a run that went wrong can be repeated. docs/simulation.md explains how to use
// it.
package simulation
