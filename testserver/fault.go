package testserver

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// Fault is one way in which a server misbehaves, armed by [Server.On]. It is a value: it may be
// kept in tables and printed.
type Fault struct {
	kind  faultKind
	n     int64
	every time.Duration
	name  string
	text  string
}

type faultKind string

const (
	fDelay         faultKind = "Delay"
	fGather        faultKind = "Gather"
	fReply         faultKind = "Reply"
	fExtraReply    faultKind = "ExtraReply"
	fNoFinalReply  faultKind = "NoFinalReply"
	fSilence       faultKind = "Silence"
	fClose         faultKind = "Close"
	fEndlessLine   faultKind = "EndlessLine"
	fTruncate      faultKind = "Truncate"
	fReset         faultKind = "Reset"
	fDrip          faultKind = "Drip"
	fSplit         faultKind = "Split"
	fGarble        faultKind = "Garble"
	fData          faultKind = "Data"
	fStatus        faultKind = "Status"
	fHeader        faultKind = "Header"
	fContentLength faultKind = "ContentLength"
	fChunked       faultKind = "Chunked"
	fEndlessHeader faultKind = "EndlessHeaders"
	fNoDot         faultKind = "NoDot"
	fLoneDot       faultKind = "LoneDot"
	fNoStuffing    faultKind = "NoStuffing"
	fBareLF        faultKind = "BareLF"
	fPlusHeader    faultKind = "PlusHeader"
	fTrailer       faultKind = "Trailer"
	fNoColon       faultKind = "NoColon"
	fPlusError     faultKind = "PlusError"
	fEmptyAnswer   faultKind = "EmptyAnswer"
	fAnnounce      faultKind = "Announce"
	fDiagnostic    faultKind = "Diagnostic"
	fLose          faultKind = "Lose"
	fLoss          faultKind = "Loss"
	fDuplicate     faultKind = "Duplicate"
	fReorder       faultKind = "Reorder"
	fWait          faultKind = "Wait"
	fSendTo        faultKind = "SendTo"
	fRefuse        faultKind = "Refuse"
	fFromStart     faultKind = "FromStart"
)

// String returns the constructor call with its arguments.
func (f Fault) String() string {
	var args string
	switch f.kind {
	case fDelay:
		args = f.every.String()
	case fGather, fTruncate, fReset, fSplit, fContentLength, fStatus:
		args = fmt.Sprint(f.n)
	case fDrip:
		args = fmt.Sprintf("%d, %v", f.n, f.every)
	case fLoss:
		args = fmt.Sprintf("%d, %s", f.n, f.text)
	case fWait:
		args = fmt.Sprintf("%v, %d", f.every, f.n)
	case fReply, fExtraReply, fData, fPlusHeader, fTrailer, fAnnounce, fSendTo:
		args = shorten(f.text)
	case fGarble, fPlusError:
		args = fmt.Sprintf("%d, %s", f.n, shorten(f.text))
	case fHeader, fDiagnostic:
		args = fmt.Sprintf("%q, %s", f.name, shorten(f.text))
	}
	return string(f.kind) + "(" + args + ")"
}

func shorten(s string) string {
	if len(s) > 60 {
		return fmt.Sprintf("%.60q…(%d bytes)", s, len(s))
	}
	return fmt.Sprintf("%q", s)
}

// Delay waits for d before the answer, or before the greeting of a connection. Together with Gather,
// the time begins when Gather ends.
func Delay(d time.Duration) Fault { return Fault{kind: fDelay, every: d} }

// Gather delays the answer until the stage has been reached n times since the fault was armed.
// On("GREETING", 1, Gather(2)) holds the first connection until there is a second one.
func Gather(n int) Fault { return Fault{kind: fGather, n: int64(n)} }

// Reply sends text instead of the server's own reply. Lines are separated by "\n"; a last CR LF is
// added.
//
// FTP carries the command out anyway if the text begins with 1, 2 or 3. In a transfer a text with 1
// replaces the first reply and one with 2 the last. Any other text refuses the transfer. If a fault
// of the data (Truncate, Reset, Drip, Split, Garble, Data) is armed with it, the text is the last
// reply of the transfer instead. HTTP, Gopher and WAIS send the text as the whole response and
// close. At CONNECT the text is sent and the connection closed.
func Reply(text string) Fault { return Fault{kind: fReply, text: text} }

