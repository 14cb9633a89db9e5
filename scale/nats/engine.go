// Package nats is the engine of package scale on NATS JetStream. A crawl named "crawl" has
//
//   - the stream crawl-work, a message for each unit that is due or taken. NATS redelivers it if its
//     owner does not answer
//   - the stream crawl-links, the links for each unit
//   - the key-value buckets crawl-units, with the State of each unit, crawl-leases, whose keys end if
//     nobody renews them, and crawl-nodes
//   - the object store crawl-files, unless another Store is used
//
// All of them are files of the server. NATS's own clock decides when a lease ends.
package nats

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	// nats.go is the client of a NATS server, by its authors. JetStream has all that an engine must do:
	// queues, keys that expire, and objects, each replicated by the servers. It takes no service of a
	// cloud, and the server can be a part of the program.
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	// nkeys has the keys of NATS' users, as its client and server take them. It is a part of both.
	// Passwords would have to be kept by the server.
	"github.com/nats-io/nkeys"

	"github.com/fetch1738/fetch1738/scale"
)

// DefaultURL is the server that a command without another one uses.
const DefaultURL = nats.DefaultURL

// DefaultTTL is how long a lease lasts that is not renewed.
const DefaultTTL = 30 * time.Second

// Options are those of Open. The zero value is a server on this machine.
type Options struct {
	// URL is the server, or several with commas between them; "" means DefaultURL.
	URL string
	// Seed is the name of the file with the seed of an nkey to log in with; "" means no login.
	Seed string
	// Crawl is the name of the crawl: letters, digits, "-" and "_". Several can share a server. ""
	// means "crawl".
	Crawl string
	// TTL is how long a lease lasts that is not renewed. It is renewed three times in that time. All
	// nodes must have the same. 0 means DefaultTTL.
	TTL time.Duration
	// MaxUnits is the number of units beyond which links create none; 0 means no limit. A URL that a
	// user has added always does.
	MaxUnits int
	// Replicas is how many servers of a cluster of NATS keep everything; 0 means 1.
	Replicas int
}

// An Engine implements scale.Engine. Its methods are safe for concurrent use. The caller must close
// it.
type Engine struct {
	o    Options
	conn *nats.Conn
	js   jetstream.JetStream

	links, work   jetstream.Stream
	consumer      jetstream.Consumer
	units, leases jetstream.KeyValue
	nodes         jetstream.KeyValue

	pull    sync.Mutex // one Take at a time asks for work
	known   sync.Map   // units that are known to exist
	count   atomic.Int64
	torn    atomic.Bool // the connection was lost, or mend has failed
	ctx     context.Context
	cancel  context.CancelFunc
	renewal sync.WaitGroup
}

var _ scale.Engine = (*Engine)(nil)

var crawlName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Open connects to a server, and creates what the crawl needs there. The context is for that only.
// Errors do not have the URL in them, which may have a password.
func Open(ctx context.Context, o Options) (*Engine, error) {
	if o.URL == "" {
		o.URL = DefaultURL
	}
	if o.Crawl == "" {
		o.Crawl = "crawl"
	}
	if !crawlName.MatchString(o.Crawl) {
		return nil, fmt.Errorf("the name of a crawl has only letters, digits, - and _; %q has others", o.Crawl)
	}
	if o.TTL == 0 {
		o.TTL = DefaultTTL
	}
	login, err := o.login()
	if err != nil {
		return nil, err
	}
	e := &Engine{o: o}
	conn, err := nats.Connect(o.URL, append(login,
		nats.Name("fetch1738-crawl"), nats.MaxReconnects(-1), nats.ReconnectWait(o.TTL/60), nats.ReconnectJitter(o.TTL/60, o.TTL/60),
		nats.ReconnectHandler(func(*nats.Conn) { e.torn.Store(true) }),
		nats.ReconnectBufSize(-1),                                         // what is sent while there is no connection must fail
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // each caller gets its error
	)...)
	if err != nil {
		return nil, err
	}
	e.conn = conn
	e.ctx, e.cancel = context.WithCancel(context.Background())
	if err := e.create(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// login returns the option to log in. The errors of nkeys do not have the seed in them.
func (o *Options) login() ([]nats.Option, error) {
	if o.Seed == "" {
		return nil, nil
	}
	text, err := os.ReadFile(o.Seed)
	if err != nil {
		return nil, err
	}
	pair, err := nkeys.ParseDecoratedNKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s: this is not the seed of an nkey: %w", o.Seed, err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Seed, err)
	}
	return []nats.Option{nats.Nkey(public, pair.Sign)}, nil
}

// create creates the streams and buckets.
func (e *Engine) create(ctx context.Context) (err error) {
	if e.js, err = jetstream.New(e.conn); err != nil {
		return err
	}
	e.work, err = e.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: e.o.Crawl + "-work", Subjects: []string{e.workSubject(">")}, Retention: jetstream.WorkQueuePolicy,
		MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, Replicas: e.o.Replicas,
	})
	if err != nil {
		return err
	}
	e.links, err = e.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: e.o.Crawl + "-links", Subjects: []string{e.linksSubject(">")}, AllowDirect: true, Replicas: e.o.Replicas,
	})
	if err != nil {
		return err
	}
	e.consumer, err = e.work.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: "nodes", AckPolicy: jetstream.AckExplicitPolicy, AckWait: e.o.TTL,
		MaxAckPending: -1, // a unit that waits counts, too
	})
	if err != nil {
		return err
	}
	for name, bucket := range map[string]*jetstream.KeyValue{"units": &e.units, "leases": &e.leases, "nodes": &e.nodes} {
		c := jetstream.KeyValueConfig{Bucket: e.o.Crawl + "-" + name, Replicas: e.o.Replicas}
		if name != "units" {
			c.TTL = e.o.TTL
		}
		if *bucket, err = e.js.CreateOrUpdateKeyValue(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) workSubject(key string) string  { return e.o.Crawl + ".work." + key }
func (e *Engine) linksSubject(key string) string { return e.o.Crawl + ".links." + key }

// Close ends the connection. Leases that were not released end by themselves.
func (e *Engine) Close() error {
	e.cancel()
	e.renewal.Wait()
	e.conn.Close()
	return nil
}

// exceeded reports that a subject has its message already.
func exceeded(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && api.ErrorCode == 10077 // "maximum messages per subject exceeded"
}

// outdated reports that a key has another revision than expected, or exists already.
func outdated(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return errors.Is(err, jetstream.ErrKeyExists) || ok && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence
}
