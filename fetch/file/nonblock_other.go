//go:build !unix

package file

// nonBlocking is 0 on systems where opening a file does not block.
const nonBlocking = 0
