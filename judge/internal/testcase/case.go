// Package testcase has what the cases of all protocols are made of: places, behaviors, and a case
// that runs with its servers. Its names are for the packages beside it; package judge has the
// documentation.
package testcase

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Case is one server that misbehaves, and a task; judge.Case documents the fields.
type Case struct {
	Name, Scheme         string
	Task                 Task
	Does, Source, Should string
	Gets, Waits          bool
	Decided, Avoided     string

	Plain bool // an ordinary server, which shows whether the client can do this at all
	set   func(*Run)
}

// With returns the case with what sets it up.
func (c Case) With(set func(*Run)) Case {
	c.set = set
	return c
}

// Begin makes the folder of a case and starts its servers. The caller ends the run also after an
// error.
func Begin(ctx context.Context, c Case, below string) (*Run, error) {
	r := newRun(ctx, c.Scheme, c.Task)
	return r, checked(func() { r.begin(below, c.set) })
}

// Expected returns the sentence about what a careful client does.
func (c Case) Expected() string {
	switch {
	case c.Waits && !c.Gets:
		return "It ends with an error, at the latest after a limit of its own."
	case !c.Gets && c.Task == List, !c.Gets && c.Task == Tree:
		return "It ends with an error, or with all of the names and files."
	case !c.Gets && c.Task == Upload:
		return "It ends with an error, unless the server has the whole document."
	case !c.Gets && c.Task == Deploy:
		return "It ends with an error, unless the server has the whole tree."
	case !c.Gets && c.Task == Verify:
		return "It ends with an error."
	case !c.Gets:
		return "It ends with an error, or with the whole document."
	case c.Task == List:
		return "It lists the names."
	case c.Task == Upload:
		return "It stores the document."
	case c.Task == Tree:
		return "It fetches the tree."
	case c.Task == Deploy:
		return "It brings the tree to the server, and leaves other files alone."
	}
	if text := expected()[c.Task]; text != "" {
		return text
	}
	return "It fetches the document."
}

// expected returns what a careful client does in the tasks of reports only.
func expected() map[Task]string {
	return map[Task]string{
		Show: "It shows the directory.", Extract: "It finds the URLs.", Mail: "It sends the message.",
		Verify: "It finds no fault.", Unpack: "It gets the document.", Save: "It saves the document.",
	}
}

// Named is a case that is not constructed.
type Named struct {
	Name, Does, Source string
	Should             string // "" means what cases of its kind have
	Gets, Waits        bool
	Set                func(*Run)
}

// Cases returns the cases of rows.
func Cases(scheme string, task Task, rows []Named) (all []Case) {
	for _, n := range rows {
		c := Case{
			Name: fmt.Sprintf("%s/%s/%s", scheme, task, n.Name), Scheme: scheme, Task: task,
			Does: n.Does, Source: n.Source, Should: n.Should, Gets: n.Gets, Waits: n.Waits, set: n.Set,
		}
		if c.Should == "" {
			c.Should = c.Expected()
		}
		all = append(all, c)
	}
	return all
}

// SourceOf returns the source of a case with a personality, of its name and source.
func SourceOf(name, source string) string {
	if source == "its test" {
		return "The personality " + name + " of the test servers."
	}
	return strings.TrimPrefix(source, "its test; ") + "."
}

// PlainCase is the case of an ordinary server.
func PlainCase(scheme string, task Task, set func(*Run)) Case {
	c := Cases(scheme, task, []Named{{Name: "plain", Does: "The server does nothing unusual.", Source: "The standard of the protocol.", Gets: true, Set: set}})[0]
	c.Plain = true
	return c
}

// Sorted sorts cases that come from a map.
func Sorted(all []Named) []Named {
	slices.SortStableFunc(all, func(a, b Named) int { return strings.Compare(a.Name, b.Name) })
	return all
}
