package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/dial"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/glob"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
)

// An operation is the URLs between two --next and what the options say of them.
// The n-th output and the n-th upload belong to the n-th URL.
type operation struct {
	*global
	urls      []string
	swallowed string       // the option that took what looks like a URL; "" is none
	listed    map[int]bool // which of them came out of a file
	outputs   []destination
	uploads   []string

	// Where URLs may lead.
	globOff      bool
	strict       bool
	proto        schemeSet
	protoRedir   schemeSet
	protoDefault string
	rules        policy.Rules
	gateways     map[string]string // by scheme
	gatewayLogin bool

	// How to connect.
	connectTimeout time.Duration
	limitRate      int64 // octets in a second; 0 is any number
	maxTime        time.Duration
	dialer         dial.Dialer
	proxy          proxyOptions
	speedLimit     int // of -Y
	speedTime      int // of -y
	tls            tlsOptions

	// As whom.
	login     *locator.Login // of -u
	email     string
	netrc     netrcMode
	netrcFile string

	// What to ask for.
	append   bool
	head     bool
	span     *span
	spanText string // it as it was given, with a "-"
	resume   resumption
	resumeAt int64
	method   string // of -X; "" for the usual
	ranges   string // of -r, where they are several
	timeCondition

	// FTP.
	account       string
	disableEPSV   bool
	exact         bool
	ftp           ftpWay
	ftpCreateDirs bool
	ftpMethod     string
	guessType     bool
	listOnly      bool
	quotes        []string
	useASCII      bool

	// File.
	fileMode fs.FileMode // of --create-file-mode; 0 is the usual

	// News.
	articles   string // of --articles
	newsServer string
	// Gopher.
	answers   []answer
	language  string
	listViews bool
	view      string
	// WAIS.
	like    []locator.Locator
	maxHits int
	// Telnet and mail.
	telnet telnetOptions
	smtp   string

	// HTTP.
	autoReferer     bool
	compressed      bool
	cookies         []string
	etagCompare     string
	etagSave        string
	data            []byte // of -d; nil for none
	fail            bool
	failWithBody    bool
	get             bool
	headers         []string
	keepPost        []int         // of --post301 and the like
	continueTimeout time.Duration // of --expect100-timeout
	location        bool
	follow          bool // -X is for where the redirects' statuses keep it
	locationTrusted bool
	maxRedirects    int
	query           []string // of --url-query
	referer         *string
	requestTarget   string
	userAgent       *string

	// What to do with the answer.
	charset          term.Charset // for showing only
	createDirs       bool
	dumpHeader       string      // the file of -D
	dumped           atomic.Bool // it has been written to
	include          bool
	json             bool
	list             bool
	maxFilesize      int64
	noConnectHeads   bool
	numbers          []int // of the links to follow, one after the other
	outputDir        string
	raw              bool
	remoteNameAll    bool
	remoteHeaderName bool
	writeOut         string

	// What to do about files that are there.
	clobber
	skipExisting  bool
	remoteTime    bool
	removeOnError bool

	// What to do about failures.
	retry        int
	retryAll     bool
	retryDelay   time.Duration
	retryMaxTime time.Duration
	retryRefused bool
}

const (
	defaultRedirects = 50
	defaultContinue  = time.Second
)

func newOperation(g *global) *operation {
	return &operation{
		global: g, maxRedirects: defaultRedirects, continueTimeout: defaultContinue, protoRedir: schemeSet{"http", "https", "ftp", "ftps"},
		rules: policy.Rules{AnyHTTPPort: true, RedirectToFTP: true},
	}
}

// A destination is where a document goes: to a file, to one named after the
// URL, nowhere, or, being none of these, to standard output.
type destination struct {
	path   string
	remote bool
	null   bool
}

// A span is the part of a document that -r asks for, as fetch.Request has it.
type span struct {
	offset, length int64
	empty          bool // there is no such part in any document
}

// resumption is what -C asks for.
type resumption uint8

const (
	resumeNot   resumption = iota
	resumeGiven            // at an offset
	resumeFound            // where what is there already ends
)

// netrcMode is how the netrc file is used.
type netrcMode uint8

const (
	netrcUnused   netrcMode = iota
	netrcOptional           // where neither -u nor the URL has a login
	netrcRequired           // before the URL's
)

// check finds options that do not go together.
func (o *operation) check() error {
	methods := []string{}
	for name, asked := range map[string]bool{"-I, --head": o.head, "-d, --data": o.posted() != nil, "-T, --upload-file": o.uploading()} {
		if asked {
			methods = append(methods, name)
		}
	}
	if o.get && o.data != nil && o.uploading() {
		methods = append(methods, "-G, --get", "-T, --upload-file")
	}
	slices.Sort(methods)
	methods = slices.Compact(methods)
	switch {
	case o.protoDefault != "" && !o.fetches(strings.ToLower(o.protoDefault)):
		return &codedError{exitUnsupported, fmt.Errorf("--proto-default: the scheme %q is not supported", o.protoDefault)}
	case len(o.urls) == 0 && o.swallowed != "":
		return &usageError{"no URL specified; it was taken for the parameter of " + o.swallowed}
	case len(o.urls) == 0:
		return &usageError{"no URL specified"}
	case len(methods) > 1:
		return &usageError{fmt.Sprintf("only one of %s can be done to a URL", strings.Join(methods, " and "))}
	case o.fail && o.failWithBody:
		return &usageError{"-f, --fail and --fail-with-body exclude each other"}
	case o.remoteHeaderName && o.resume != resumeNot:
		return &usageError{"-C, --continue-at and -J, --remote-header-name exclude each other"}
	case (o.span != nil || o.ranges != "") && o.resume != resumeNot:
		return &usageError{"-C, --continue-at and -r, --range exclude each other"}
	case o.resume != resumeNot && o.posted() != nil:
		return &usageError{"-C, --continue-at and -d, --data exclude each other"}
	case o.resume != resumeNot && o.clobber == clobberNever:
		return &usageError{"-C, --continue-at and --no-clobber exclude each other"}
	case o.resume != resumeNot && o.removeOnError:
		return &usageError{"-C, --continue-at and --remove-on-error exclude each other"}
	case (o.etagSave != "" || o.etagCompare != "") && len(o.urls) > 1:
		return &usageError{"--etag-compare and --etag-save are for a single URL; use --next before the others"}
	case o.span != nil && o.uploading():
		return &usageError{"-r, --range is no use in an upload; -C, --continue-at resumes one"}
	}
	return nil
}

