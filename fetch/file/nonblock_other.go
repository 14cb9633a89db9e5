//go:build !unix

package file

// nonBlocking is nothing where opening a file does not wait.
const nonBlocking = 0
