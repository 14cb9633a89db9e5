// Package cdx reads and writes CDXJ files: the index of an archive, with a line of JSON for each
// capture, sorted by octets.
package cdx
