package webtest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/net/http2"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Setting sends a setting of HTTP/2 at the beginning of a connection, by its name in RFC 9113 §6.5.2,
// such as "INITIAL_WINDOW_SIZE", or its number. With that one and 0, no upload can begin.
func Setting(name string, n int64) Fault {
	return own{Spec: setting.With(core.Args{Field: name, N: n})}
}

// ResetStream ends the stream of a request with RST_STREAM after n bytes of the body; a negative n
// sends it instead of a response. The code is a name of RFC 9113 §7, such as "REFUSED_STREAM", or a
// number. HTTP/2 only.
func ResetStream(n int64, code string) Fault {
	return own{Spec: resetStream.With(core.Args{N: n, Text: code})}
}

// EndStream ends the stream after n bytes of the body, in order, whatever its Content-Length. With a
// negative n the whole body is sent, and the stream never ends. HTTP/2 only.
func EndStream(n int64) Fault { return own{Spec: endStream.With(core.Args{N: n})} }

// GoAway sends GOAWAY when the request arrives, before the answer. last is the last stream that is
// served, and a negative one the stream of this request. Requests on later streams are ignored, and
// the connection is closed when those up to last have been answered. With Close it is closed at once.
// For the code see ResetStream. HTTP/2 only.
func GoAway(last int64, code string) Fault {
	return own{Spec: goAway.With(core.Args{N: last, Text: code})}
}

// NoWindow never opens the window of the request's body, so that an upload of more than 65,535 bytes
// stalls. HTTP/2 only.
func NoWindow() Fault { return own{Spec: noWindow.With(core.Args{})} }

// LateData sends a DATA frame with these octets after the end of the stream. HTTP/2 only.
func LateData(octets string) Fault { return own{Spec: lateData.With(core.Args{Text: octets})} }

// Frame sends a frame of any content before the response: kind is a name of RFC 9113 §6, such as
// "PUSH_PROMISE", or a number. The stream is that of the request, or 0 for SETTINGS, PING and GOAWAY;
// the only flag is END_HEADERS, where that exists. It can be one that is too long, has a header
// block that cannot be decoded, or is on the stream too early. HTTP/2 only.
func Frame(kind, octets string) Fault {
	return own{Spec: frame.With(core.Args{Field: kind, Text: octets})}
}

// Flood answers with endless frames of a type, until the client closes: "DATA" and "CONTINUATION"
// are empty and follow a head, "HEADERS" are interim responses, and there are "PING", "RST_STREAM",
// "SETTINGS" and "WINDOW_UPDATE". HTTP/2 only; EndlessHeaders is a flood of another kind.
func Flood(kind string) Fault { return own{Spec: flood.With(core.Args{Text: kind})} }

// HeaderBomb adds fields to the response's header that are small on the connection, and have about n
// bytes when they are decoded: each is one octet that refers to a large field (RFC 7541 §2.3.3).
// HTTP/2 only.
func HeaderBomb(n int64) Fault { return own{Spec: headerBomb.With(core.Args{N: n})} }

var (
	setting = &core.Kind{Name: "Setting", Params: "field n", Check: func(a core.Args) error {
		if a.N < 0 || a.N > 1<<32-1 {
			return errors.New("a value has 32 bits")
		}
		_, err := number[http2.SettingID]("a setting", a.Field, 1<<16-1)
		return err
	}}
	resetStream = &core.Kind{Name: "ResetStream", Params: "n text", Check: checkCode}
	endStream   = &core.Kind{Name: "EndStream", Params: "n"}
	goAway      = &core.Kind{Name: "GoAway", Params: "n text", Check: func(a core.Args) error {
		if a.N > 1<<31-1 {
			return errors.New("a stream has 31 bits")
		}
		return checkCode(a)
	}}
	noWindow = &core.Kind{Name: "NoWindow"}
	lateData = &core.Kind{Name: "LateData", Params: "text"}
	frame    = &core.Kind{Name: "Frame", Params: "field text", Check: func(a core.Args) error {
		_, err := number[http2.FrameType]("a type of frame", a.Field, 1<<8-1)
		if len(a.Text) > 1<<24-1 {
			err = errors.New("a frame is smaller than 16 MiB")
		}
		return err
	}}
	flood = &core.Kind{Name: "Flood", Params: "text", Check: func(a core.Args) error {
		kinds := []string{"DATA", "CONTINUATION", "HEADERS", "PING", "RST_STREAM", "SETTINGS", "WINDOW_UPDATE"}
		if !slices.Contains(kinds, a.Text) {
			return fmt.Errorf("%q is not one of %q", a.Text, kinds)
		}
		return nil
	}}
	headerBomb = &core.Kind{Name: "HeaderBomb", Params: "n", Check: func(a core.Args) error {
		if a.N < 1 || a.N > 1<<30 {
			return errors.New("the number must be from 1 to 1 GiB")
		}
		return nil
	}}
)

// http2Rows returns rows for the faults that only HTTP/2 has.
func http2Rows() []core.Row {
	return append(core.Rows([]string{"CONNECT"}, resetStream, endStream, goAway, noWindow, lateData, frame, flood, headerBomb),
		core.Row{Kind: setting, At: []string{"CONNECT"}})
}

// checkCode checks the error code of a fault.
func checkCode(a core.Args) error {
	_, err := number[http2.ErrCode]("an error code", a.Text, 1<<32-1)
	return err
}

// codeOf returns the error code of a fault, which has been checked.
func codeOf(a core.Args) http2.ErrCode {
	code, _ := number[http2.ErrCode]("", a.Text, 1<<32-1)
	return code
}

// number returns the number that the text is, or whose name it is: names are those of frames,
// settings and codes, whose numbers are small.
func number[T interface {
	~uint8 | ~uint16 | ~uint32
	fmt.Stringer
}](what, text string, most uint64) (T, error) {
	for n := T(0); n < 32; n++ {
		if n.String() == text {
			return n, nil
		}
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n > most {
		return 0, fmt.Errorf("%q is not %s", text, what)
	}
	return T(n), nil
}
