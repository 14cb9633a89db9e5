package interop

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/deploy"
	"github.com/fetch1738/fetch1738/download"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway"
	"github.com/fetch1738/fetch1738/internal/raced"
	"github.com/fetch1738/fetch1738/judge"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/remotefs"
	"github.com/fetch1738/fetch1738/transport"
)

// A peer is a client that can be judged.
type peer struct {
	name    string
	task    judge.Task
	schemes []string
	client  judge.Client
}

// TestJudgeOurs judges the command, the library, mirrors and the gateway. They must never lie,
// crash or hang, and judge/gaveup.txt has a reason for each case in which one gives up.
func TestJudgeOurs(t *testing.T) {
	if raced.Enabled {
		t.Skip("it takes too long; .ci/run runs it without the race detector")
	}
	t.Parallel()
	reasons := givenUp(t)
	peers := append(ours(), slices.DeleteFunc(commands(t), func(p peer) bool { return p.name != "fetch1738" })...)
	for _, p := range peers {
		t.Run(fmt.Sprintf("%s/%s/%s", p.name, p.task, strings.Join(p.schemes, ",")), func(t *testing.T) {
			t.Parallel()
			// A client that hangs is found later, but one on a busy machine does not seem to hang.
			for r := range (&judge.Judge{Client: p.client, Folder: t.TempDir(), Limit: 10 * judge.Limit}).All(t.Context(), p.cases()) {
				switch reason := reasons[r.Case.Name]; {
				case r.Verdict > judge.GaveUp:
					t.Errorf("%s: %v: %s\n%s\n%s", r.Case.Name, r.Verdict, r.Why(), r.Case.Does, r.Transcript)
				case r.Verdict == judge.GaveUp && reason == "":
					t.Errorf("%s: gave up, without a reason in judge/gaveup.txt: %s\n%s\n%s", r.Case.Name, r.Why(), r.Case.Does, r.Transcript)
				}
			}
		})
	}
}

// givenUp returns the reasons of the cases in which one of ours gives up.
func givenUp(t *testing.T) map[string]string {
	text, err := os.ReadFile("judge/gaveup.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for _, c := range judge.Cases() {
		known[c.Name] = true
	}
	reasons := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		name, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" || name == "#" {
			continue
		}
		if reasons[name] = strings.TrimSpace(reason); reasons[name] == "" || !known[name] {
			t.Errorf("judge/gaveup.txt: %s has no reason, or is no case", name)
		}
	}
	return reasons
}

// cases returns the cases for a peer.
func (p peer) cases() []judge.Case { return p.among(judge.Cases()) }

// among returns the cases for a peer among others.
func (p peer) among(all []judge.Case) []judge.Case {
	return slices.DeleteFunc(all, func(c judge.Case) bool { return c.Task != p.task || !slices.Contains(p.schemes, c.Scheme) })
}

// commands are the clients of judge/clients.txt.
func commands(t *testing.T) (all []peer) {
	here, err := filepath.Abs("judge")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("judge/clients.txt")
	if err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("{here}", here, "{fetch1738}", buildCommand(t))
	var meanings []string // of the names in braces that the file defines
	for line := range strings.Lines(string(text)) {
		line = strings.NewReplacer(meanings...).Replace(strings.TrimSpace(line))
		if name, meaning, ok := strings.Cut(line, "} = "); ok && strings.HasPrefix(name, "{") {
			meanings = append(meanings, name+"}", meaning)
			continue
		}
		row := strings.SplitN(line, "|", 4)
		if len(row) < 4 || strings.HasPrefix(row[0], "#") {
			continue
		}
		words := splitWords(t, row[3])
		for i := range words {
			words[i] = fill.Replace(words[i])
		}
		all = append(all, peer{
			name: strings.TrimSpace(row[0]), task: judge.Task(strings.TrimSpace(row[1])),
			schemes: strings.Split(strings.TrimSpace(row[2]), ","), client: judge.Command(words...),
		})
	}
	return all
}

// splitWords splits a line as a shell does, with single and double quotes.
func splitWords(t *testing.T, line string) (words []string) {
	word, inside, quote := "", false, rune(0)
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, inside = c, true
		case quote == 0 && c == ' ':
			if inside {
				words = append(words, word)
			}
			word, inside = "", false
		default:
			word, inside = word+string(c), true
		}
	}
	if quote != 0 {
		t.Errorf("judge/clients.txt: a quote is not closed: %s", line)
	}
	if inside {
		words = append(words, word)
	}
	return words
}

