package cookies

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func at(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// set has a server set cookies.
func set(t *testing.T, j *Jar, from string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		c, err := http.ParseSetCookie(line)
		if err != nil {
			t.Fatal(err)
		}
		j.SetCookies(at(t, from), []*http.Cookie{c})
	}
}

// written returns the lines of cookies in the file.
func written(t *testing.T, j *Jar) []string {
	t.Helper()
	var file strings.Builder
	if err := j.Write(&file); err != nil {
		t.Fatal(err)
	}
	lines, ok := strings.CutPrefix(file.String(), head)
	if !ok {
		t.Fatalf("the file begins with %q", file.String())
	}
	return strings.Split(strings.TrimSuffix(lines, "\n"), "\n")
}

func sent(t *testing.T, j *Jar, to string) string {
	t.Helper()
	var pairs []string
	for _, c := range j.Cookies(at(t, to)) {
		pairs = append(pairs, c.Name+"="+c.Value)
	}
	slices.Sort(pairs)
	return strings.Join(pairs, " ")
}

// What is written can be read, and means the same.
func TestRoundTrip(t *testing.T) { synctest.Test(t, roundTrip) }

func roundTrip(t *testing.T) {
	j := New()
	set(t, j, "https://www.example.org/dir/page", "a=1", "b=2; Domain=example.org; Path=/; Secure; HttpOnly; Expires=Fri, 31 Dec 9999 23:59:59 GMT", `c="x y"; Path=/dir`)
	set(t, j, "http://127.0.0.1/", "ip=3")
	set(t, j, "http://[::1]/", "six=4")
	want := []string{ // the last time is 400 days from now, rounded up to a minute
		"::1\tFALSE\t/\tFALSE\t0\tsix\t4",
		"127.0.0.1\tFALSE\t/\tFALSE\t0\tip\t3",
		"www.example.org\tFALSE\t/dir\tFALSE\t0\tc\t\"x y\"",
		"#HttpOnly_.example.org\tTRUE\t/\tTRUE\t981244860\tb\t2",
		"www.example.org\tFALSE\t/dir\tFALSE\t0\ta\t1",
	}
	got := written(t, j)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	again := New()
	slices.Reverse(got) // the first is the latest
	if loose, err := again.Read(strings.NewReader(strings.Join(got, "\r\n")), false); err != nil || loose != nil {
		t.Fatalf("%q %v", loose, err)
	}
	if got := written(t, again); !slices.Equal(got, want) {
		t.Errorf("again %q, want %q", got, want)
	}
	for to, want := range map[string]string{
		"https://www.example.org/dir/x": `a=1 b=2 c="x y"`, "https://other.example.org/": "b=2", "http://other.example.org/": "",
		"https://www.example.org/": "b=2", "http://127.0.0.1/x": "ip=3", "http://127.0.0.2/": "", "http://[::1]/": "six=4",
	} {
		if got := sent(t, again, to); got != want {
			t.Errorf("%s gets %q, want %q", to, got, want)
		}
	}
}

// A server sets no cookie for others.
func TestOthers(t *testing.T) {
	j := New()
	set(t, j, "http://www.example.co.uk/", "suffix=1; Domain=co.uk", "other=2; Domain=example.com", "up=3; Domain=www.example.co.uk")
	set(t, j, "http://co.uk/", "own=4; Domain=co.uk")
	if got, want := written(t, j), []string{"co.uk\tFALSE\t/\tFALSE\t0\town\t4", ".www.example.co.uk\tTRUE\t/\tFALSE\t0\tup\t3"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := sent(t, j, "http://b.co.uk/"); got != "" {
		t.Errorf("another host gets %q", got)
	}
}

// A cookie that expires is neither sent nor written.
func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := New()
		set(t, j, "http://h.example/", "a=1; Max-Age=10", "b=2", "c=3; Max-Age=20")
		set(t, j, "http://h.example/", "b=; Max-Age=0", "c=4; Max-Age=20")
		if got := sent(t, j, "http://h.example/"); got != "a=1 c=4" {
			t.Errorf("%q", got)
		}
		time.Sleep(11 * time.Second)
		if got := written(t, j); len(got) != 1 || !strings.HasSuffix(got[0], "\tc\t4") {
			t.Errorf("%q", got)
		}
	})
}