// ExtraReply sends one more reply immediately after the regular one; "" repeats the regular one.
func ExtraReply(text string) Fault { return Fault{kind: fExtraReply, text: text} }

// NoFinalReply omits the last reply to an FTP transfer; the session continues.
func NoFinalReply() Fault { return Fault{kind: fNoFinalReply} }

// Silence sends no answer, and nothing later on the connection, which stays open until the client
// or the server ends.
func Silence() Fault { return Fault{kind: fSilence} }

// Close closes the connection in order (with a FIN) instead of answering.
func Close() Fault { return Fault{kind: fClose} }

// EndlessLine answers with a line that has no end, until the client closes.
func EndlessLine() Fault { return Fault{kind: fEndlessLine} }

// Truncate stops sending after n bytes and closes the connection in order. The bytes are counted
//
//   - in the data of an FTP transfer,
//   - in the body of an HTTP response,
//   - in the answer of Gopher or a message of WAIS,
//   - in the reply of NNTP with the block behind it,
//   - otherwise in the reply.
//
// Of an upload n bytes are read, except by NNTP.
func Truncate(n int64) Fault { return Fault{kind: fTruncate, n: n} }

// Reset is like Truncate with a TCP reset instead of an orderly close.
func Reset(n int64) Fault { return Fault{kind: fReset, n: n} }

// Drip sends n bytes at a time and waits d after each write.
func Drip(n int, d time.Duration) Fault { return Fault{kind: fDrip, n: int64(n), every: d} }

// Split sends n bytes at a time.
func Split(n int) Fault { return Fault{kind: fSplit, n: int64(n)} }

// Garble overwrites the bytes that begin at offset.
func Garble(offset int64, octets string) Fault {
	return Fault{kind: fGarble, n: offset, text: octets}
}

// Data replaces the data of an FTP transfer, the body of an HTTP response or the answer of Gopher.
// In WAIS it replaces a message with its header, in NNTP a block with its final dot.
func Data(octets string) Fault { return Fault{kind: fData, text: octets} }

// FromStart answers a request for the rest of a file as usual, but sends the file from its beginning.
// FTP has it at REST, which is answered with 350. HTTP has it for Range: the header of the 206 is the
// usual one, and as many bytes follow.
func FromStart() Fault { return Fault{kind: fFromStart} }

// Garbage answers with n pseudo-random bytes and a line end. The seed determines the bytes; there
// is no line end among them.
func Garbage(n int, seed uint64) Fault {
	r := rand.New(rand.NewPCG(seed, 1738))
	noise := make([]byte, n)
	for i := range noise {
		for noise[i] = byte(r.Uint32()); noise[i] == '\n' || noise[i] == '\r'; {
			noise[i] = byte(r.Uint32())
		}
	}
	return Reply(string(noise))
}

// plan is the sum of all faults for one occurrence of a stage.
type plan struct {
	octets
	delay   time.Duration
	gather  []<-chan struct{} // closed when the stage has been reached often enough
	reply   *string
	extra   *string
	data    *string
	noFinal bool
	silence bool
	close   bool
	endless bool
	start   bool // FromStart
	http    httpFaults
	gopher  gopherFaults
	wais    waisFaults
	ardp    ardpFaults
}

// octets are the faults of a stream of bytes.
type octets struct {
	cut     bool
	cutAt   int64
	reset   bool
	step    int // bytes in each write; 0 means no limit
	pause   time.Duration
	garbles []Fault
}

// any reports whether there is a fault to apply to the stream.
func (o *octets) any() bool { return o.cut || o.step > 0 || len(o.garbles) > 0 }

func (p *plan) add(f Fault) {
	switch f.kind {
	case fDelay:
		p.delay += f.every
	case fReply:
		p.reply = &f.text
	case fExtraReply:
		p.extra = &f.text
	case fNoFinalReply:
		p.noFinal = true
	case fSilence:
		p.silence = true
	case fClose:
		p.close = true
	case fEndlessLine:
		p.endless = true
	case fTruncate, fReset:
		p.cut, p.cutAt, p.reset = true, f.n, f.kind == fReset
	case fDrip:
		p.step, p.pause = max(1, int(f.n)), f.every
	case fSplit:
		p.step = max(1, int(f.n))
	case fGarble:
		p.garbles = append(p.garbles, f)
	case fData:
		p.data = &f.text
	case fFromStart:
		p.start = true
	default:
		p.http.add(f)
		p.gopher.add(f)
		p.wais.add(f)
		p.ardp.add(f)
	}
}

