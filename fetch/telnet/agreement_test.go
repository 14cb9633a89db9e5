package telnet

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestQMethod is the table of RFC 1143 §7.
func TestQMethod(t *testing.T) {
	for _, tt := range []struct {
		before     agreement
		event      string
		acceptable bool
		after      agreement
		answer     answer
	}{
		{off, "will", true, on, yes}, {off, "will", false, off, no}, {off, "wont", true, off, nothing},
		{on, "will", true, on, nothing}, {on, "wont", true, off, no},
		{wantOff, "will", true, off, nothing}, {wantOff, "wont", true, off, nothing},
		{wantOffThenOn, "will", true, on, nothing}, {wantOffThenOn, "wont", true, wantOn, yes},
		{wantOn, "will", true, on, nothing}, {wantOn, "wont", true, off, nothing},
		{wantOnThenOff, "will", true, wantOff, no}, {wantOnThenOff, "wont", true, off, nothing},

		{off, "enable", true, wantOn, yes}, {off, "disable", true, off, nothing},
		{on, "enable", true, on, nothing}, {on, "disable", true, wantOff, no},
		{wantOff, "enable", true, wantOffThenOn, nothing}, {wantOff, "disable", true, wantOff, nothing},
		{wantOffThenOn, "enable", true, wantOffThenOn, nothing}, {wantOffThenOn, "disable", true, wantOff, nothing},
		{wantOn, "enable", true, wantOn, nothing}, {wantOn, "disable", true, wantOnThenOff, nothing},
		{wantOnThenOff, "enable", true, wantOn, nothing}, {wantOnThenOff, "disable", true, wantOnThenOff, nothing},
	} {
		t.Run(fmt.Sprint(tt.before, tt.event, tt.acceptable), func(t *testing.T) {
			a := tt.before
			var got answer
			switch tt.event {
			case "will", "wont":
				got = a.received(tt.event == "will", tt.acceptable)
			default:
				got = a.request(tt.event == "enable")
			}
			if a != tt.after || got != tt.answer {
				t.Errorf("state %d, answer %d; want %d, %d", a, got, tt.after, tt.answer)
			}
		})
	}
}

// TestQMethodEnds checks that two peers that follow the Q method always end with the same state, no
// matter what they request and how often they change it.
func TestQMethodEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(1143, 0))
	for range 20000 {
		var us, them agreement
		var toUs, toThem []bool
		say := func(queue *[]bool, a answer) {
			if a != nothing {
				*queue = append(*queue, a == yes)
			}
		}
		willing := [2]bool{r.IntN(2) == 0, r.IntN(2) == 0}
		messages := 0
		for wishes := r.IntN(8); wishes > 0 || len(toUs)+len(toThem) > 0; messages++ {
			switch n := r.IntN(4); {
			case n == 0 && wishes > 0:
				wishes--
				say(&toThem, us.request(willing[0] && r.IntN(2) == 0))
			case n == 1 && wishes > 0:
				wishes--
				say(&toUs, them.request(willing[1] && r.IntN(2) == 0))
			case n == 2 && len(toUs) > 0:
				say(&toThem, us.received(toUs[0], willing[0]))
				toUs = toUs[1:]
			case n == 3 && len(toThem) > 0:
				say(&toUs, them.received(toThem[0], willing[1]))
				toThem = toThem[1:]
			}
			if messages > 1000 {
				t.Fatal("they go on and on")
			}
		}
		if us != them || us != on && us != off {
			t.Fatalf("one peer ends in state %d, the other in %d; want the same", us, them)
		}
	}
}
