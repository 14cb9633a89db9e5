module github.com/fetch1738/fetch1738/dev/interop/judge/jlaffaye

go 1.26.0

require github.com/jlaffaye/ftp v0.2.4
