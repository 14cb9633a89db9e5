package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/internal/codec/z3950"
)

// waisMessages returns the messages of one side of a conversation that was recorded from freeWAIS.
func waisMessages(t *testing.T, name string) (list [][]byte) {
	t.Helper()
	octets, err := os.ReadFile("../../internal/codec/z3950/testdata/traces/" + name + ".bin")
	if err != nil {
		t.Fatal(err)
	}
	for r := bytes.NewReader(octets); r.Len() > 0; {
		_, m, err := z3950.ReadMessage(r, nil, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

// decode returns the message of a type that is in an answer.
func decode[P z3950.PDU](t *testing.T, message []byte) P {
	t.Helper()
	pdu, err := z3950.Decode(message[z3950.HeaderSize:])
	p, ok := pdu.(P)
	if err != nil || !ok {
		t.Fatalf("%T, %v", pdu, err)
	}
	return p
}

// headers returns what a client sees of an answer.
func headers(r *z3950.SearchResponse) (all []string) {
	for h := range r.Documents() {
		all = append(all, fmt.Sprintf("%q %q %v %v %v %q", h.ID, h.Types, h.Score, h.Length, h.Lines, strings.TrimLeft(h.Headline, " ")))
	}
	return all
}

// The answers of a real server come back to our client as they were, and a real client, whose
// request was recorded, gets the same documents.
func TestReplayFreeWAIS(t *testing.T) {
	for _, name := range []string{"lynx-search", "search-hits", "search-html", "search-latin1", "search-long-docid", "search-multitype", "search-nohits"} {
		t.Run(name, func(t *testing.T) {
			asked := waisMessages(t, name+".c2s")
			i := slices.IndexFunc(asked, func(m []byte) bool { return strings.Contains(z3950.Summary(m), " for ") })
			request, answer := asked[i], waisMessages(t, name+".s2c")[i]
			search := decode[*z3950.Search](t, request)
			none, err := z3950.AppendMessage(nil, z3950.NewHeader(), &z3950.Other{})
			if err != nil {
				t.Fatal(err)
			}
			none = append([]byte("0000000000"), none[10:z3950.HeaderSize]...)
			p := newPast(t, nil)
			p.live.Env.Dial = func(context.Context, string, string) (net.Conn, error) {
				client, server := net.Pipe()
				go func() {
					defer server.Close()
					for {
						_, m, err := z3950.ReadMessage(server, nil, 1<<20)
						if err != nil {
							return
						}
						if !strings.HasPrefix(z3950.Summary(m), "Search") {
							server.Write(none) // to Init
							continue
						}
						server.Write(answer)
					}
				}()
				return client, nil
			}
			before := p.record("wais://wais.example.org/" + search.DatabaseNames + "?" + url.PathEscape(search.Words.Seed))
			p.begin()
			p.same(before)

			served, err := p.replay.Serve(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			conn, err := net.Dial("tcp", strings.TrimPrefix(served[0].URL, "wais://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := conn.Write(request); err != nil {
				t.Fatal(err)
			}
			_, m, err := z3950.ReadMessage(conn, nil, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			got, want := headers(decode[*z3950.SearchResponse](t, m)), headers(decode[*z3950.SearchResponse](t, answer))
			if name == "search-nohits" { // of the catalogue the archive has the URL only
				got, want = []string{fmt.Sprint(len(got))}, []string{fmt.Sprint(len(want))}
			}
			if !slices.Equal(got, want) {
				t.Errorf("the client gets\n%s\nthe server has sent\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}
