package conversation

import (
	"context"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// FTP plays a conversation of FTP. The data connection is opened after the reply to PASV or EPSV.
// The lines of listings are sorted, because the order of directories is that of the file system.
func (c *Client) FTP(ctx context.Context, text string) (string, error) {
	return c.play(ctx, text, protocol{answer: (*talk).ftp})
}

// ftp reads the reply to a command, and moves the data of a transfer.
func (t *talk) ftp(st Step) error {
	reply, err := t.receive("S", t.in.Reply)
	if err != nil {
		return err
	}
	switch code := reply[0][:min(3, len(reply[0]))]; {
	case code == "227" || code == "229":
		t.dropData()
		t.data, err = t.client.Dial(t.ctx, "tcp", DataAddr(t.client.Addr, reply[len(reply)-1]))
		return err
	case !strings.HasPrefix(code, "1"):
		if transfer.MatchString(st.Text("C")) {
			t.dropData()
		}
		return nil
	case t.data == nil:
		return fmt.Errorf("%s without a data connection", code)
	}
	if err := t.move(st); err != nil {
		return err
	}
	_, err = t.receive("S", t.in.Reply)
	return err
}

var (
	transfer = regexp.MustCompile(`^(RETR|STOR|APPE|STOU|LIST|NLST|MLSD)\b`)
	stores   = regexp.MustCompile(`^(STOR|APPE|STOU)\b`)
)

func (t *talk) dropData() {
	if t.data != nil {
		t.data.Close()
		t.data = nil
	}
}

// move moves the data of a transfer.
func (t *talk) move(st Step) error {
	defer t.dropData()
	command := st.Text("C")
	if stores.MatchString(command) {
		_, err := io.WriteString(t.data, strings.Join(append(st.said("U"), ""), "\n"))
		return err
	}
	data, err := io.ReadAll(t.data)
	var lines []string
	for line := range strings.Lines(string(data)) {
		lines = append(lines, t.client.clean(strings.TrimRight(line, "\r\n")))
	}
	if !strings.HasPrefix(command, "RETR") {
		slices.Sort(lines)
	}
	t.write("D", lines...)
	return err
}

// DataAddr returns the address of the data connection for a reply to PASV or EPSV: the port that it
// names, on the host of addr, which is that of the server. Without such a port it is 0.
func DataAddr(addr, reply string) string {
	host, _, _ := net.SplitHostPort(addr)
	port := 0
	if m := extended.FindStringSubmatch(reply); m != nil {
		port, _ = strconv.Atoi(m[1])
	} else if m := passive.FindStringSubmatch(reply); m != nil {
		high, _ := strconv.Atoi(m[1])
		low, _ := strconv.Atoi(m[2])
		port = high<<8 | low
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

var (
	passive  = regexp.MustCompile(`\d+,\d+,\d+,\d+,(\d+),(\d+)`)
	extended = regexp.MustCompile(`\|\|\|(\d+)\|`)
)