// What servers write as the time of expiry is read as RFC 6265 §5.1.1 says, not only in the form of
// HTTP's dates.
func TestDates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for date, want := range map[string]string{
			"Sat, 01 Jul 2000 10:00:00 GMT": "962445600", "Saturday, 01-Jul-00 10:00:00 GMT": "962445600", "Saturday, 01-Jul-2000 10:00:00 GMT": "962445600",
			"Sat Jul  1 10:00:00 2000": "962445600", "Sat Jul 1 10:00:00 GMT 2000": "962445600", "Fri, 31 Dec 1999 23:59:59 GMT": "", "Friday, 31-Dec-1999 23:59:59 GMT": "",
			"someday": "0", "Sat, 01 Jul 2023 10:00:00 GMT": "981244860",
		} {
			j := New()
			set(t, j, "http://h.example/", "a=1; Expires="+date)
			got := ""
			if fields := strings.Split(written(t, j)[0], "\t"); len(fields) > 4 {
				got = fields[4]
			}
			if got != want {
				t.Errorf("%s: %q, want %q", date, got, want)
			}
		}
	})
}

// A response sets no cookie for https that came by http, none that is too long, and not too many.
func TestLimits(t *testing.T) {
	j := New()
	set(t, j, "http://h.example/", "secure=1; Secure", "long="+strings.Repeat("x", maxSize), "fits="+strings.Repeat("x", maxSize-len("fits")))
	var many []*http.Cookie
	for i := range maxPerResponse + 5 {
		many = append(many, &http.Cookie{Name: fmt.Sprint("n", i), Value: "1"})
	}
	j.SetCookies(at(t, "http://h.example/"), many)
	if got := written(t, j); len(got) != 1+maxPerResponse || !strings.Contains(got[maxPerResponse], "\tfits\t") {
		t.Errorf("%d cookies, the first is %.60q", len(got), got[len(got)-1])
	}
}

func TestRead(t *testing.T) {
	const file = "# Netscape HTTP Cookie File\n" +
		"h.example\tFALSE\t/\tFALSE\t0\tsession\t1\n" +
		".h.example\tTRUE\t/\tFALSE\t4102444800\tlasting\t2\n" +
		"h.example\tFALSE\t/\tFALSE\t1\texpired\t3\n" +
		"h.example\tFALSE\t/\tFALSE\t4102444800\tempty\n" +
		"Set-Cookie: header=4; Domain=h.example; Max-Age=1000\r\n" +
		"set-cookie: loose=5\n" +
		"not a cookie\n\th\t\t\t\t\n"
	for junk, want := range map[bool]string{false: "empty= header=4 lasting=2 session=1", true: "empty= header=4 lasting=2"} {
		j := New()
		loose, err := j.Read(strings.NewReader(file), junk)
		if err != nil {
			t.Fatal(err)
		}
		if got := sent(t, j, "http://h.example/"); got != want {
			t.Errorf("junk %t: %q, want %q", junk, got, want)
		}
		if (len(loose) == 1 && loose[0] == "loose=5") == junk {
			t.Errorf("junk %t: without a domain: %q", junk, loose)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("#HttpOnly_.h.example\tTRUE\t/\tTRUE\t4102444800\ta\t1\n")
	f.Add("..\t\t\t\t0\t0")
	f.Add(".#\t\t\t\t0\t0") // a domain that would make its line a comment
	f.Add("Set-Cookie: a=b; Domain=h.example; Path=/x; Expires=Fri, 31 Dec 9999 23:59:59 GMT\n")
	f.Fuzz(func(t *testing.T, text string) {
		j := New()
		if _, err := j.Read(strings.NewReader(text), false); err != nil {
			return
		}
		var first, second strings.Builder
		_ = j.Write(&first)
		again := New()
		lines := slices.Collect(strings.Lines(first.String()))
		slices.Reverse(lines)
		if _, err := again.Read(strings.NewReader(strings.Join(lines, "")), false); err != nil {
			t.Fatal(err)
		}
		_ = again.Write(&second)
		if first.String() != second.String() {
			t.Errorf("%q is read as %q", first.String(), second.String())
		}
	})
}