// ours are clients of the library.
func ours() []peer {
	plain := []string{"ftp", "http", "https+h2", "gopher", "nntp"}
	with := func(use func(ctx context.Context, r *fetch1738.Resolver, c judge.Case) error) judge.Client {
		return func(ctx context.Context, c judge.Case) error {
			ctx, cancel := context.WithTimeout(ctx, 2*judge.Limit) // for data without an end
			defer cancel()
			r := judgedResolver()
			r.Env.TLS = func() (*tls.Config, error) { return judgedTLS(c) }
			defer r.Close()
			return use(ctx, r, c)
		}
	}
	return []peer{
		{"Get", judge.Download, plain, with(func(ctx context.Context, r *fetch1738.Resolver, c judge.Case) error {
			res, err := r.Get(ctx, c.URL)
			if err != nil {
				return err
			}
			return save(c.Out, res.Body)
		})},
		{"Download", judge.Download, plain, with(func(ctx context.Context, r *fetch1738.Resolver, c judge.Case) error {
			return download.File(ctx, r, c.URL, c.Out)
		})},
		{"Transport", judge.Download, []string{"ftp", "gopher", "nntp"}, with( // http is left to net/http
			func(ctx context.Context, r *fetch1738.Resolver, c judge.Case) error {
				return getHTTP(ctx, &transport.Transport{Resolver: r}, c)
			})},
		{"FS", judge.List, []string{"ftp"}, with(listFS)},
		{"Mirror", judge.Tree, []string{"ftp"}, with(mirrorTree)},
		{"Mirror", judge.Deploy, []string{"ftp", "http"}, with(deployTree)},
		{"Put", judge.Upload, []string{"ftp", "http", "https+h2"}, with(func(ctx context.Context, r *fetch1738.Resolver, c judge.Case) error {
			f, err := os.Open(c.Out)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = r.Put(ctx, c.URL, f)
			return err
		})},
		{"gateway", judge.Download, []string{"ftp", "gopher"}, with(throughGateway)},
	}
}

// judgedResolver returns a Resolver with short limits.
func judgedResolver() *fetch1738.Resolver {
	return &fetch1738.Resolver{Env: fetch.Env{
		Limits: fetch.Limits{Connect: 4 * time.Second, Reply: 4 * time.Second, Idle: 4 * time.Second},
	}}
}

// judgedTLS returns the settings of TLS for a case.
func judgedTLS(c judge.Case) (*tls.Config, error) {
	pem, err := os.ReadFile(c.CA)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	return &tls.Config{RootCAs: pool}, nil
}

// save writes a body to a file.
func save(name string, body io.ReadCloser) error {
	defer body.Close()
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, body)
	return errors.Join(err, f.Close())
}

// getHTTP fetches the document with net/http.
func getHTTP(ctx context.Context, rt http.RoundTripper, c judge.Case) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL, nil)
	if err != nil {
		return err
	}
	return receive(rt, req, c)
}

// receive saves the answer to a request.
func receive(rt http.RoundTripper, req *http.Request, c judge.Case) error {
	resp, err := (&http.Client{Transport: rt}).Do(req)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return errors.New(resp.Status)
	}
	return save(c.Out, resp.Body)
}

// netHTTP are clients of net/http: not ours, so only TestJudgeTable judges them.
func netHTTP() []peer {
	with := func(use func(ctx context.Context, rt http.RoundTripper, c judge.Case) error) judge.Client {
		return func(ctx context.Context, c judge.Case) error {
			ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			rt := &http.Transport{ForceAttemptHTTP2: true}
			defer rt.CloseIdleConnections()
			if c.CA != "" {
				var err error
				if rt.TLSClientConfig, err = judgedTLS(c); err != nil {
					return err
				}
			}
			return use(ctx, rt, c)
		}
	}
	schemes := []string{"http", "https", "https+h2"}
	return []peer{
		{"net/http", judge.Download, schemes, with(getHTTP)},
		{"net/http", judge.Upload, schemes, with(putHTTP)},
	}
}

