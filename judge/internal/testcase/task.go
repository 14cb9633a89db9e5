package testcase

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
