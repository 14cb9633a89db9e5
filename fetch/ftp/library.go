package ftp

import (
	"net"

	// jlaffaye/ftp reads the greeting, logs in, and orders the commands of directories and transfers.
	// It is the client of rclone and many others. A dial function can give it any connection: here a
	// control, which has the limits and commands that it lacks.
	client "github.com/jlaffaye/ftp"
)

type (
	libraryConn     = client.ServerConn
	libraryResponse = client.Response
	libraryType     = client.TransferType
)

// dialLibrary reads the greeting. The library sends no command of its own.
func dialLibrary(dial func(network, address string) (net.Conn, error)) (*libraryConn, error) {
	return client.Dial("", client.DialWithDialFunc(dial), client.DialWithDisabledUTF8(true), client.DialWithDisabledMLSD(true))
}
