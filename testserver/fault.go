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

// Fault is one way to misbehave, armed by [Server.On]. It is data: it may be
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
)

// String is the constructor call with its arguments.
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
		return fmt.Sprintf("%.60q…(%d octets)", s, len(s))
	}
	return fmt.Sprintf("%q", s)
}

// Delay waits before the answer, or before the greeting of a connection.
func Delay(d time.Duration) Fault { return Fault{kind: fDelay, every: d} }

// Gather waits before the answer until the stage has been reached n times since
// the fault was armed: On("GREETING", 1, Gather(2)) holds the first connection
// until there is a second one.
func Gather(n int) Fault { return Fault{kind: fGather, n: int64(n)} }

// Reply gives another reply; lines are separated by "\n", a last CR LF is added.
//
// FTP carries the command out all the same if the text begins with 1, 2 or 3.
// In a transfer a text with 1 stands for the first reply, one with 2 for the
// last; any other refuses the transfer, or is its last reply if a fault of
// octets (Truncate, Reset, Drip, Split, Garble, Data) is armed beside it.
// HTTP sends the text as the whole response and closes; so do Gopher and WAIS. At
// CONNECT it is sent and the connection closed.
func Reply(text string) Fault { return Fault{kind: fReply, text: text} }

// ExtraReply sends one more reply after the one due, at once; "" is the same again.
func ExtraReply(text string) Fault { return Fault{kind: fExtraReply, text: text} }

// NoFinalReply leaves out the reply at the end of an FTP transfer and carries on.
func NoFinalReply() Fault { return Fault{kind: fNoFinalReply} }

// Silence never answers, nor anything later on the connection, which stays open
// until the client or the server ends.
func Silence() Fault { return Fault{kind: fSilence} }

// Close ends the connection in order instead of answering.
func Close() Fault { return Fault{kind: fClose} }

// EndlessLine answers with a line that has no end, until the client closes.
func EndlessLine() Fault { return Fault{kind: fEndlessLine} }

// Truncate ends what is sent after n octets and closes in order. What is counted
// is the data of an FTP transfer, the body of an HTTP response, the answer of
// Gopher, a message of WAIS, the reply of NNTP with the block behind it, else the
// reply. An upload is read up to n octets, but not by NNTP.
func Truncate(n int64) Fault { return Fault{kind: fTruncate, n: n} }

// Reset is Truncate with a TCP reset instead of an orderly end.
func Reset(n int64) Fault { return Fault{kind: fReset, n: n} }

// Drip sends n octets at a time and waits d after each.
func Drip(n int, d time.Duration) Fault { return Fault{kind: fDrip, n: int64(n), every: d} }

// Split sends n octets at a time.
func Split(n int) Fault { return Fault{kind: fSplit, n: int64(n)} }

// Garble overwrites the octets from offset on.
func Garble(offset int64, octets string) Fault {
	return Fault{kind: fGarble, n: offset, text: octets}
}

// Data replaces the data of a transfer, the body of a response, the answer of
// Gopher, a message of WAIS with its header, or the block of NNTP, final dot and all.
func Data(octets string) Fault { return Fault{kind: fData, text: octets} }

// Garbage answers with n octets of noise and a line end. The noise follows from
// the seed and has no line end in it.
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

// plan is what a set of faults comes to for one occurrence.
type plan struct {
	octets
	delay   time.Duration
	gather  []<-chan struct{} // closed when enough have come
	reply   *string
	extra   *string
	data    *string
	noFinal bool
	silence bool
	close   bool
	endless bool
	http    httpFaults
	gopher  gopherFaults
	wais    waisFaults
	ardp    ardpFaults
}

// octets are the faults of a stream of octets.
type octets struct {
	cut     bool
	cutAt   int64
	reset   bool
	step    int // octets a write; 0: as they come
	pause   time.Duration
	garbles []Fault
}

// any tells whether there is something to do to the octets.
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
	default:
		p.http.add(f)
		p.gopher.add(f)
		p.wais.add(f)
		p.ardp.add(f)
	}
}

// garble applies the overwriting to octets that start at offset in the stream.
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

// abilities are the faults that a server has at its stages; those of the stage
// "" are had at every stage that is not named.
type abilities map[string][]faultKind

// ofStreams are the faults that every server of connections has at every stage.
func ofStreams() []faultKind {
	return []faultKind{fDelay, fGather, fReply, fSilence, fClose, fEndlessLine, fTruncate, fReset, fDrip, fSplit, fGarble}
}

// streaming are the abilities of a server of connections with more faults than
// every one has. CONNECT is below its protocol.
func streaming(more ...faultKind) abilities {
	return abilities{"CONNECT": ofStreams(), "": append(ofStreams(), more...)}
}

// lacks finds a fault that a server does not have at a stage.
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

// faults are the armed ones.
type faults struct {
	server string // what it is a server of, for messages
	known  abilities
	mu     sync.Mutex
	armed  []*rule
}

type rule struct {
	stage string
	nth   int
	fault []Fault
	seen  int // occurrences of the stage since it was armed
	full  int // the occurrence that Gather waits for, or 0
	come  chan struct{}
}

// reached counts an occurrence of the stage.
func (r *rule) reached() {
	if r.seen++; r.seen == r.full {
		close(r.come)
	}
}

// String is the call that armed the rule.
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

// at gives what is armed for an event, which goes by each of the stages' names.
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

// unseen are the rules whose occurrence has not come.
func (f *faults) unseen() []*rule {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.armed), func(r *rule) bool { return r.seen > 0 && r.seen >= max(r.nth, r.full) })
}

// stageKey folds the letter case of the command but not of its argument.
func stageKey(stage string) string {
	verb, arg, ok := strings.Cut(stage, " ")
	if !ok {
		return strings.ToUpper(verb)
	}
	return strings.ToUpper(verb) + " " + arg
}