// garble applies the overwriting to p, which starts at offset in the stream.
func (o *octets) garble(offset int64, p []byte) []byte {
	if len(o.garbles) == 0 {
		return p
	}
	p = bytes.Clone(p)
	for _, g := range o.garbles {
		for i := range len(g.text) {
			if at := g.n + int64(i) - offset; at >= 0 && at < int64(len(p)) {
				p[at] = g.text[i]
			}
		}
	}
	return p
}

// abilities lists the faults that a server has at each stage. The key "" is for all stages that are
// not listed.
type abilities map[string][]faultKind

// ofStreams returns the faults that every server of connections has at every stage.
func ofStreams() []faultKind {
	return []faultKind{fDelay, fGather, fReply, fSilence, fClose, fEndlessLine, fTruncate, fReset, fDrip, fSplit, fGarble}
}

// streaming returns the abilities of a server of connections that has the faults of ofStreams and
// more. CONNECT is below its protocol.
func streaming(more ...faultKind) abilities {
	return abilities{"CONNECT": ofStreams(), "": append(ofStreams(), more...)}
}

// lacks looks for a fault that a server does not have at a stage.
func (a abilities) lacks(stage string, fault []Fault) (lacking Fault, found bool) {
	kinds, ok := a[stageKey(stage)]
	if !ok {
		kinds = a[""]
	}
	i := slices.IndexFunc(fault, func(f Fault) bool { return !slices.Contains(kinds, f.kind) })
	if i < 0 {
		return Fault{}, false
	}
	return fault[i], true
}

// faults are the armed faults of a server.
type faults struct {
	server string // the kind of server, for messages
	known  abilities
	mu     sync.Mutex
	armed  []*rule
}

type rule struct {
	stage string
	nth   int
	fault []Fault
	seen  int // occurrences of the stage since it was armed
	full  int // the number of occurrences that Gather waits for, or 0
	come  chan struct{}
}

// reached counts an occurrence of the stage.
func (r *rule) reached() {
	if r.seen++; r.seen == r.full {
		close(r.come)
	}
}

// String returns the call that armed the rule.
func (r *rule) String() string {
	args := make([]string, len(r.fault))
	for i, f := range r.fault {
		args[i] = f.String()
	}
	return fmt.Sprintf("On(%q, %d, %s)", r.stage, r.nth, strings.Join(args, ", "))
}

func (f *faults) add(stage string, nth int, fault []Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := &rule{stage: stageKey(stage), nth: nth, fault: fault, come: make(chan struct{})}
	if i := slices.IndexFunc(fault, func(f Fault) bool { return f.kind == fGather }); i >= 0 {
		r.full = max(1, int(fault[i].n))
	}
	f.armed = append(f.armed, r)
}

func (f *faults) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.armed {
		if r.seen < r.full {
			close(r.come)
		}
	}
	f.armed = nil
}

// at returns the faults armed for an event that has all the given stage names.
func (f *faults) at(stages ...string) *plan {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := new(plan)
	for _, r := range f.armed {
		if !slices.ContainsFunc(stages, func(s string) bool { return stageKey(s) == r.stage }) {
			continue
		}
		if r.reached(); r.nth == 0 || r.nth == r.seen {
			for _, fault := range r.fault {
				p.add(fault)
			}
			if r.full > 0 {
				p.gather = append(p.gather, r.come)
			}
		}
	}
	return p
}

// unseen returns the rules whose occurrence has not come.
func (f *faults) unseen() []*rule {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.armed), func(r *rule) bool { return r.seen > 0 && r.seen >= max(r.nth, r.full) })
}

// stageKey folds the letter case of the command but not that of its argument.
func stageKey(stage string) string {
	verb, arg, ok := strings.Cut(stage, " ")
	if !ok {
		return strings.ToUpper(verb)
	}
	return strings.ToUpper(verb) + " " + arg
}
