package testcase

// failure is an error of setting up a case.
type failure struct{ error }

// Check ends setting up a case if there is an error: it panics, and Begin returns the error. So the
// functions that set cases up, which are many, return none.
func Check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// checked calls a function and returns the error with which Check has ended it.
func checked(setUp func()) (err error) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case failure:
			err = cause.error
		default:
			panic(cause)
		}
	}()
	setUp()
	return nil
}
