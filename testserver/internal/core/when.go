package core

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// when are the conditions of a rule. The zero value always holds.
type when struct {
	conn, from   int
	after, until string // keys of stages
	match        string // a pattern of arguments
}

// add adds a fault if it is a condition.
func (w *when) add(t *Table, f Spec) (isCondition bool, err error) {
	switch f.Kind {
	case Connection:
		w.conn = int(f.N)
	case From:
		w.from = int(f.N)
	case After:
		w.after = stageKey(f.Text)
		return true, t.checkStage(w.after)
	case Until:
		w.until = stageKey(f.Text)
		return true, t.checkStage(w.until)
	case Matching:
		w.match = f.Text
	default:
		return false, nil
	}
	return true, nil
}

// errNoFault says that conditions without a fault do nothing.
var errNoFault = errors.New("there are conditions only, and no fault")

// holds reports whether the rule counts what happens on a connection at stages.
func (w *when) holds(at *place, stages []string) bool {
	return (w.conn == 0 || w.conn == at.conn) && (w.after == "" || at.seen[w.after]) && (w.until == "" || !at.seen[w.until]) &&
		(w.match == "" || slices.ContainsFunc(stages, w.matches))
}

// matches reports whether a stage has an argument that matches the pattern.
func (w *when) matches(stage string) bool {
	_, arg, ok := strings.Cut(stage, " ")
	matched, _ := path.Match(w.match, arg)
	return ok && matched
}

// note keeps that a connection has reached one of the stages that the rule asks for.
func (w *when) note(at *place, stage string) {
	if stage != w.after && stage != w.until {
		return
	}
	if at.seen == nil {
		at.seen = make(map[string]bool)
	}
	at.seen[stage] = true
}

// place is where an event happens: the number of the connection, and which stages that conditions
// ask for it has reached. It is guarded by the mutex of the faults.
type place struct {
	conn int
	seen map[string]bool
}
