package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/testserver"
)

// armAll arms the faults of the start.
func (s *server) armAll() error {
	for i, r := range s.rules {
		if err := s.arm(fmt.Sprintf("faults.%d.", i), r); err != nil {
			return err
		}
	}
	return nil
}

// arm arms the faults of one rule. prefix is that of its fields.
func (s *server) arm(prefix string, r rule) error {
	switch {
	case r.Stage == "":
		return bad(prefix+"stage", "a stage is missing; the stages are %s", strings.Join(s.common.Stages(), ", "))
	case r.N < 0:
		return bad(prefix+"n", "an occurrence is at least 1; 0 means each")
	case len(r.Faults) == 0:
		return bad(prefix+"faults", "a rule has at least one fault")
	}
	faults := make([]testserver.Fault, len(r.Faults))
	for i, f := range r.Faults {
		faults[i] = f
	}
	if err := s.common.Arm(r.Stage, r.N, faults...); err != nil {
		return bad(prefix+"faults", "%s", strings.TrimPrefix(err.Error(), "testserver: "))
	}
	return nil
}

// pending returns the faults that have not acted.
func (s *server) pending() []string {
	list := []string{}
	if err := s.common.PendingFaults(); err != nil {
		for line := range strings.Lines(err.Error()) {
			list = append(list, strings.TrimPrefix(strings.TrimSpace(line), "testserver: "+s.common.URL+": "))
		}
	}
	return list
}

func listFaults(s *server, w http.ResponseWriter, _ *http.Request) error {
	return answer(w, http.StatusOK, map[string]any{"pending": s.pending()})
}

func armFaults(s *server, w http.ResponseWriter, r *http.Request) error {
	var one rule
	held, err := s.api.read(w, r, &one)
	if err != nil {
		return err
	}
	defer held.free()
	s.changes.Lock()
	defer s.changes.Unlock()
	if err := s.arm("", one); err != nil {
		return err
	}
	return done(w)
}

func clearFaults(s *server, w http.ResponseWriter, _ *http.Request) error {
	s.changes.Lock()
	defer s.changes.Unlock()
	s.common.ResetFaults()
	return done(w)
}

// lineInfo is a line of a transcript as clients see it.
type lineInfo struct {
	N      int    `json:"n"`
	Conn   int    `json:"conn"`
	From   string `json:"from"`
	Text   string `json:"text"`
	Octets []byte `json:"octets"`
}

// lines returns the transcript from a line on, and the number of the next one.
func (s *server) lines(since int) ([]lineInfo, int) {
	t, first := s.common.TranscriptFrom(since)
	list := make([]lineInfo, len(t))
	for i, l := range t {
		from := "server"
		if l.From == testserver.FromClient {
			from = "client"
		}
		list[i] = lineInfo{first + i, l.Conn, from, strings.ToValidUTF8(l.Text, "\ufffd"), []byte(l.Octets)}
	}
	return list, first + len(t)
}

func transcript(s *server, w http.ResponseWriter, r *http.Request) error {
	since := 0
	text := r.URL.Query().Get("since")
	if last := r.Header.Get("Last-Event-ID"); last != "" && text == "" { // an EventSource that connects again
		if n, err := strconv.Atoi(last); err == nil {
			text = strconv.Itoa(n + 1)
		}
	}
	if text != "" {
		var err error
		if since, err = strconv.Atoi(text); err != nil || since < 0 {
			return bad("since", "%q is not the number of a line", text)
		}
	}
	switch accept := r.Header.Get("Accept"); {
	case strings.HasPrefix(accept, "text/event-stream"):
		return watch(s, w, r, since)
	case strings.HasPrefix(accept, "text/plain"):
		t, _ := s.common.TranscriptFrom(since)
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, err := w.Write([]byte(t.String()))
		return ignoreClient(err)
	}
	lines, next := s.lines(since)
	return answer(w, http.StatusOK, map[string]any{"lines": lines, "next": next})
}

// keepAlive is how often a line that means nothing is sent, so that a client that has gone is noticed.
const keepAlive = 15 * time.Second

// watch sends lines as they are recorded, as events, until the client leaves or the server ends.
func watch(s *server, w http.ResponseWriter, r *http.Request, since int) error {
	if s.api.watches.Add(1) > maxWatches {
		s.api.watches.Add(-1)
		return problem{Status: http.StatusTooManyRequests, Detail: fmt.Sprintf("%d transcripts are watched, which is the limit", maxWatches)}
	}
	defer s.api.watches.Add(-1)
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for ended := false; ; {
		news := s.await()
		lines, next := s.lines(since)
		since = next
		for _, l := range lines {
			data, err := json.Marshal(l)
			if err == nil {
				_, err = fmt.Fprintf(w, "id: %d\ndata: %s\n\n", l.N, data)
			}
			if err != nil {
				return ignoreClient(err)
			}
		}
		if err := control.Flush(); err != nil || ended {
			return ignoreClient(err)
		}
		select {
		case <-news:
		case <-alive.C:
			_, _ = w.Write([]byte(":\n\n"))
		case <-s.ending:
			ended = true
		case <-r.Context().Done():
			return nil
		}
	}
}

// note is called with each line of the transcript. It must not call methods of the server.
func (s *server) note(l testserver.Line) {
	if log := s.api.Log; log != nil {
		log(s.id, l)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.news != nil {
		close(s.news)
		s.news = nil
	}
}

// await returns a channel that is closed when there is another line.
func (s *server) await() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.news == nil {
		s.news = make(chan struct{})
	}
	return s.news
}

// textOf returns a text for JSON, or "" if it is not UTF-8.
func textOf(octets string) string {
	if !utf8.ValidString(octets) {
		return ""
	}
	return octets
}

func listArticles(s *server, w http.ResponseWriter, _ *http.Request) error {
	type article struct {
		Text   string `json:"text,omitempty"`
		Octets []byte `json:"octets"`
	}
	if s.posted == nil {
		return problem{Status: http.StatusNotFound, Detail: "a server of " + s.protocol + " has no articles"}
	}
	list := []article{}
	for _, text := range s.posted() {
		list = append(list, article{textOf(text), []byte(text)})
	}
	return answer(w, http.StatusOK, map[string]any{"articles": list})
}

func listMails(s *server, w http.ResponseWriter, _ *http.Request) error {
	type mail struct {
		From   string   `json:"from"`
		To     []string `json:"to"`
		Text   string   `json:"text,omitempty"`
		Octets []byte   `json:"octets"`
		TLS    bool     `json:"tls"`
	}
	if s.mail == nil {
		return problem{Status: http.StatusNotFound, Detail: "a server of " + s.protocol + " has no mails"}
	}
	list := []mail{}
	for _, m := range s.mail() {
		list = append(list, mail{m.From, m.To, textOf(m.Data), []byte(m.Data), m.TLS})
	}
	return answer(w, http.StatusOK, map[string]any{"mails": list})
}
