// Package scene has what the cases of all protocols are made of: places and faults, and the stage
// on which a case runs. Its names are for the packages beside it; package judge has the
// documentation.
package scene

// A Task is what a client is asked to do; judge.Task documents it.
type Task string

// The tasks.
const (
	Download Task = "download"
	Resume   Task = "resume"
	List     Task = "list"
	Upload   Task = "upload"
	Tree     Task = "tree"
	Deploy   Task = "deploy"
	Save     Task = "save"
	Decode   Task = "decode"
	Show     Task = "show"
	Mail     Task = "mail"
	Extract  Task = "extract"
	Unpack   Task = "unpack"
	Verify   Task = "verify"
)

// Tasks returns the tasks of the cases that are constructed. The others are those of reports only.
func Tasks() []Task { return []Task{Download, Resume, List, Upload, Tree, Deploy} }

// Case is one server that misbehaves, and a task; judge.Case documents the fields.
type Case struct {
	Name, Scheme         string
	Task                 Task
	Does, Source, Should string
	Gets, Waits          bool
	Decided, Avoided     string

	Plain bool // an ordinary server, which shows whether the client can do this at all
	set   func(*Stage)
}

// With returns the case with what sets it up.
func (c Case) With(set func(*Stage)) Case {
	c.set = set
	return c
}
