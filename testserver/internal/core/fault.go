package core

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is a way in which a server can misbehave. Its name is that of the constructor of its faults.
type Kind struct {
	Name string
	// Params are the arguments of the constructor, in order: "n", "d", "field", "text", "seed".
	Params string
	// Check returns what is wrong with the arguments. It may be nil.
	Check func(Args) error
}

// Args are the arguments of a fault. Its Kind tells which ones it has.
type Args struct {
	N     int64
	D     time.Duration
	Field string
	Text  string
	Seed  uint64
}

// Spec says what a fault does: its Kind with the arguments. It is a value.
type Spec struct {
	Kind *Kind
	Args
}

// With returns the Spec with these arguments.
func (k *Kind) With(a Args) Spec { return Spec{k, a} }

// Armed returns f. It is the method that all types of faults have.
func (f Spec) Armed() Spec { return f }

// String returns the call of the constructor.
func (f Spec) String() string {
	var args []string
	for param := range strings.FieldsSeq(f.Kind.Params) {
		switch param {
		case "n":
			args = append(args, strconv.FormatInt(f.N, 10))
		case "d":
			args = append(args, f.D.String())
		case "field":
			args = append(args, shorten(f.Field))
		case "text":
			args = append(args, shorten(f.Text))
		case "seed":
			args = append(args, strconv.FormatUint(f.Seed, 10))
		}
	}
	return f.Kind.Name + "(" + strings.Join(args, ", ") + ")"
}

// shorten quotes s, or its beginning and its length if it is long.
func shorten(s string) string {
	if len(s) > 60 {
		return fmt.Sprintf("%.60q…(%d bytes)", s, len(s))
	}
	return fmt.Sprintf("%q", s)
}

// lacks returns an error if there is an argument that the constructor does not have.
func (k *Kind) lacks(a Args) error {
	for param := range strings.FieldsSeq(k.Params) {
		switch param {
		case "n":
			a.N = 0
		case "d":
			a.D = 0
		case "field":
			a.Field = ""
		case "text":
			a.Text = ""
		case "seed":
			a.Seed = 0
		}
	}
	if a != (Args{}) {
		return fmt.Errorf("its arguments are %q", k.Params)
	}
	return nil
}

// parse reads the arguments from a text in which commas separate them. The last one may contain
// commas.
func (k *Kind) parse(text string) (a Args, err error) {
	params := strings.Fields(k.Params)
	values := strings.SplitN(text, ",", max(1, len(params)))
	if len(params) != len(values) && !(len(params) == 0 && text == "") {
		return a, fmt.Errorf("%s has the arguments %q", k.Name, k.Params)
	}
	for i, param := range params {
		switch param {
		case "n":
			a.N, err = strconv.ParseInt(values[i], 10, 64)
		case "d":
			a.D, err = time.ParseDuration(values[i])
		case "field":
			a.Field = values[i]
		case "text":
			a.Text = values[i]
		case "seed":
			a.Seed, err = strconv.ParseUint(values[i], 10, 64)
		}
		if err != nil {
			return a, fmt.Errorf("%s: %w", k.Name, err)
		}
	}
	return a, nil
}

// The kinds that more than one server has.
var (
	Delay       = &Kind{Name: "Delay", Params: "d"}
	Gather      = &Kind{Name: "Gather", Params: "n", Check: positive}
	Reply       = &Kind{Name: "Reply", Params: "text"}
	ExtraReply  = &Kind{Name: "ExtraReply", Params: "text"}
	Octets      = &Kind{Name: "Octets", Params: "text"}
	Hangup      = &Kind{Name: "Hangup"}
	Silence     = &Kind{Name: "Silence"}
	Close       = &Kind{Name: "Close"}
	EndlessLine = &Kind{Name: "EndlessLine"}
	Truncate    = &Kind{Name: "Truncate", Params: "n", Check: NotNegative}
	Reset       = &Kind{Name: "Reset", Params: "n", Check: NotNegative}
	Drip        = &Kind{Name: "Drip", Params: "n d", Check: positive}
	Split       = &Kind{Name: "Split", Params: "n", Check: positive}
	Garble      = &Kind{Name: "Garble", Params: "n text", Check: NotNegative}
	Data        = &Kind{Name: "Data", Params: "text"}
	FromStart   = &Kind{Name: "FromStart"}
	NoDot       = &Kind{Name: "NoDot"}
	LoneDot     = &Kind{Name: "LoneDot"}
	NoStuffing  = &Kind{Name: "NoStuffing"}
	BareLF      = &Kind{Name: "BareLF"}
)

// Conditions of a rule. They are armed with its faults, and say when these act.
var (
	Connection = &Kind{Name: "Connection", Params: "n", Check: positive}
	From       = &Kind{Name: "From", Params: "n", Check: positive}
	After      = &Kind{Name: "After", Params: "text"}
	Until      = &Kind{Name: "Until", Params: "text"}
	Matching   = &Kind{Name: "Matching", Params: "text", Check: func(a Args) error {
		_, err := path.Match(a.Text, "")
		return err
	}}
)