// putHTTP sends the document with net/http.
func putHTTP(ctx context.Context, rt http.RoundTripper, c judge.Case) error {
	f, err := os.Open(c.Out)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, c.URL, f)
	if err != nil {
		return err
	}
	req.ContentLength = info.Size()
	req.GetBody = func() (io.ReadCloser, error) { return os.Open(c.Out) }
	resp, err := (&http.Client{Transport: rt}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return errors.New(resp.Status)
	}
	return nil
}

// listFS lists a directory with package fs.
func listFS(ctx context.Context, r *fetch1738.Resolver, c judge.Case) error {
	tree, err := remotefs.New(ctx, r, c.URL)
	if err != nil {
		return err
	}
	defer tree.Close()
	entries, err := tree.ReadDir(".")
	if err != nil {
		return err
	}
	var names strings.Builder
	for _, e := range entries {
		names.WriteString(e.Name() + "\n")
	}
	return os.WriteFile(c.Out, []byte(names.String()), 0o600)
}

// mirrorTree copies a tree.
func mirrorTree(ctx context.Context, r *fetch1738.Resolver, c judge.Case) error {
	ref, err := locator.Parser{}.Parse(c.URL)
	if err != nil {
		return err
	}
	got, err := (&mirror.Mirror{Fetcher: r, Start: ref.Locator, Dir: c.Dir}).Run(ctx)
	if err == nil && got.Failed+got.Unsure > 0 {
		err = fmt.Errorf("%+v", got)
	}
	return err
}

// deployTree brings a tree to a server.
func deployTree(ctx context.Context, r *fetch1738.Resolver, c judge.Case) error {
	req, err := r.Request(ctx, c.URL)
	if err != nil {
		return err
	}
	_, err = (&deploy.Upload{Fetcher: r, Start: req.Locator, Dir: c.Dir}).Run(ctx)
	return err
}

// throughGateway fetches a document through the gateway as a proxy, as a browser would.
func throughGateway(ctx context.Context, r *fetch1738.Resolver, c judge.Case) error {
	r.Env.Allow = func(context.Context, fetch.Target) error { return nil }
	s := httptest.NewServer(&gateway.Handler{Proxy: true, Resolver: r})
	defer s.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		return err
	}
	req.URL = &url.URL{Scheme: "http", Host: s.Listener.Addr().String(), Opaque: c.URL}
	return receive(&http.Transport{DisableKeepAlives: true}, req, c)
}

