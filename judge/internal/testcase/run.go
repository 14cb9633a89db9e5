package testcase

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
)

// Run is a case that runs: what its client is given, is to achieve and must not do, and its
// servers.
type Run struct {
	Scheme string
	Task   Task
	Ctx    context.Context // of the servers; it ends with the run

	Client Environment
	Goal   Goal
	Never  Prohibitions

	Servers []*testserver.Server
	Kinds   []string    // the names of the faults that were armed, for a test
	Seen    func() bool // whether the case came up, if no fault says so

	// What cases of reports set, which say for themselves what is right.
	Judged func() Wrong // returns what is wrong with what the client has achieved
	Again  func() error // changes the server, after which the client does the task once more
	Ended  func()       // ends what the case has started

	armed  int // how often faults were armed
	cancel func()
}

// newRun returns a run whose folders do not exist yet.
func newRun(ctx context.Context, scheme string, task Task) *Run {
	r := &Run{Scheme: scheme, Task: task, Goal: Goal{Same: bytes.Equal, Size: 1000, Base: "pub"}}
	r.Ctx, r.cancel = context.WithCancel(ctx)
	return r
}

// begin makes the folders, calls set, which starts the servers, and writes what the client finds.
func (r *Run) begin(below string, set func(*Run)) {
	r.Client.create(below)
	set(r)
	r.Goal.write(r.Task, &r.Client)
	if r.Task == Deploy {
		r.Goal.had = r.Goal.held(r.Servers[0])
	}
	r.Client.before = r.Client.snapshot()
}

// End closes the servers and removes the folder.
func (r *Run) End() {
	r.cancel()
	for _, srv := range r.all() {
		_ = srv.Close()
	}
	for _, o := range r.Never.observers {
		o.close()
	}
	if r.Ended != nil {
		r.Ended()
	}
	r.Client.remove()
}

// all returns the servers, those of another host included.
func (r *Run) all() []*testserver.Server { return slices.Concat(r.Servers, r.Never.Foreign) }

// Server is a server of any protocol.
type Server interface {
	Arm(stage string, n int, faults ...testserver.Fault) error
	Put(name string, data []byte) error
	Transcript() testserver.Transcript
}

// Serve adds a server that was started, and gives it the files of the task.
func (r *Run) Serve(srv *testserver.Server) {
	r.Servers = append(r.Servers, srv)
	for name, data := range r.Goal.serve(r.Task) {
		Check(srv.Put(name, data))
	}
}

// At sets the URL of the task at a server.
func (r *Run) At(base string) {
	target := map[Task]string{Download: "/pub/file.bin", Resume: "/pub/file.bin", List: "/pub/", Upload: "/incoming/new.bin", Tree: "/pub/", Deploy: "/pub/"}
	r.Client.URL = base + target[r.Task]
}

// Users are the accounts of servers with a login.
func Users() map[string]testserver.User {
	return map[string]testserver.User{User: {Password: Password}}
}

// Arm arms faults of a server.
func (r *Run) Arm(srv Server, at string, n int, faults ...testserver.Fault) {
	r.armed++
	for _, f := range faults {
		r.Kinds = append(r.Kinds, f.Armed().Kind.Name)
	}
	Check(srv.Arm(at, n, faults...))
}

// Put stores a file at a server.
func Put(srv Server, name string, data []byte) { Check(srv.Put(name, data)) }

// Observe listens at an address, such as "127.0.0.2:0", and sends says to each client, which must
// not send secrets there: about names them in the message. It returns the port.
func (r *Run) Observe(addr, says, about string) int {
	o := observe(r.Ctx, addr, says, about)
	r.Never.observers = append(r.Never.observers, o)
	return o.Addr().(*net.TCPAddr).Port
}

// Settle waits until the servers have recorded what the client did.
func (r *Run) Settle() {
	ctx, cancel := context.WithTimeout(r.Ctx, settleTime)
	defer cancel()
	for _, srv := range r.all() {
		_ = srv.WaitIdle(ctx)
	}
}

const settleTime = 2 * time.Second

// Pending returns how many calls of Arm have no fault that has acted. A client that reads the first one
// may leave before the server comes to another.
func (r *Run) Pending() int {
	idle := 0
	for _, srv := range r.Servers {
		pending, ok := srv.PendingFaults().(interface{ Unwrap() []error })
		if !ok {
			continue
		}
		for _, err := range pending.Unwrap() { // one for each call of Arm
			if p, ok := err.(interface{ Partly() bool }); !ok || !p.Partly() {
				idle++
			}
		}
	}
	return idle
}

// Met reports whether one of the faults has acted.
func (r *Run) Met() bool {
	if r.Seen != nil {
		return r.Seen()
	}
	return r.armed == 0 || r.Pending() < r.armed
}

// Transcript returns what went over the control connections.
func (r *Run) Transcript() string {
	var text strings.Builder
	for i, srv := range r.all() {
		if i > 0 {
			fmt.Fprintf(&text, "-- %s\n", srv.URL)
		}
		text.WriteString(srv.Transcript().String())
	}
	const most = 20_000
	if all := text.String(); len(all) > most {
		return all[:most/2] + "\n…\n" + all[len(all)-most/2:]
	}
	return text.String()
}

// Wrong returns what is wrong with what the client has achieved.
func (r *Run) Wrong() Wrong {
	if r.Judged != nil {
		return r.Judged()
	}
	return r.Missed()
}

// Missed compares what the client has achieved with the goal.
func (r *Run) Missed() Wrong { return r.Goal.missed(r.Task, &r.Client, r.Servers) }

// Harm returns what was written outside of the folders of the case, or which secret went where it
// must not.
func (r *Run) Harm() Wrong {
	if harm := r.Client.changed(); harm != (Wrong{}) {
		return harm
	}
	uploads := func(text []byte) bool { return r.Task == Upload && r.Goal.isUpload(text) }
	if harm := r.Never.violated(&r.Client, r.Servers, uploads); harm != (Wrong{}) {
		return harm
	}
	if r.Task == Deploy {
		return r.Goal.damaged(&r.Client, r.Servers[0])
	}
	return Wrong{}
}