// fetches reports whether there is a way to fetch URLs of a scheme.
func (o *operation) fetches(scheme string) bool {
	return o.gateways[scheme] != "" || slices.Contains(fetch1738.Schemes(), scheme)
}

// count is how many transfers the URLs stand for.
func (o *operation) count() int64 {
	n := int64(0)
	for i := range o.urls {
		urls, sources, _ := o.globs(i) // a malformed one fails as one
		n = min(glob.MaxCount, n+urls.Count()*sources.Count())
	}
	return n
}

// globs are the URLs that the n-th one typed stands for, and what is uploaded to
// each of them; "" is nothing. After an error they are what was typed.
func (o *operation) globs(n int) (urls, sources glob.Glob, err error) {
	typed, source := o.urls[n], ""
	if n < len(o.uploads) {
		source = o.uploads[n]
	}
	urls, sources = glob.Fixed(typed), glob.Fixed(source)
	if o.globOff {
		return urls, sources, nil
	}
	var err1, err2 error
	if !o.listed[n] {
		urls, err1 = glob.Parse(typed)
	}
	sources, err2 = glob.Parse(source)
	if err := cmp.Or(err1, err2); err != nil {
		return glob.Fixed(typed), glob.Fixed(source), &codedError{exitBadURL, err}
	}
	return urls, sources, nil
}

// uploading reports whether anything is to be uploaded. -T "" is for a URL to
// which nothing is, where others follow.
func (o *operation) uploading() bool {
	return slices.ContainsFunc(o.uploads, func(name string) bool { return name != "" })
}

// output is where the n-th URL's document goes.
func (o *operation) output(n int) destination {
	switch {
	case n < len(o.outputs):
		return o.outputs[n]
	case o.remoteNameAll, o.listed[n]:
		return destination{remote: true}
	}
	return destination{}
}

// A schemeSet is the schemes that may be used; nil is all.
type schemeSet []string

func (s schemeSet) has(scheme string) bool { return s == nil || slices.Contains(s, scheme) }

// schemes reads "=ftp,gopher", "-http", "all,-file" and the like.
func schemes(field func(*operation) *schemeSet) setter {
	return func(c *commandLine, value string) error {
		set := field(c.op)
		known := fetch1738.Schemes()
		if *set == nil {
			*set = slices.Clone(known)
		}
		for word := range strings.SplitSeq(value, ",") {
			name := strings.ToLower(strings.TrimLeft(word, "+-="))
			named := []string{name}
			switch modifiers := word[:len(word)-len(name)]; {
			case name == "all":
				named = known
				fallthrough
			case slices.Contains(known, name):
				set.apply(modifiers, named)
			case strings.Contains(modifiers, "="):
				*set = schemeSet{}
			}
		}
		if len(*set) == 0 {
			return errors.New("no scheme is left")
		}
		return nil
	}
}

// apply adds schemes; with "-" it removes them, with "=" it removes the others.
func (s *schemeSet) apply(modifiers string, names []string) {
	switch {
	case strings.Contains(modifiers, "="):
		*s = slices.Clone(names)
	case strings.Contains(modifiers, "-"):
		*s = slices.DeleteFunc(*s, func(name string) bool { return slices.Contains(names, name) })
		if *s == nil {
			*s = schemeSet{}
		}
	default:
		*s = append(*s, names...)
	}
}

func addPort(c *commandLine, value string) error {
	n, err := strconv.ParseUint(value, 10, 16)
	if err != nil || n == 0 {
		return errors.New("expected a port, 1 to 65535")
	}
	c.op.rules.AllowPorts = append(c.op.rules.AllowPorts, uint16(n))
	return nil
}

func addZone(c *commandLine, value string) error {
	zone, err := policy.ParseZone(value)
	c.op.rules.AllowZones = append(c.op.rules.AllowZones, zone)
	return err
}

// addGateway reads "SCHEME=URL".
func addGateway(c *commandLine, value string) error {
	scheme, url, found := strings.Cut(value, "=")
	if !found || scheme == "" || !strings.Contains(url, ":") {
		return errors.New("expected SCHEME=URL, such as wais=http://127.0.0.1:8118/?url={url}")
	}
	if c.op.gateways == nil {
		c.op.gateways = make(map[string]string)
	}
	c.op.gateways[strings.ToLower(scheme)] = url
	return nil
}