// TestJudgeTable judges the clients of judge/clients.txt, net/http and ours whose names are in JUDGE, or
// all for "all", and adds a line for each case to the file JUDGE_TO. It takes a minute for each
// row. JUDGE_ONLY selects cases, as --only does; "reports" are those of docs/reports.md.
func TestJudgeTable(t *testing.T) {
	wanted, to := os.Getenv("JUDGE"), os.Getenv("JUDGE_TO")
	if wanted == "" {
		t.Skip("set JUDGE to names of clients, separated by commas, and JUDGE_TO to a file")
	}
	file, err := os.OpenFile(to, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, p := range slices.Concat(ours(), netHTTP(), commands(t)) {
		if wanted != "all" && !slices.Contains(strings.Split(wanted, ","), p.name) {
			continue
		}
		cases := p.among(slices.Concat(judge.Cases(), judge.Reports()))
		for r := range (&judge.Judge{Client: p.client, Folder: t.TempDir()}).All(t.Context(), judge.Select(cases, strings.Fields(os.Getenv("JUDGE_ONLY"))...)) {
			line, err := json.Marshal(judgment{p.name, r.Case.Name, r.Case.Scheme + "/" + string(r.Case.Task), r.Verdict.String(), r.Why(), r.Met, r.Case.Plain()})
			if _, err2 := file.Write(append(line, '\n')); err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
		}
	}
}

// judgment is a line of the file that TestJudgeTable writes.
type judgment struct {
	Client, Case, Group, Verdict, Why string
	Met, Plain                        bool
}

const judgePage = "../../docs/judge.md"

// A column is a title with the groups of cases in it.
type column struct{ title, groups string }

// judgeTables are the tables of clients in docs/judge.md: the cases that are constructed, and reports.
var judgeTables = []struct {
	begin, end string
	reports    bool
	columns    []column
}{
	{"<!-- clients: JUDGE_FROM=FILE go test ./dev/interop -run TestJudgePage writes this -->\n", "<!-- end of clients -->\n", false, []column{
		{"ftp download", "ftp/download"}, {"ftp resume", "ftp/resume"}, {"ftp list", "ftp/list"}, {"ftp upload", "ftp/upload"}, {"ftp tree", "ftp/tree"}, {"ftp deploy", "ftp/deploy"},
		{"ftp with TLS", "ftp+tls/download ftp+tls/upload ftps/download ftps/upload"}, {"http download", "http/download https/download"},
		{"http resume", "http/resume"}, {"http upload", "http/upload"}, {"http deploy", "http/deploy"},
		{"http/2 download", "https+h2/download"}, {"http/2 upload", "https+h2/upload"}, {"gopher", "gopher/download gopher/list"}, {"nntp", "nntp/download"},
	}},
	{"<!-- clients in reports: the same command writes this, too -->\n", "<!-- end of clients in reports -->\n", true, []column{
		{"ftp download, resume", "ftp/download ftp/resume"}, {"ftp list", "ftp/list"}, {"ftp tree", "ftp/tree"}, {"ftp upload", "ftp/upload"}, {"ftp deploy", "ftp/deploy"},
		{"ftp with TLS", "ftp+tls/download ftp+tls/resume ftp+tls/list ftp+tls/upload ftp+tls/tree ftp+tls/deploy ftps/download ftps/resume ftps/list ftps/upload ftps/tree ftps/deploy"},
		{"http download, resume", "http/download http/resume https/download https/resume https+h2/download"}, {"http save", "http/save"}, {"http decode", "http/decode"},
		{"http upload, deploy", "http/upload http/deploy https/upload https+h2/upload"}, {"gopher", "gopher/download gopher/tree gopher/show"},
		{"news", "nntp/download nntp/upload nntp/tree nntp/show news/download"}, {"mail", "mailto/mail"}, {"texts", "text/extract"}, {"archives", "warc/unpack warc/verify"},
	}},
}

// TestJudgePage writes the tables of clients into docs/judge.md, from the file JUDGE_FROM that
// TestJudgeTable has written.
func TestJudgePage(t *testing.T) {
	from := os.Getenv("JUDGE_FROM")
	if from == "" {
		t.Skip("set JUDGE_FROM to the file of TestJudgeTable")
	}
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	judgments := make(map[string]judgment) // the last one of each client and case
	for line := range strings.Lines(string(text)) {
		var o judgment
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		judgments[o.Client+" "+o.Case] = o
	}
	data, err := os.ReadFile(judgePage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, table := range judgeTables {
		before, rest, ok := strings.Cut(page, table.begin)
		_, after, ok2 := strings.Cut(rest, table.end)
		if !ok || !ok2 {
			t.Fatal("docs/judge.md has no place for a table")
		}
		if rows := tableOf(judgments, table.columns, table.reports); rows != "" {
			page = before + table.begin + rows + "\n" + table.end + after
		}
	}
	if err := os.WriteFile(judgePage, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tableOf returns a table of clients, "" without judgments about its cases.
func tableOf(judgments map[string]judgment, columns []column, reports bool) string {
	counts := make(map[string]map[string]int) // by client and column, then by verdict
	var clients []string
	for _, o := range judgments {
		for _, c := range columns {
			if strings.HasPrefix(o.Case, "reports/") != reports || !slices.Contains(strings.Fields(c.groups), o.Group) || o.Plain && (reports || o.Verdict == "gave up") {
				continue
			}
			key := o.Client + " in " + c.title
			if counts[key] == nil {
				counts[key] = make(map[string]int)
			}
			counts[key][o.Verdict]++
			if !slices.Contains(clients, o.Client) {
				clients = append(clients, o.Client)
			}
		}
	}
	if clients == nil {
		return ""
	}
	slices.Sort(clients)
	table := "\n| client |"
	for _, c := range columns {
		table += " " + c.title + " |"
	}
	table += "\n| --- |" + strings.Repeat(" --- |", len(columns)) + "\n"
	for _, client := range clients {
		table += "| " + client + " |"
		for _, c := range columns {
			if n := counts[client+" in "+c.title]; n != nil {
				table += fmt.Sprintf(" %d/%d/%d/%d", n["lied"], n["crashed"], n["hung"], n["gave up"])
				if reports {
					table += fmt.Sprintf(" of %d", n["lied"]+n["crashed"]+n["hung"]+n["gave up"]+n["right"])
				}
			}
			table += " |"
		}
		table += "\n"
	}
	return table
}