// positive checks the number of a fault that must be at least 1.
func positive(a Args) error {
	if a.N < 1 {
		return errors.New("the number must be at least 1")
	}
	return nil
}

// NotNegative checks the number of a fault.
func NotNegative(a Args) error {
	if a.N < 0 {
		return errors.New("the number must not be negative")
	}
	return nil
}

// Table says which faults a server has, and where each can act. There is one table a server.
type Table struct {
	Server string // for messages, as in "FTP"
	Stages []Stage
	Rows   []Row
}

// Stage is a point of the protocol at which faults can be armed.
type Stage struct {
	Name string // "*" means any command that is not in the table
	Arg  bool   // it can be armed for one argument, as in "RETR motd.txt"
}

// Row is a kind of fault that a server has.
type Row struct {
	*Kind
	At  []string // the only stages where it can act; nil means all but Not
	Not []string
}

// StreamRows returns rows for the faults that every server of connections has at all stages.
func StreamRows() []Row {
	return Rows(nil, Delay, Gather, Reply, Silence, Close, EndlessLine, Truncate, Reset, Drip, Split, Garble, Connection, From, After, Until, Matching)
}

// Rows returns rows for kinds that can act at all stages but those of not.
func Rows(not []string, kinds ...*Kind) []Row {
	rows := make([]Row, len(kinds))
	for i, k := range kinds {
		rows[i] = Row{Kind: k, Not: not}
	}
	return rows
}

// Only returns rows for kinds that can act only at stages.
func Only(stages []string, kinds ...*Kind) []Row {
	rows := Rows(nil, kinds...)
	for i := range rows {
		rows[i].At = stages
	}
	return rows
}

// But returns the rows with stages at which some kinds cannot act.
func But(rows []Row, stages []string, kinds ...*Kind) []Row {
	for i, r := range rows {
		if slices.Contains(kinds, r.Kind) {
			rows[i].Not = slices.Concat(r.Not, stages)
		}
	}
	return rows
}

// actsAt reports whether the fault can act at a stage.
func (r Row) actsAt(verb string) bool {
	return (r.At == nil || slices.Contains(r.At, verb)) && !slices.Contains(r.Not, verb)
}

// row returns the row of a kind by its name, in any letter case.
func (t *Table) row(name string) (Row, error) {
	i := slices.IndexFunc(t.Rows, func(r Row) bool { return strings.EqualFold(r.Name, name) })
	if i < 0 {
		var have []string
		for _, r := range t.Rows {
			have = append(have, r.Name)
		}
		return Row{}, fmt.Errorf("the %s server has no fault %s; it has %s", t.Server, name, strings.Join(have, ", "))
	}
	return t.Rows[i], nil
}

// Parse reads a fault in the form of scripts: "Silence", "Truncate:2", "Drip:1,10ms".
func (t *Table) Parse(text string) (Spec, error) {
	name, args, _ := strings.Cut(text, ":")
	row, err := t.row(name)
	if err != nil {
		return Spec{}, err
	}
	a, err := row.parse(args)
	return row.With(a), err
}

// check returns why a fault cannot act at a stage, or the fault with the kind of the table.
func (t *Table) check(stage string, f Spec) (Spec, error) {
	row, err := t.row(f.Kind.Name)
	if err != nil {
		return f, err
	}
	f.Kind = row.Kind
	if err = row.lacks(f.Args); err == nil && row.Check != nil {
		err = row.Check(f.Args)
	}
	verb, _, _ := strings.Cut(stage, " ")
	switch {
	case err != nil:
		return f, fmt.Errorf("%v: %w", f, err)
	case f.D < 0:
		return f, fmt.Errorf("%v: the duration must not be negative", f)
	case !row.actsAt(verb) && row.At != nil:
		return f, fmt.Errorf("%s cannot act at %s of the %s server, only at %s", row.Name, verb, t.Server, strings.Join(row.At, ", "))
	case !row.actsAt(verb):
		return f, fmt.Errorf("%s cannot act at %s of the %s server", row.Name, verb, t.Server)
	}
	return f, nil
}

// checkStage returns an error for a stage that the server never reaches.
func (t *Table) checkStage(stage string) error {
	verb, arg, hasArg := strings.Cut(stage, " ")
	var have []string
	for _, s := range t.Stages {
		switch {
		case s.Name != verb && s.Name != "*":
			have = append(have, s.Name)
		case verb == "" || hasArg && !s.Arg:
			return fmt.Errorf("the stage %s of the %s server has no argument %q", verb, t.Server, arg)
		default:
			return nil
		}
	}
	return fmt.Errorf("the %s server has no stage %s; it has %s", t.Server, verb, strings.Join(have, ", "))
}

// stageKey folds the letter case of the command but not that of its argument.
func stageKey(stage string) string {
	verb, arg, ok := strings.Cut(stage, " ")
	if !ok {
		return strings.ToUpper(verb)
	}
	return strings.ToUpper(verb) + " " + arg
}
