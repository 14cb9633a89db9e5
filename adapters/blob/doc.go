// Package fetchblob makes directories of FTP, gopher and prospero servers, and local ones, buckets
// of the Go Cloud Development Kit, gocloud.dev/blob. The buckets are read-only: writing, copying,
// deleting and signing fail with [gcerrors.Unimplemented].
//
// # Keys
//
// The key of a file is its path below the directory. A key that cannot be a path, such as "a//b" or
// one with control characters, is the file whose name gocloud.dev/blob/fileblob would write; so a
// directory that fileblob has written without attributes, and that a server offers, has the same
// keys.
//
// List requests one listing for each directory and nothing for a file. A prefix such as "pub/"
// requests that directory and those below it; a delimiter of "/" requests one directory. An empty
// directory is then listed too, because finding out would take its listing. Pages of one list
// continue where the last one ended: a bucket keeps the last four walks that are not at their end,
// with the listings of the directories that they are in.
//
// Symbolic links and devices are not listed. A key that leads through a symbolic link can be read.
// The Size of a gopher document is -1, as its server does not send it, and ModTime is then zero.
//
// # Attributes
//
// The ETag is made of the size and the time, as for a [transport.Transport]. There is no MD5 and no
// metadata. The Content-Type of an FTP file follows from the suffix of its key: see Options.
//
// A range reader requests the range: by REST over ftp. Gopher and prospero have no ranges; what is
// before the range is received and discarded.
//
// # Errors and escapes
//
// ErrorAs converts errors to *[fetch.Error]. As converts a Bucket to *[fetch1738.Resolver] and
// *[remotefs.FS], a Reader to *[fetch.Resource], Attributes to *[fetch.Attributes], a
// ListObject that is a file to *[fetch.Item], and the argument of BeforeRead to *[fetch.Request].
package fetchblob
