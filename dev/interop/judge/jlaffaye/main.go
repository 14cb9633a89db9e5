// Jlaffaye is a client with github.com/jlaffaye/ftp: TASK URL TARGET [CA]. With CA, an ftp URL
// demands AUTH TLS.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/jlaffaye/ftp"
)

func main() {
	args := append(os.Args[1:], "", "", "", "")
	if err := run(args[0], args[1], args[2], args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "jlaffaye:", err)
		os.Exit(1)
	}
}

func run(task, address, target, ca string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	c, err := login(u, ca)
	if err != nil {
		return err
	}
	p := strings.TrimPrefix(u.Path, "/")
	switch task {
	case "download":
		err = download(c, p, target)
	case "resume":
		err = resume(c, p, target)
	case "upload":
		err = upload(c, p, target)
	case "list":
		err = list(c, p)
	default:
		err = errors.New("unknown task " + task)
	}
	return errors.Join(err, c.Quit())
}

const idle = 5 * time.Second

// idleConn is a connection that fails when it is idle.
type idleConn struct{ net.Conn }

func (c idleConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(idle)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c idleConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(idle)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

func login(u *url.URL, ca string) (*ftp.ServerConn, error) {
	var options []ftp.DialOption
	var conf *tls.Config
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, err
		}
		conf = &tls.Config{RootCAs: x509.NewCertPool(), ServerName: u.Hostname()}
		conf.RootCAs.AppendCertsFromPEM(pem)
		if u.Scheme == "ftps" {
			options = append(options, ftp.DialWithTLS(conf))
		} else {
			options = append(options, ftp.DialWithExplicitTLS(conf))
		}
	}
	// The package limits the time of dialing only. With a function of its own for that, a program
	// limits silence too, and has to start TLS itself, except by AUTH TLS.
	secure := u.Scheme == "ftps"
	dial := func(network, addr string) (net.Conn, error) {
		conn, err := net.DialTimeout(network, addr, idle)
		if err != nil {
			return nil, err
		}
		conn = idleConn{conn}
		if secure {
			conn = tls.Client(conn, conf)
		}
		secure = conf != nil // data connections
		return conn, nil
	}
	options = append(options, ftp.DialWithDialFunc(dial), ftp.DialWithShutTimeout(idle))
	c, err := ftp.Dial(u.Host, options...)
	if err != nil {
		return nil, err
	}
	user, password := "anonymous", "anonymous"
	if u.User != nil {
		user = u.User.Username()
		password, _ = u.User.Password()
	}
	return c, c.Login(user, password)
}

func download(c *ftp.ServerConn, from, to string) error {
	r, err := c.Retr(from)
	if err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return errors.Join(err, r.Close())
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, r.Close(), f.Close())
}

func resume(c *ftp.ServerConn, from, to string) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	at, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	r, err := c.RetrFrom(from, uint64(at))
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, r.Close(), f.Close())
}

func upload(c *ftp.ServerConn, to, from string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return c.Stor(to, f)
}

func list(c *ftp.ServerConn, dir string) error {
	entries, err := c.List(dir)
	for _, e := range entries {
		fmt.Println(e.Name)
	}
	return err
}
