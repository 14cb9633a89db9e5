module github.com/fetch1738/fetch1738/dev/interop/ftpservers/goservers

go 1.26.0

require (
	github.com/fclairamb/ftpserverlib v0.25.0
	github.com/spf13/afero v1.15.0
	goftp.io/server/v2 v2.0.1
)

require (
	github.com/fclairamb/go-log v0.5.0 // indirect
	golang.org/x/sys v0.28.0 // indirect
	golang.org/x/text v0.28.0 // indirect
)
