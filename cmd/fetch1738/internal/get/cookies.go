package get

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cookies"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// readCookies reads the files of -b and gives the Operations with -b FILE or -c the cookies, which they
// share. Cookies without a domain go to the first server of an Operation only, as those of -b NAME=VALUE.
func readCookies(c *curl.CommandLine, std stdio.Streams) (*cookies.Jar, error) {
	jar := cookies.New()
	for _, op := range c.Operations {
		for _, name := range op.HTTP.Cookies.Files {
			text, err := cookieFile(name, std)
			if err == nil {
				var loose []string
				loose, err = jar.Read(bytes.NewReader(text), op.HTTP.Cookies.JunkSession)
				op.HTTP.Cookies.Given = append(op.HTTP.Cookies.Given, loose...)
			}
			switch {
			case errors.Is(err, fs.ErrNotExist): // -c FILE often creates it
				std.Warn("-b, --cookie: %v; starting without cookies", err)
			case err != nil:
				return nil, localerr.Errorf(localerr.Read, "-b, --cookie: %w", err)
			}
		}
		if op.HTTP.Cookies.Stored() {
			op.HTTP.Cookies.Jar = jar
		}
	}
	return jar, nil
}

// cookieFile returns the content of a file of -b. The name "" only turns on that cookies are stored.
func cookieFile(name string, std stdio.Streams) ([]byte, error) {
	switch name {
	case "":
		return nil, nil
	case "-":
		return std.ReadIn()
	}
	return stdio.ReadFile(name)
}

// writeCookies writes the files of -c. Only their owner may read new ones.
func writeCookies(ctx context.Context, c *curl.CommandLine, std stdio.Streams, jar *cookies.Jar) error {
	for _, op := range c.Operations {
		if curl.Check(op) != nil {
			continue // nothing was fetched, and the file may be one of another kind: wget -c resumes it
		}
		name := op.HTTP.Cookies.File
		switch name {
		case "":
			continue
		case "-":
			if err := jar.Write(std.Out); err != nil {
				return localerr.New(localerr.Write, err)
			}
			continue
		}
		f, err := disk.Of(ctx).OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err == nil {
			err = errors.Join(jar.Write(f), f.Close())
		}
		if err != nil {
			return localerr.Errorf(localerr.Write, "-c, --cookie-jar: %w", err)
		}
	}
	return nil
}
